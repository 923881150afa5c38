// The two panels: what they show, their menus, and what they have in common.

const SIDES = ["left", "right"];

function connectPanels(data, state, colouring) {
  const { facts, n } = data;
  const panels = SIDES.map((side, place) => makePanel(byId(side), {
    n,
    onHover(point, event) {
      const wanted = point ?? state.values.pinned;
      if (wanted !== state.values.point) state.set({ point: wanted });
      const { panels: shown } = state.values;
      showTip(data, point, event, shown[place].map, shown);
    },
    onTap: (point) => state.set({ pinned: point, point }),
    onSelect: (points, mode) => select(data, state, points, mode),
    onView: (view) => state.set({ view }),
  }));
  connectFocus(facts, state);
  SIDES.forEach((side, place) => connectMenus(data, state, side, place));
  const words = facts.measures.filter(({ chosen }) => chosen).map(({ name }) => name).join("");
  document.body.classList.toggle("wordy", words.length > 56); // more than a line can hold
  const shown = [null, null];
  const painted = ["", ""];
  const paint = ({ panels: wanted, look }) => wanted.forEach((each, place) => {
    const found = colouring(each);
    const withNames = found.kind === "labels" && (look.names === "always" || (look.names === "auto" && !found.isKnown));
    const key = `${found.key} ${isDark()} ${withNames} ${look.contours} ${colourKey(state, found)}`;
    if (key === painted[place]) return;
    painted[place] = key;
    panels[place].paint(found.codes, colorTable(facts, found, isDark()));
    panels[place].names(withNames ? { codes: found.codes, texts: found.labels } : null);
    panels[place].contours(look.contours === "labels" && found.kind !== "labels" ? "all" : look.contours);
  });
  state.watch(["look"], ({ look: { size, opacity } }) => panels.forEach((panel) => panel.look({ size, opacity, dark: isDark() })));
  state.watch(["panels", "look", "colours", "kept"], (values) => {
    values.panels.forEach(({ map }, place) => {
      if (shown[place] === map) return;
      panels[place].show(data.positions(map), shown[place] !== null);
      shown[place] = map;
    });
    paint(values);
  });
  let mask = null;
  const mark = ({ least, panels: wanted }) => panels.forEach((panel, place) => panel.highlight(trusted(data, wanted[place].map, least, mask)));
  state.watch(["selected", "least"], (values) => {
    mask = values.selected.length === 0 ? null : new Uint8Array(n);
    for (const point of values.selected) mask[point] = 1;
    mark(values);
  });
  state.watch(["panels"], (values) => {
    if (values.least > 0) mark(values);
  });
  state.watch(["point"], ({ point }) => panels.forEach((panel) => panel.ring(point)));
  state.watch(["view"], ({ view }) => panels.forEach((panel) => panel.view(view)));
  state.watch(["drag"], ({ drag }) => panels.forEach((panel) => panel.drag(drag)));
  return {
    panels,
    highlighted: () => (mask === null ? [] : Array.from(mask.keys()).filter((point) => mask[point] === 1)),
  };
}

// The points of a mask, or of all, that are trusted enough; a map without trust keeps its mask.

function trusted(data, map, least, mask) {
  if (least === 0 || data.diagnostic(map, "trust", 0) === null) return mask;
  return Uint8Array.from({ length: data.n }, (_, point) => ((mask === null || mask[point] === 1) && data.diagnostic(map, "trust", point) >= least ? 1 : 0));
}

// Slider, table and charts change the panel used last. A map that the slider cannot change, such as
// t-SNE, gets the focus by its menus only: a lasso in it leaves the slider to the other map.

function connectFocus(facts, state) {
  SIDES.forEach((side, place) => {
    const take = ({ target }) => {
      const { focus, panels } = state.values;
      const isFixed = lineOf(facts, panels[place].map).maps.length === 1 && byId(side).contains(target);
      if (focus !== place && !isFixed) state.set({ focus: place });
    };
    on(byId(`panel-${side}`), "pointerdown", take);
    on(byId(`panel-${side}`), "focusin", take);
  });
  state.watch(["focus", "preset"], ({ focus, preset }) => {
    const matters = preset === "maps" || preset === "free";
    SIDES.forEach((side, place) => byId(`panel-${side}`).classList.toggle("in-focus", matters && place === focus));
    byId("maps").dataset.preset = isSingle(preset) ? "one" : preset;
  });
}

function connectMenus(data, state, side, place) {
  const { facts } = data;
  const [maps, colours, host] = [byId(`${side}-map`), byId(`${side}-column`), byId(side)];
  for (const line of facts.lines) {
    const group = line.maps.length > 1 ? element("optgroup", "", { label: line.title }) : maps;
    for (const map of line.maps) group.append(element("option", facts.maps[map].title, { value: map }));
    if (group !== maps) maps.append(group);
  }
  on(maps, "change", () => showMap(state, Number(maps.value), place));
  fillColours(facts, colours);
  if (facts.single) maps.nextElementSibling.textContent = "Colour";
  on(colours, "change", () => {
    showColumn(state, /^\d+$/.test(colours.value) ? Number(colours.value) : colours.value.slice(1), place);
  });
  const main = facts.measures.filter(({ chosen }) => chosen);
  let before = null;
  state.watch(["panels", "focus"], ({ panels, focus }) => {
    const { map, column } = panels[place];
    const each = facts.maps[map];
    maps.value = map;
    maps.title = each.title;
    colours.value = typeof column === "number" ? String(column) : `.${column}`;
    colours.title = colours.selectedOptions[0]?.textContent ?? "";
    host.ariaLabel = `${each.title}${column === null ? "" : `, coloured by ${colours.title}`}`;
    if (map === before) return;
    const known = main.filter(({ key }) => each.measures[key] !== undefined);
    byId(`${side}-measures`).replaceChildren(...known.flatMap((measure, index) => [
      ...(index > 0 ? [" · "] : []), `${measure.name} `, element("b", measured(each, measure)),
    ]));
    byId(`${side}-measures`).title = byId(`${side}-measures`).textContent;
    if (before !== null && place === focus) say(`${each.title}: ${byId(`${side}-measures`).textContent}`);
    before = map;
  });
}

// Columns by their numbers; diagnostics of the map by their keys, after a dot.

function fillColours(facts, menu) {
  const groups = new Map([["column", "Columns"], ["gene", "Features"], ["diagnostic", "Diagnostics"]].map(([key, label]) => [key, element("optgroup", "", { label })]));
  facts.columns.forEach(({ name, kind, all, group }, place) => {
    const tooMany = kind === "texts" && group !== "kept" ? ` (${count(all)} different values, too many for colours)` : "";
    const option = element("option", `${name}${tooMany}`, { value: place });
    option.disabled = tooMany !== "";
    groups.get(group === "kept" ? "column" : group).append(option);
  });
  for (const { key, name } of facts.diagnostics) {
    if (facts.maps.some(({ highest }) => highest?.[key] !== undefined)) {
      groups.get("diagnostic").append(element("option", name, { value: `.${key}` }));
    }
  }
  const used = [...groups.values()].filter((group) => group.childElementCount > 0);
  if (used.length === 1) menu.append(...used[0].children);
  else menu.append(...used);
  menu.hidden = used.length === 0;
}
