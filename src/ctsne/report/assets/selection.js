// The selected points: their number, their labels, and all that is known of them as a file.

const MOST_ROWS = 12;
const NOTHING_PRESSED = { column: null, codes: new Set() };

function connectSelection(data, state) {
  const { facts, n } = data;
  const clear = () => state.set({ selected: [], pressed: NOTHING_PRESSED, pinned: null, point: null });
  on(byId("clear"), "click", clear);
  on(document, "keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented && !closeSheet()) clear();
  });
  for (const id of ["download", "save-csv"]) on(byId(id), "click", () => saveSelection(data, state, [{ name: "selection", points: state.values.selected }]));
  const isPart = showsPart(facts);
  state.watch(["selected"], ({ selected }) => {
    const some = selected.length > 0;
    const words = `${count(selected.length)} of ${count(n)} points${isPart ? " shown" : ""} (${percent(selected.length / n)})${isPart ? `; ${count(facts.sampledFrom ?? facts.n)} in all` : ""}`;
    byId("selection-count").textContent = some ? words : "";
    byId("selection-hint").hidden = some;
    byId("selection-head").hidden = !some;
    byId("save-csv").disabled = !some;
    if (some) say(`${counted(selected.length, "point")} selected`);
  });
  watchEnd(byId("selection-tables"));
  let [before, drawn] = [null, ""];
  state.watch(["selected", "panels"], ({ selected, panels }) => {
    const columns = [...panels.map(({ column }) => column), ...facts.known];
    const shown = selected.length === 0 ? [] : [...new Set(columns)].filter((column) => facts.columns[column]?.kind === "labels");
    if (selected === before && drawn === String(shown)) return; // another map has the same points
    [before, drawn] = [selected, String(shown)];
    byId("selection-tables").replaceChildren(...shown.map((column) => countTable(data, column, selected)));
  });
  if (isPart) {
    byId("download").textContent = "Save csv of those shown";
    byId("save-csv").textContent = "Selected points (of those shown), csv";
  }
}

// What is shown of the selection, and selections that were kept. A new selection is shown itself.

function connectFacets(data, state) {
  const buttons = [...byId("facets").children];
  const compares = comparedColumns(data.facts).length > 0;
  let before = state.values.selected;
  state.watch(["selected", "kept", "facet"], ({ selected, kept, facet }) => {
    const [some, isNew] = [selected.length > 0, selected !== before];
    before = selected;
    if (facet === "kept" && some && isNew && kept.every(({ points }) => points !== selected)) return state.set({ facet: "labels" });
    const can = { labels: some, features: some && compares, kept: kept.length > 0 };
    const open = can[facet] ? facet : Object.keys(can).find((each) => can[each]);
    for (const button of buttons) {
      const own = button.dataset.facet;
      button.hidden = !can[own];
      button.ariaPressed = own === open;
      byId(button.dataset.shows).hidden = own !== open;
    }
    byId("kept-number").textContent = ` ${kept.length}`;
    byId("facets").hidden = Object.values(can).filter(Boolean).length < 2;
  });
  for (const button of buttons) on(button, "click", () => state.set({ facet: button.dataset.facet }));
}

// Whether the data have points that the page does not show, or that were not mapped at all.

function showsPart(facts) {
  return facts.notShown > 0 || facts.sampledFrom !== null;
}

function select(data, state, points, mode) {
  const mask = new Uint8Array(data.n);
  if (mode !== "replace") for (const point of state.values.selected) mask[point] = 1;
  for (const point of points) mask[point] = mode === "remove" ? 0 : 1;
  state.set({ selected: pointsWhere(mask, (value) => value === 1), pressed: NOTHING_PRESSED });
}

function pointsWhere(values, isWanted) {
  const found = [];
  values.forEach((value, point) => {
    if (isWanted(value, point)) found.push(point);
  });
  return Uint32Array.from(found);
}

function countTable(data, column, selected) {
  const { name, labels, counts, missing } = data.facts.columns[column];
  const codes = data.codes(column);
  const inside = new Uint32Array(labels.length + 1);
  for (const point of selected) inside[codes[point]]++;
  const all = [missing, ...counts];
  const order = Array.from(inside.keys()).filter((code) => inside[code] > 0).sort((a, b) => inside[b] - inside[a]);
  const table = element("table");
  const titles = [[name, name], ["points", ""], ["share", "share of the selected points"], ["of all", "share of this label among all points shown"]];
  table.insertRow().append(...titles.map(([text, title]) => element("th", text, { title, scope: "col", dir: "auto" })));
  const nameOf = longNames(labels);
  for (const code of order.slice(0, MOST_ROWS)) {
    const row = table.insertRow();
    row.insertCell().append(nameOf(code === 0 ? "missing" : labels[code - 1]));
    const texts = [count(inside[code]), percent(inside[code] / selected.length), percent(all[code] / data.n)];
    row.append(...texts.map((text) => element("td", text)));
  }
  if (order.length > MOST_ROWS) table.insertRow().append(element("td", `and ${counted(order.length - MOST_ROWS, "more label")}`, { colspan: 4 }));
  return table;
}

// A csv file of selections; a point of several has all their names. Texts are quoted but not changed,
// also those that begin with = + - or @: changing the reader's own data would break joins by name.

function selectionTable(data, map, selections) {
  const { facts, rows } = data;
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const own = [rowName(facts), "name", "selection", "map_1", "map_2"];
  const columns = [...facts.columns.keys()].filter((column) => ["column", "diagnostic"].includes(facts.columns[column].group) && !own.includes(facts.columns[column].name));
  const cell = (column, point) => {
    const text = data.valueOf(column, point);
    return text === null ? "" : facts.columns[column].kind === "numbers" ? text : quoted(text);
  };
  const names = new Map();
  for (const { name, points } of selections) for (const point of points) names.set(point, [...(names.get(point) ?? []), name]);
  const { x, y } = data.positions(map);
  const [left, ...more] = facts.maps[map].square; // and below it, if the map has two dimensions
  const side = more.pop();
  const places = (point) => [left + side * x[point], ...more.map((below) => below + side * y[point])].map((place) => number(place, 6));
  const head = [...own.slice(0, 3), ...columns.map((column) => facts.columns[column].name), ...own.slice(3, 5 - (more.length === 0))].map(quoted);
  const lines = [...names.keys()].sort((a, b) => rows[a] - rows[b]).map((point) => [
    rows[point], quoted(data.nameOf(point)), quoted(names.get(point).join(" | ")), ...columns.map((column) => cell(column, point)), ...places(point),
  ].join(","));
  return [head.join(","), ...lines, ""].join("\n");
}

function saveSelection(data, state, selections) {
  const name = showsPart(data.facts) ? "selected-points-of-those-shown.csv" : "selected-points.csv";
  saveFile(name, new Blob([selectionTable(data, focused(state.values).map, selections)], { type: "text/csv" }));
}

function saveFile(name, blob) {
  const link = element("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
