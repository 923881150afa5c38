// Facts about a point, next to the pointer and beside the maps, and points dominated by a neighbour.

// Pairs of a name and a function that reads its text, because unpacking many columns at once would
// delay the first hover.

function factsOf(data, point, map, isWanted = () => true) {
  const { facts } = data;
  const pairs = facts.names === null ? [] : [["name", () => facts.names[point]]];
  pairs.push([rowName(facts), () => String(data.rows[point])]);
  const add = (isGene) => facts.columns.forEach(({ name, group, all }, column) => {
    if ((group === "gene") === isGene && (group !== "kept" || all > 0) && isWanted(column)) pairs.push([name, () => data.labelOf(column, point)]);
  });
  add(false);
  for (const { key, name, digits } of facts.diagnostics) {
    const value = data.diagnostic(map, key, point);
    if (value !== null) pairs.push([name, () => value.toFixed(digits)]);
  }
  add(true);
  return pairs;
}

// The rows of a sample are not those of the data that it was taken from.

function rowName({ sampledFrom }) {
  return sampledFrom === null ? "row" : "row in sample";
}

function drawFacts(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([name, read]) => {
    const text = read();
    return [element("dt", name, { title: name, dir: "auto" }), element("dd", text, { title: text, dir: "auto" })];
  }));
}

function connectPoint(data, state) {
  state.watch(["pinned", "panels", "focus"], (values) => {
    const { pinned } = values;
    byId("point-hint").textContent = pinned === null ? "Click a point, or find one by its name or row." : "";
    drawFacts(byId("point-facts"), pinned === null ? [] : factsOf(data, pinned, focused(values).map));
  });
  watchEnd(byId("point-list"));
  connectFind(data, state);
}

// The same next to the pointer, up to a maximum length, and of the features only those that colour a map.

const MOST_FACTS = 16;

function showTip(data, point, event, map, panels) {
  const tip = byId("tip");
  tip.hidden = point === null;
  if (point === null) return;
  const pairs = factsOf(data, point, map, (column) => data.facts.columns[column].group !== "gene" || panels.some((panel) => panel.column === column));
  const more = pairs.length - MOST_FACTS;
  drawFacts(tip.firstElementChild, more > 0 ? [...pairs.slice(0, MOST_FACTS), ["…", () => `and ${more} more`]] : pairs);
  const { clientX, clientY } = event;
  // To the left of the pointer rather than over the legend and the facts beside the maps.
  const isWide = clientX + 14 + tip.offsetWidth > byId("maps").querySelector("aside").getBoundingClientRect().left && clientX > tip.offsetWidth + 14;
  tip.style.left = `${max(0, min(isWide ? clientX - 14 - tip.offsetWidth : clientX + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
  const below = clientY + 16;
  tip.style.top = `${below + tip.offsetHeight < window.innerHeight ? below : max(0, clientY - 12 - tip.offsetHeight)}px`;
}

function connectDominated(data, state) {
  const { facts } = data;
  const lookAt = (changes) => {
    state.set(changes);
    lookAtMaps(state);
  };
  let before = null;
  state.watch(["panels", "focus"], (values) => {
    const { map } = focused(values);
    if (map === before) return;
    before = map;
    const { title, dominated } = facts.maps[map];
    const worst = dominated.worst.map(([row, weight]) => ({ point: data.pointOf(row), weight })).filter(({ point }) => point !== undefined);
    const [have, their] = dominated.count === 1 ? ["has", "its"] : ["have", "their"];
    byId("dominated-about").textContent = dominated.count === 0
      ? `${title}: no point has more than half of its similarity on a single neighbour.`
      : `${title}: ${count(dominated.count)} of ${count(facts.n)} points ${have} more than half of ${their} similarity on a single neighbour, ` +
        `which may be the only reason for ${their} position.${dominated.count > worst.length ? ` The ${count(worst.length)} worst:` : ""}`;
    byId("dominated-select").hidden = worst.length === 0;
    byId("dominated-select").onclick = () => lookAt({ selected: Uint32Array.from(worst, ({ point }) => point), pressed: NOTHING_PRESSED });
    byId("dominated").replaceChildren(...worst.map(({ point, weight }) => {
      const label = facts.known.map((column) => data.labelOf(column, point)).join(" | ");
      const button = element("button", data.nameOf(point), { title: `${data.nameOf(point)}, ${label}`, dir: "auto" });
      on(button, "click", () => lookAt({ pinned: point, point }));
      return listItem(button, element("span", weight.toFixed(2), { class: "count" }));
    }));
  });
}
