// The selected points: their number, their labels, and their names as a file.

const MOST_ROWS = 12;

function connectSelection(data, state) {
  const { facts, n } = data;
  const clear = () => state.set({ selected: [], pressed: new Set(), pinned: null, point: null });
  byId("clear").addEventListener("click", clear);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") clear();
  });
  byId("download").addEventListener("click", () => save(data, state.values.selected));
  state.watch(["selected"], ({ selected }) => {
    const some = selected.length > 0;
    const words = `${count(selected.length)} of ${count(n)} points (${percent(selected.length / n)})`;
    byId("selection-count").textContent = some ? words : "Draw around points or click labels.";
    byId("selection-actions").hidden = !some;
    if (some) say(`${count(selected.length)} ${selected.length === 1 ? "point" : "points"} selected`);
  });
  state.watch(["selected", "column"], ({ selected, column }) => {
    const shown = selected.length === 0 ? [] : [...new Set([column, ...facts.known])];
    const tables = shown.filter((place) => facts.columns[place].kind === "labels").map((place) => countTable(data, place, selected));
    byId("selection-tables").replaceChildren(...tables);
  });
}

function countTable(data, column, selected) {
  const { name, labels } = data.facts.columns[column];
  const codes = data.codes(column);
  const tally = (points) => {
    const counts = new Uint32Array(labels.length + 1);
    for (const point of points) counts[codes[point]]++;
    return counts;
  };
  const inside = tally(selected);
  const all = tally(codes.keys());
  const order = Array.from(inside.keys()).filter((code) => inside[code] > 0).sort((a, b) => inside[b] - inside[a]);
  const table = element("table");
  const head = element("tr");
  head.append(element("th", name, { title: name, scope: "col" }), element("th", "points", { scope: "col" }),
    element("th", "share", { scope: "col" }), element("th", "of all", { scope: "col", title: "share of this label among all points" }));
  table.append(head);
  for (const code of order.slice(0, MOST_ROWS)) {
    const label = code === 0 ? data.facts.missingText : labels[code - 1];
    const row = element("tr");
    row.append(element("td", label, { title: label, dir: "auto" }), element("td", count(inside[code])),
      element("td", percent(inside[code] / selected.length)), element("td", percent(all[code] / data.n)));
    table.append(row);
  }
  if (order.length > MOST_ROWS) {
    const row = element("tr");
    row.append(element("td", `and ${count(order.length - MOST_ROWS)} more labels`, { colspan: 4 }));
    table.append(row);
  }
  return table;
}

function percent(share) {
  return share > 0 && share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

function save(data, selected) {
  const { facts, rows } = data;
  const plain = (text) => text.replace(/[\t\r\n]+/g, " ");
  const lines = Array.from(selected, (point) => [rows[point], facts.names === null ? null : plain(facts.names[point])]);
  lines.sort(([a], [b]) => a - b);
  const head = facts.names === null ? "row" : "row\tname";
  const text = [head, ...lines.map(([row, name]) => (name === null ? `${row}` : `${row}\t${name}`)), ""].join("\n");
  const link = element("a", "", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: "selected-points.txt" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
