// The column to colour by, the meaning of the colours, and selecting by label.

const MOST_LABELS = 60;

function connectLegend(data, state) {
  const { facts } = data;
  const select = byId("column");
  facts.columns.forEach(({ name, kind, all }, place) => {
    const option = element("option", kind === "texts" ? `${name} (${count(all)} different values, too many for colours)` : name, { value: place });
    option.disabled = kind === "texts";
    select.append(option);
  });
  select.addEventListener("change", () => state.set({ column: Number(select.value), pressed: new Set() }));
  for (const [role, place] of [...facts.known.map((each) => ["known", each]), ["other", facts.other]]) {
    if (place === null) continue;
    const { name } = facts.columns[place];
    const button = element("button", `${role}: ${name}`, { type: "button", title: name });
    button.addEventListener("click", () => state.set({ column: place, pressed: new Set() }));
    state.watch(["column"], ({ column }) => button.setAttribute("aria-pressed", column === place));
    byId("shortcuts").append(button);
  }
  state.watch(["column"], ({ column }) => {
    select.value = column;
    drawLegend(data, state, column);
    showBelow();
  });
  byId("labels").addEventListener("scroll", showBelow);
  new ResizeObserver(showBelow).observe(byId("labels"));
  state.watch(["pressed"], ({ pressed }) => {
    for (const button of byId("labels").querySelectorAll("button")) {
      button.setAttribute("aria-pressed", pressed.has(Number(button.dataset.code)));
    }
  });
}

// Some systems hide scroll bars, so say that the list continues.

function showBelow() {
  const list = byId("labels");
  const end = list.getBoundingClientRect().bottom;
  const below = Array.from(list.children).filter((item) => item.getBoundingClientRect().bottom > end + 6).length;
  byId("labels-below").textContent = below === 0 ? "" : `${below} more`;
}

function drawLegend(data, state, column) {
  const facts = data.facts.columns[column];
  const missing = { code: 0, text: data.facts.missingText, color: data.facts.missingColor, points: facts.missing };
  const entries = [];
  byId("legend-title").textContent = facts.name;
  byId("labels-more").textContent = "";
  const list = byId("labels");
  list.replaceChildren();
  if (facts.kind === "numbers") {
    const item = element("li");
    const bar = element("div", "", { class: "scale" });
    bar.style.background = `linear-gradient(to right, ${SCALE.join(", ")})`;
    const ends = element("div", "", { class: "ends" });
    ends.append(element("span", number(facts.low)), element("span", number(facts.high)));
    item.append(bar, ends);
    list.append(item);
  } else {
    facts.labels.forEach((text, place) => entries.push({ code: place + 1, text, color: facts.colors[place], points: facts.counts[place] }));
    if (entries.length > MOST_LABELS) {
      entries.sort((a, b) => b.points - a.points).splice(MOST_LABELS);
      byId("labels-more").textContent = `The ${MOST_LABELS} largest of ${count(facts.all)} labels. The others share these colours.`;
    }
  }
  if (facts.missing > 0) entries.push(missing);
  for (const entry of entries) {
    const button = element("button", "", { type: "button", title: entry.text, "aria-pressed": "false", "data-code": entry.code });
    const swatch = element("span", "", { class: "swatch" });
    swatch.style.background = entry.color;
    const name = element("span", entry.text.trim() === "" ? "(empty)" : entry.text, { class: "name", dir: "auto" });
    button.append(swatch, name, element("span", count(entry.points), { class: "count" }));
    button.addEventListener("click", () => press(data, state, entry.code));
    const item = element("li");
    item.append(button);
    list.append(item);
  }
}

function press(data, state, code) {
  const pressed = new Set(state.values.pressed);
  if (!pressed.delete(code)) pressed.add(code);
  const codes = data.codes(state.values.column);
  const selected = [];
  codes.forEach((each, point) => {
    if (pressed.has(each)) selected.push(point);
  });
  state.set({ selected, pressed });
}
