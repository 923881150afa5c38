// The state of the page, and listeners for its changes.

function makeState(facts) {
  const listeners = [];
  const targets = facts.targets.map(([, target]) => target);
  const { map: suggested, reason } = suggest(facts, targets);
  const map = suggested ?? facts.lines.at(-1).maps.at(-1);
  const values = {
    // On the left and on the right: a map, and a colour (the number of a column, the key of a
    // diagnostic, or null).
    panels: [],
    preset: "colours", // which of the two the panels share: "one" | "colours" | "maps" | "free" | "split"
    split: null, // the column whose labels have a map each in a split
    focus: 1, // the panel that slider, table and charts change
    view: WHOLE, // centre and width of the part shown, in both panels
    selected: [], // points
    pressed: { column: null, codes: new Set() }, // labels of the legend that make up the selection
    brushed: null, // the range of a histogram that makes up the selection
    hidden: new Map(), // codes of hidden labels, by column
    shown: null, // a mask of the points that are not hidden; null: all
    colours: {}, // chosen by the reader, by column and label
    kept: [], // selections as { name, points, color }
    point: null, // under the pointer, or found by the search
    pinned: null, // clicked or found by the search; shown when no point is under the pointer
    targets, // mixing that a suggestion must reach: of the label, or of each column
    suggested, // a map, or null if mixing could not be measured
    reason, // why this map
    look: { size: null, opacity: null, names: "auto", contours: "none", theme: "auto" }, // null: automatic
    drag: "select", // or "move"
    least: 0, // points with less trust are faded
    tab: null, // the section shown below the legend
    facet: "labels", // what is shown of the selection: "labels" | "features" | "kept"
  };
  const [left, right] = firstColours(facts, map);
  const labels = [...facts.known, ...facts.columns.keys()].filter((column) => facts.columns[column].kind === "labels");
  values.split = labels[0] ?? null;
  if (facts.single) values.preset = left !== right ? "colours" : "one";
  else if (facts.other.length === 0) values.preset = "maps";
  if (values.preset === "colours") values.panels = [{ map, column: left }, { map, column: right }];
  else values.panels = [{ map: facts.reference, column: left }, { map, column: left }];
  return {
    values,
    set(changes) {
      Object.assign(values, changes);
      for (const { keys, run } of listeners) if (keys.some((key) => key in changes)) run(values);
    },
    // Calls run now, and whenever one of the values is set.
    watch(keys, run) {
      listeners.push({ keys, run });
      run(values);
    },
  };
}

// What a map can be coloured by: columns by their numbers, diagnostics of the map by their keys.

function coloursOf(facts, map) {
  const columns = facts.columns.flatMap(({ kind }, place) => (kind === "texts" ? [] : [place]));
  return [...columns, ...facts.diagnostics.map(({ key }) => key).filter((key) => facts.maps[map].highest?.[key] !== undefined)];
}

// The known label, and the one to look for, else another label, a diagnostic, or what there is.

function firstColours(facts, map) {
  const all = coloursOf(facts, map);
  const left = facts.known[0] ?? all[0] ?? null;
  const label = all.find((key) => facts.columns[key]?.kind === "labels" && !facts.known.includes(key) && key !== left);
  const matched = all.find((key) => facts.columns[key]?.group === "diagnostic");
  const right = facts.other[0] ?? label ?? matched ?? all.find((key) => key !== left) ?? left;
  return [left, right];
}

function arrange(facts, state, preset) {
  const { panels, focus, suggested } = state.values;
  const { map, column } = panels[focus];
  if (preset === "colours") {
    const [left, right] = firstColours(facts, map);
    state.set({ preset, panels: [{ map, column: left }, { map, column: column === left ? right : column }] });
  } else if (preset === "maps") {
    const others = facts.lines.flatMap((line) => line.maps).filter((each) => each !== facts.reference);
    const chosen = map !== facts.reference ? map : (suggested === map ? null : suggested) ?? others.at(-1) ?? map;
    state.set({ preset, focus: 1, panels: [{ map: facts.reference, column }, { map: chosen, column }] });
  } else if (isSingle(preset)) {
    state.set({ preset, focus: 1, panels: [panels[0], panels[focus]] });
  } else {
    state.set({ preset });
  }
}

function isSingle(preset) {
  return preset === "one" || preset === "split";
}

// Panels of one map change it together, and panels of one colour change that together.

function showMap(state, map, side = state.values.focus) {
  const both = state.values.preset === "colours";
  state.set({ panels: state.values.panels.map((panel, place) => (both || place === side ? { ...panel, map } : panel)) });
}

function showColumn(state, column, side) {
  const both = state.values.preset === "maps";
  state.set({ panels: state.values.panels.map((panel, place) => (both || place === side ? { ...panel, column } : panel)) });
}

function focused({ panels, focus }) {
  return panels[focus];
}

// The map to take, and the reason, looked up in a table with lists of targets by column: a target
// counts as the next larger one listed.

function suggest(facts, targets) {
  if (facts.suggestions === null) return { map: null, reason: "" };
  const { axes, chosen, answers } = facts.suggestions;
  const place = axes.reduce((before, axis, column) => {
    const found = axis.findIndex((each) => each >= targets[column]);
    return before * axis.length + (found < 0 ? axis.length - 1 : found);
  }, 0);
  const [map, reason] = answers[chosen[place]];
  return { map, reason };
}

// The mixing of the label; of several columns, that of the least mixed one.

function leastMixing(facts, map) {
  const { measures } = facts.maps[map];
  const mixings = facts.targets.map(([key]) => measures[key]);
  return mixings.length === 0 || mixings.includes(undefined) ? undefined : min(...mixings);
}

function lineOf(facts, map) {
  return facts.lines.find((line) => line.maps.includes(map));
}

function say(text) {
  byId("said").textContent = text;
}
