// Selections with names, several at a time: to show again, to colour by and to save.

const KEPT_COLORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#a6761d"];
const [MOST_KEPT, LONGEST_NAME] = [20, 60];

// A column of labels whose points change; it comes after those of the data.

function addKeptColumn(data, state) {
  const { facts, n } = data;
  const place = facts.columns.length;
  const column = { name: "kept selections", group: "kept", about: "", version: 0 };
  facts.columns.push(column);
  const ofData = data.codes;
  let codes = null;
  data.codes = (wanted) => (wanted === place ? codes : ofData(wanted));
  state.watch(["kept"], ({ kept }) => {
    codes = new Uint8Array(n);
    kept.forEach(({ points }, at) => points.forEach((point) => { codes[point] = at + 1; }));
    const counts = new Array(kept.length + 1).fill(0);
    for (const code of codes) counts[code]++;
    const [labels, colors] = [kept.map(({ name }) => name), kept.map(({ color }) => color)];
    Object.assign(column, { kind: kept.length > 0 ? "labels" : "texts", labels, colors, counts: counts.slice(1), missing: counts[0], all: kept.length });
    column.version++;
  });
  keepInAddress("kept", () => state.values.kept.map(({ name, points }) => `${name}\n${packPoints(data, points) ?? ""}`).join("\n"), (text) => {
    const lines = text.split("\n");
    let kept = [];
    for (let at = 0; at + 1 < lines.length && kept.length < MOST_KEPT; at += 2) {
      const points = unpackPoints(data, lines[at + 1]);
      if (points !== null) kept = withKept(kept, lines[at], points);
    }
    if (kept.length > 0) changeKept(data, state, kept);
  });
}

// Labels of the column then mean something else, so they are no longer hidden or pressed.

function changeKept({ facts }, state, kept) {
  const place = facts.columns.length - 1;
  const { panels, hidden, pressed } = state.values;
  const changes = { kept };
  if (hidden.has(place)) changes.hidden = new Map([...hidden].filter(([column]) => column !== place));
  if (pressed.column === place) changes.pressed = NOTHING_PRESSED;
  const [first] = firstColours(facts, focused(state.values).map);
  if (kept.length === 0) changes.panels = panels.map((panel) => (panel.column === place ? { ...panel, column: first } : panel));
  state.set(changes);
}

function connectKept(data, state) {
  const place = data.facts.columns.length - 1;
  const list = byId("kept-list");
  const change = (kept) => changeKept(data, state, kept);
  const itemOf = (each, { kept }) => {
    const swatch = element("span", "", { class: "swatch" });
    swatch.style.background = isDark() ? onDark(each.color) : each.color;
    const name = element("input", "", { type: "text", value: each.name, maxlength: LONGEST_NAME, "aria-label": "Name of the selection", title: each.name, dir: "auto" });
    on(name, "change", () => change(kept.map((other) => (other === each ? { ...each, name: freeName(kept.filter((one) => one !== each), name.value) } : other))));
    const show = element("button", count(each.points.length), { class: "small", title: "Select these points", "aria-label": `${count(each.points.length)} points: select ${each.name}` });
    on(show, "click", () => state.set({ selected: each.points, pressed: NOTHING_PRESSED }));
    const remove = element("button", "×", { class: "small", title: "Forget it", "aria-label": `Forget ${each.name}` });
    on(remove, "click", () => change(kept.filter((other) => other !== each)));
    return listItem(swatch, name, show, remove);
  };
  on(byId("keep"), "click", () => {
    const { kept, selected, pressed } = state.values;
    const labels = [...pressed.codes].map((code) => data.facts.columns[pressed.column]?.labels?.[code - 1] ?? "missing");
    change(withKept(kept, labels.join(", ") || `selection ${kept.length + 1}`, Uint32Array.from(selected)));
    state.set({ facet: "kept" });
    list.lastElementChild.querySelector("input").select();
  });
  on(byId("kept-colour"), "click", () => {
    state.set({ selected: [], pressed: NOTHING_PRESSED }); // which would leave all others grey
    showColumn(state, place, state.values.focus);
  });
  on(byId("kept-save"), "click", () => saveSelection(data, state, state.values.kept));
  state.watch(["kept", "look"], (values) => {
    const { kept } = values;
    list.replaceChildren(...kept.map((each) => itemOf(each, values)));
    byId("keep").disabled = kept.length === MOST_KEPT;
    for (const side of SIDES) {
      const option = byId(`${side}-column`).querySelector(`[value="${place}"]`);
      option.hidden = option.disabled = kept.length === 0;
    }
  });
}

function withKept(kept, name, points) {
  const color = KEPT_COLORS.find((each) => !kept.some((other) => other.color === each)) ?? KEPT_COLORS[kept.length % KEPT_COLORS.length];
  return [...kept, { name: freeName(kept, name), points, color }];
}

// A name that is not empty, not too long and not taken.

function freeName(kept, wanted) {
  const name = wanted.replace(/\s+/g, " ").trim().slice(0, LONGEST_NAME) || "selection";
  const taken = (text) => kept.some((each) => each.name === text);
  if (!taken(name)) return name;
  let number = 2;
  while (taken(`${name} ${number}`)) number++;
  return `${name} ${number}`;
}
