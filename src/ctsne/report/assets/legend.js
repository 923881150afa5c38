// The meaning of the colours, and selecting by label.

const MOST_LABELS = 1000;

function connectLegend(data, state, colouring) {
  const sections = SIDES.map((side) => byId(`legend-${side}`));
  const drawn = ["", ""];
  const showPressed = ({ pressed }) => {
    for (const section of sections) {
      for (const button of section.querySelectorAll(".labels button")) {
        button.setAttribute("aria-pressed", String(pressed.column) === button.dataset.column && pressed.codes.has(Number(button.dataset.code)));
      }
    }
  };
  state.watch(["panels", "preset", "look"], ({ panels, preset }) => {
    const found = panels.map(colouring);
    const alone = preset === "one";
    const same = alone || legendKey(found[0]) === legendKey(found[1]);
    sections.forEach((section, place) => {
      const each = found[place];
      section.hidden = each.kind === "none" || (place === 0 ? alone : same && !alone);
      if (section.hidden) return;
      const title = byId(`legend-${SIDES[place]}-title`);
      const prefix = same ? "" : `${place === 0 ? "Left" : "Right"}: `;
      title.replaceChildren(prefix, element("bdi", each.name));
      title.title = each.name;
      const key = `${each.key} ${isDark()}`;
      if (drawn[place] === key) return;
      drawn[place] = key;
      drawLegend(data, state, section, each);
      showPressed(state.values);
    });
  });
  state.watch(["pressed"], showPressed);
  for (const section of sections) watchEnd(section.querySelector(".labels"), () => showBelow(section));
}

// Diagnostics have one scale for all maps, so one legend serves two maps.

function legendKey({ kind, column, key }) {
  return kind === "numbers" ? String(column) : key;
}

// How many labels are below the end of the list.

function showBelow(section) {
  const list = section.querySelector(".labels");
  const end = list.getBoundingClientRect().bottom;
  const below = Array.from(list.children).filter((item) => item.getBoundingClientRect().bottom > end + 6).length;
  section.querySelector(".more").textContent = below === 0 ? "" : `${count(below)} more ↓`;
}

function drawLegend(data, state, section, colouring) {
  const { facts } = data;
  const table = colorTable(facts, colouring, isDark());
  const entries = [];
  const list = section.querySelector(".labels");
  const note = section.querySelector(".note");
  note.textContent = colouring.note ?? "";
  list.replaceChildren();
  list.scrollTop = 0;
  if (colouring.kind === "numbers") {
    const item = element("li");
    const bar = element("div", "", { class: "scale" });
    bar.style.background = `linear-gradient(to right, ${scaleColors(isDark(), 9).join(", ")})`;
    const ends = element("div", "", { class: "ends" });
    ends.append(...colouring.ends.map((end) => element("span", end)));
    item.append(bar, ends);
    list.append(item);
  } else {
    colouring.labels.forEach((text, place) => entries.push({ code: place + 1, text, points: colouring.counts[place] }));
    if (entries.length > MOST_LABELS) {
      entries.sort((a, b) => b.points - a.points).splice(MOST_LABELS);
      note.textContent = `The ${count(MOST_LABELS)} largest of ${count(colouring.all)} labels.`;
    }
    if (colouring.labels.length > new Set(colouring.colors).size) note.textContent += " Some labels share a colour.";
  }
  if (colouring.missing > 0) entries.push({ code: 0, text: "missing", points: colouring.missing });
  section.classList.toggle("long", entries.length > 8); // a short list gives up no room to a long one
  const nameOf = longNames(colouring.labels ?? []);
  list.append(...entries.map((entry) => {
    const { code, text } = entry;
    const button = element("button", "", { type: "button", title: text, "aria-pressed": "false", "data-code": code, "data-column": colouring.column });
    const swatch = element("span", "", { class: "swatch" });
    swatch.style.background = table[code];
    button.append(swatch, nameOf(text), element("span", count(entry.points), { class: "count" }));
    button.addEventListener("click", () => press(data, state, colouring, code));
    const item = element("li");
    item.append(button);
    return item;
  }));
}

function press(data, state, colouring, code) {
  const { pressed } = state.values;
  const codes = new Set(pressed.column === colouring.column ? pressed.codes : []);
  if (!codes.delete(code)) codes.add(code);
  const selected = [];
  colouring.codes.forEach((each, point) => {
    if (codes.has(each)) selected.push(point);
  });
  state.set({ selected: Uint32Array.from(selected), pressed: { column: colouring.column, codes } });
}
