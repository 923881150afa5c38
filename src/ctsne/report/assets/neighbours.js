// The neighbours of a clicked point, joined to it by lines: in the data and in the map, only in the
// data (lost), only in the map.

const NEAREST = 10; // if the file has no neighbours in the data
const NOT_SHOWN = 0xffffffff;

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
  const known = data.neighbors();
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
  const shown = all < data.neighbors().k ? " that this page shows" : "";
  const trust = data.diagnostic(map, "trust", point);
  const words = [`${kept.length} of ${counted(all, "neighbour")}${shown} kept`];
  if (lost.length > 0) words.push(`${lost.length} lost (dashed)`);
  if (near.length > 0) words.push(`${near.length} only in the map (grey)`);
  if (trust !== null) words.push(`trust ${trust.toFixed(2)}`);
  return `${words.join(" · ")}.`;
}

// Lines to points that are hidden are not drawn.

function linkMarks(frame) {
  if (frame.links === null) return [];
  const { dark } = frame.look;
  const { ink, paper } = inks(frame.look);
  const styles = {
    near: { color: dark ? "#9aa3ae" : "#6b7280" },
    kept: { color: ink, width: 2 },
    lost: { color: dark ? "#ffa37a" : "#c43c00", width: 2 },
  };
  const from = pointPlace(frame, frame.links.point);
  return Object.entries(styles).flatMap(([kind, style]) => frame.links[kind].filter((point) => frame.points.group[point] > 0).flatMap((point) => {
    const to = pointPlace(frame, point);
    const halo = { line: [from, to], color: paper, width: 4 };
    if (kind !== "lost") return [halo, { line: [from, to], ...style }];
    return [halo, { line: [from, to], dash: [5, 4], ...style }, { ring: to, radius: 5, ...style }];
  }));
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
