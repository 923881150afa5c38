// The neighbours of a clicked point, joined to it by lines: in the data and in the map, only in the
// data (lost), only in the map.

const NEAREST = 10; // if the file has no neighbours in the data
const NOT_SHOWN = 0xffffffff;

function neighboursOf(data) {
  return typeof data.neighbors === "function" ? data.neighbors() : null;
}

// The k points nearest to a point in a map.

function nearestPoints({ x, y }, point, k) {
  const found = []; // pairs of a square distance and a point, the nearest first
  for (let i = 0, most = Infinity; i < x.length; i++) {
    const square = (x[i] - x[point]) ** 2 + (y[i] - y[point]) ** 2;
    if (square >= most || i === point) continue;
    let place = found.length;
    while (place > 0 && found[place - 1][0] > square) place--;
    found.splice(place, 0, [square, i]);
    if (found.length > k) found.pop();
    if (found.length === k) most = found[k - 1][0];
  }
  return found.map(([, i]) => i);
}

// Neighbours that the page does not show are neither kept nor lost.

function linksOf(data, map, point) {
  const known = neighboursOf(data);
  const k = known?.k ?? NEAREST;
  const near = nearestPoints(data.positions(map), point, k);
  const own = known === null ? [] : Array.from(known.rows.subarray(point * k, (point + 1) * k)).filter((each) => each !== NOT_SHOWN);
  return {
    point,
    isKnown: known !== null,
    kept: own.filter((each) => near.includes(each)),
    lost: own.filter((each) => !near.includes(each)),
    near: near.filter((each) => !own.includes(each)),
  };
}

function linkWords(data, map, { point, isKnown, kept, lost, near }) {
  if (!isKnown) return `Lines lead to the ${counted(near.length, "nearest point")} of the map.`;
  const all = kept.length + lost.length;
  const shown = all < neighboursOf(data).k ? " that this page shows" : "";
  const trust = data.diagnostic(map, "trust", point);
  const words = [`${kept.length} of ${counted(all, "neighbour")}${shown} kept`];
  if (lost.length > 0) words.push(`${lost.length} lost (dashed)`);
  if (near.length > 0) words.push(`${near.length} only in the map (grey)`);
  if (trust !== null) words.push(`trust ${trust.toFixed(2)}`);
  return `${words.join(" · ")}.`;
}

function linkStyles({ dark }) {
  return {
    near: { color: dark ? "#9aa3ae" : "#6b7280", width: 1, dash: [] },
    kept: { color: inks({ dark }).ink, width: 2, dash: [] },
    lost: { color: dark ? "#ffa37a" : "#c43c00", width: 2, dash: [5, 4] },
  };
}

// Lines to points that are hidden are not drawn.

function linkLines(frame) {
  if (frame.links === null) return [];
  const from = pointPlace(frame, frame.links.point);
  return Object.entries(linkStyles(frame.look)).flatMap(([kind, style]) => frame.links[kind]
    .filter((point) => frame.points.group[point] > 0)
    .map((point) => ({ from, to: pointPlace(frame, point), isLost: kind === "lost", ...style })));
}

function drawLinks(context, frame) {
  for (const { from, to, color, width, dash, isLost } of linkLines(frame)) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
    context.setLineDash([]);
    if (!isLost) continue;
    context.beginPath();
    context.arc(...to, 5, 0, 2 * Math.PI);
    context.stroke();
  }
}

function svgLinks(frame) {
  const at = ([x, y], names) => `${names[0]}="${x.toFixed(2)}" ${names[1]}="${y.toFixed(2)}"`;
  return linkLines(frame).flatMap(({ from, to, color, width, dash, isLost }) => [
    `<line ${at(from, ["x1", "y1"])} ${at(to, ["x2", "y2"])} stroke="${color}" stroke-width="${width}"${isLost ? ` stroke-dasharray="${dash.join(" ")}"` : ""}/>`,
    ...(isLost ? [`<circle ${at(to, ["cx", "cy"])} r="5" fill="none" stroke="${color}" stroke-width="${width}"/>`] : []),
  ]);
}

function connectNeighbours(data, state, panels) {
  state.watch(["pinned", "panels", "focus"], (values) => {
    const { pinned, shown } = values;
    const links = values.panels.map(({ map }) => (pinned === null ? null : linksOf(data, map, pinned)));
    panels.forEach((panel, place) => panel.link(links[place]));
    const words = pinned === null ? "" : linkWords(data, focused(values).map, links[values.focus]);
    byId("point-links").textContent = shown?.[pinned] === 0 ? `This point is hidden. ${words}` : words;
  });
}
