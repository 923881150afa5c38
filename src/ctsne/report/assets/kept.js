// Selections with names, several at a time: to show again, to colour by and to save.

const KEPT_COLORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#a6761d", "#66a61e", "#e7298a"];
const [MOST_KEPT, LONGEST_NAME] = [20, 60];

// A column of labels whose points change; it comes after those of the data.

function addKeptColumn(data) {
  const { facts, n } = data;
  const place = facts.columns.length;
  const column = { name: "kept selections", kind: "texts", group: "kept", labels: [], colors: [], counts: [], missing: n, all: 0, about: "", version: 0 };
  facts.columns.push(column);
  const ofData = data.codes;
  let codes = new Uint8Array(n);
  data.codes = (wanted) => (wanted === place ? codes : ofData(wanted));
  return {
    place,
    fill(kept) {
      codes = new Uint8Array(n);
      kept.forEach(({ points }, at) => points.forEach((point) => { codes[point] = at + 1; }));
      const counts = new Array(kept.length + 1).fill(0);
      for (const code of codes) counts[code]++;
      const [labels, colors] = [kept.map(({ name }) => name), kept.map(({ color }) => color)];
      Object.assign(column, { kind: kept.length > 0 ? "labels" : "texts", labels, colors, counts: counts.slice(1), missing: counts[0], all: kept.length });
      column.version++;
    },
  };
}

function connectKept(data, state, column) {
  const list = byId("kept-list");
  let kept = [];
  const change = (next) => {
    kept = next;
    column.fill(kept);
    byId("kept").hidden = kept.length === 0;
    byId("keep").disabled = kept.length === MOST_KEPT;
    for (const side of SIDES) {
      const option = byId(`${side}-column`).querySelector(`[value="${column.place}"]`);
      option.hidden = option.disabled = kept.length === 0;
    }
    // Colours follow the names; without any, there is nothing to colour by.
    const [first] = firstColours(data.facts, focused(state.values).map);
    state.set({ panels: state.values.panels.map((panel) => (kept.length === 0 && panel.column === column.place ? { ...panel, column: first } : { ...panel })) });
    draw();
    addressChanged();
  };
  const draw = () => list.replaceChildren(...kept.map((each) => {
    const item = element("li");
    const swatch = element("span", "", { class: "swatch" });
    swatch.style.background = isDark() ? onDark(each.color) : each.color;
    const name = element("input", "", { type: "text", value: each.name, maxlength: LONGEST_NAME, "aria-label": "Name of the selection", title: each.name, dir: "auto" });
    name.addEventListener("change", () => change(kept.map((other) => (other === each ? { ...each, name: freeName(kept.filter((one) => one !== each), name.value) } : other))));
    const show = element("button", count(each.points.length), { type: "button", class: "small", title: "Select these points", "aria-label": `Select ${each.name}, ${counted(each.points.length, "point")}` });
    show.addEventListener("click", () => state.set({ selected: each.points, pressed: NOTHING_PRESSED }));
    const remove = element("button", "×", { type: "button", class: "small", title: "Forget it", "aria-label": `Forget ${each.name}` });
    remove.addEventListener("click", () => change(kept.filter((other) => other !== each)));
    item.append(swatch, name, show, remove);
    return item;
  }));
  const add = (name, points) => {
    const color = KEPT_COLORS.find((each) => !kept.some((other) => other.color === each)) ?? KEPT_COLORS[kept.length % KEPT_COLORS.length];
    return { name: freeName(kept, name), points: Uint32Array.from(points), color };
  };
  byId("keep").addEventListener("click", () => {
    const { column: of, codes } = state.values.pressed;
    const labels = [...codes].map((code) => data.facts.columns[of]?.labels?.[code - 1] ?? "missing");
    change([...kept, add(labels.length > 0 ? labels.join(", ") : `selection ${kept.length + 1}`, state.values.selected)]);
    list.lastElementChild.querySelector("input").select();
  });
  byId("kept-colour").addEventListener("click", () => {
    state.set({ selected: [], pressed: NOTHING_PRESSED }); // which would leave all others grey
    showColumn(state, column.place, state.values.focus);
  });
  byId("kept-save").addEventListener("click", () => saveSelection(data, state, kept));
  state.watch(["look"], draw);
  keepInAddress("kept", () => kept.map(({ name, points }) => `${name}\n${packPoints(data, points) ?? ""}`).join("\n"), (text) => {
    const lines = text.split("\n");
    for (let at = 0; at + 1 < lines.length && kept.length < MOST_KEPT; at += 2) {
      const points = unpackPoints(data, lines[at + 1]);
      if (points !== null) change([...kept, add(lines[at], points)]);
    }
  });
  change(kept);
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
