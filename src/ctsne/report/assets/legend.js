// The meaning of the colours, and selecting by label.

const MOST_LABELS = 1000;

function connectLegend(data, state, colouring) {
  const sections = SIDES.map((side) => byId(`legend-${side}`));
  const drawn = [{}, {}]; // what the sections show, and how to show a selected range in them
  const showStates = ({ pressed, hidden }) => {
    for (const item of document.querySelectorAll(".labels li[data-code]")) {
      const [column, code] = [item.dataset.column, Number(item.dataset.code)];
      const isHidden = hidden.get(Number(column))?.has(code) ?? false;
      const [button, hide] = [item.querySelector(".label"), item.querySelector(".hide")];
      button.ariaPressed = String(pressed.column) === column && pressed.codes.has(code);
      button.title = isHidden ? `${item.title}, hidden` : item.title;
      item.classList.toggle("off", isHidden);
      hide.value = isHidden ? "show" : "hide";
      hide.ariaLabel = `${hide.value} ${item.title}`;
    }
  };
  state.watch(["panels", "preset", "look", "shown", "kept"], ({ panels, preset, shown }) => {
    const found = panels.map(colouring);
    const alone = isSingle(preset);
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
      if (drawn[place].key === key && (each.kind === "labels" || drawn[place].shown === shown)) return;
      drawn[place] = { key, shown, colours: each, refresh: drawLegend(data, state, section, each) };
      showStates(state.values);
    });
  });
  state.watch(["pressed", "hidden"], showStates);
  state.watch(["selected"], () => drawn.forEach(({ refresh }) => refresh?.()));
  // A legend that is drawn anew would close the dialogue in which a colour is chosen.
  state.watch(["colours"], () => sections.forEach((section, place) => {
    const { colours } = drawn[place];
    if (colours?.kind !== "labels") return;
    const table = colorTable(data.facts, colours, isDark());
    for (const swatch of section.querySelectorAll(".swatch")) paintSwatch(swatch, colours, table);
  }));
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
  let refresh = null;
  if (colouring.kind === "numbers") {
    const bar = element("div", "", { class: "scale" });
    bar.style.background = `linear-gradient(to right, ${scaleColors(isDark(), 9).join(", ")})`;
    const ends = element("div", "", { class: "ends" });
    const histogram = makeHistogram(state, colouring);
    refresh = histogram.refresh;
    ends.append(element("span", colouring.ends[0]), histogram.said, element("span", colouring.ends[1]));
    list.append(listItem(histogram.box, bar, ends));
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
  list.append(...entries.map((entry) => labelRow(data, state, colouring, entry, table, nameOf(entry.text))));
  return refresh;
}

// A label with its colour, and ways to select it, to hide it and to show it alone. They are inputs
// of the pointer; the keyboard has one stop per label, and a key for each.

function labelRow(data, state, colouring, { code, text, points }, table, name) {
  const { kind, column } = colouring;
  const item = element("li", "", { "data-code": code, "data-column": column, title: text });
  const isLabel = kind === "labels";
  const canPaint = isLabel && code > 0 && data.facts.columns[column].group !== "kept";
  const swatch = canPaint ? element("input", "", { type: "color", tabindex: -1, "aria-label": `Colour of ${text}`, title: "Change the colour" }) : element("span");
  swatch.className = "swatch";
  swatch.dataset.code = code;
  paintSwatch(swatch, colouring, table);
  on(swatch, "input", () => {
    const { colours } = state.values;
    chooseColours(data, state, { ...colours, [colouring.name]: { ...ownValue(colours, colouring.name), [text]: swatch.value } });
  });
  const button = element("button", "", { class: "label", "aria-keyshortcuts": "H O C" });
  button.append(name, element("span", count(points), { class: "count" }));
  const acts = {
    o: isLabel ? () => showOnly(data, state, column, code) : null,
    h: () => toggleLabel(state, column, code),
    c: canPaint ? () => swatch.click() : null,
  };
  on(button, "click", (event) => {
    if (event.shiftKey && isLabel) acts.o();
    else if (event.altKey) acts.h();
    else press(data, state, colouring, code);
  });
  on(button, "keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    acts[event.key.toLowerCase()]?.();
  });
  const act = (name, key, title) => {
    const made = element("input", "", { type: "button", class: name, value: name, title, tabindex: -1, "aria-label": `${name} ${text}` });
    on(made, "click", acts[key]);
    return made;
  };
  const side = element("span", "", { class: "acts" });
  if (isLabel) side.append(act("only", "o", "Show only these points"));
  side.append(act("hide", "h", "Hide or show these points"));
  item.append(swatch, button, side);
  return item;
}

// On dark ground a label may be lighter than its colour.

function paintSwatch(swatch, { colors }, table) {
  const code = Number(swatch.dataset.code);
  swatch.style.background = table[code];
  if (swatch.type === "color") swatch.value = colors[code - 1];
}

function press(data, state, colouring, code) {
  const { pressed } = state.values;
  const codes = new Set(pressed.column === colouring.column ? pressed.codes : []);
  if (!codes.delete(code)) codes.add(code);
  state.set({ selected: pointsWhere(colouring.codes, (each) => codes.has(each)), pressed: { column: colouring.column, codes } });
}
