// The state of the page, and listeners for its changes.

function makeState(facts) {
  const listeners = [];
  const targets = facts.targets.map(([, target]) => target);
  const { map: suggested, reason } = suggest(facts, targets);
  const map = suggested ?? mostMixed(facts) ?? facts.lines.at(-1).maps.at(-1);
  const values = {
    // What the panels on the left and on the right show: a map, and a colour (the number of a column
    // or the key of a diagnostic; null if there is nothing to colour by).
    panels: [],
    preset: "colours", // which of the two the panels share: "one" | "colours" | "maps" | "free"
    focus: 1, // the panel that slider, table and charts change
    view: WHOLE, // centre and width of the part shown, in both panels
    selected: [], // points
    pressed: { column: null, codes: new Set() }, // labels of the legend that make up the selection
    point: null, // under the pointer, or found by the search
    pinned: null, // clicked or found by the search; shown when no point is under the pointer
    targets, // mixing that a suggestion must reach: of the label, or of each column
    suggested, // a map, or null
    reason, // why this map, or why none
    look: { size: null, opacity: null, names: "auto", theme: "auto" }, // null: automatic
    drag: "select", // or "move"
  };
  const [left, right] = firstColours(facts, map);
  if (facts.single) values.preset = facts.placed === undefined && left !== right ? "colours" : "one";
  else if (facts.other === null) values.preset = "maps";
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

// The known label, and the one to look for; without it another label, a diagnostic, or whatever
// else there is.

function firstColours(facts, map) {
  const all = coloursOf(facts, map);
  const left = facts.known[0] ?? all[0] ?? null;
  const label = all.find((key) => facts.columns[key]?.kind === "labels" && !facts.known.includes(key) && key !== left);
  const matched = all.find((key) => facts.columns[key]?.group === "diagnostic");
  const right = facts.other ?? label ?? matched ?? all.find((key) => key !== left) ?? left;
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
  } else if (preset === "one") {
    state.set({ preset, focus: 1, panels: [panels[0], panels[focus]] });
  } else {
    state.set({ preset });
  }
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

// The map to take, and the reason: the same rule as SweepResult.suggest (sweep/choice.py).
// Measures are means over seeds, if there are several. The reasons are put in words by
// suggestionWords.

function suggest(facts, targets) {
  const measure = (map, key) => facts.maps[map].measures[key];
  const mean = (group, key) => group.reduce((sum, map) => sum + measure(map, key), 0) / group.length;
  const first = (list, value) => list.reduce((best, each) => (value(each) > value(best) ? each : best));
  const mixings = facts.targets.map(([key]) => key);
  const excess = (group) => Math.min(...mixings.map((key, place) => mean(group, key) - targets[place]));
  const total = (group) => mixings.reduce((sum, key) => sum + mean(group, key), 0);
  const taken = (group, reason) => {
    const enough = group.filter((map) => excess([map]) >= 0);
    return { map: first(enough.length > 0 ? enough : group, (map) => measure(map, "adjusted_rnx")), reason };
  };
  const groups = facts.choices.flat();
  const reaching = groups.filter((group) => excess(group) >= 0);
  const plain = reaching.find((group) => facts.maps[group[0]].plain);
  if (plain !== undefined) return taken(plain, "plain");
  if (reaching.length === 0) {
    if (groups.length === 0) return { map: null, reason: "unmeasured" };
    const most = first(groups, excess);
    return { map: null, reason: "none", nearest: most[0], reached: mixings.map((key) => mean(most, key)) };
  }
  if (reaching.every((group) => measure(group[0], "other_mixing") !== undefined)) {
    const compared = [...mixings, "adjusted_rnx"];
    const beaten = (group) => groups.some((other) => compared.every((key) => mean(other, key) > mean(group, key)));
    const front = reaching.filter((group) => !beaten(group));
    const purest = first(front, (group) => -mean(group, "other_mixing"));
    const middle = mean(purest, "other_mixing");
    const spread = Math.sqrt(purest.reduce((sum, map) => sum + (measure(map, "other_mixing") - middle) ** 2, 0) / purest.length);
    const alike = front.filter((group) => mean(group, "other_mixing") <= middle + Math.max(facts.seedNoise, spread));
    return taken(first(alike, (group) => -total(group)), "purest");
  }
  const weakest = facts.choices.map((line) => line.find((group) => reaching.includes(group))).filter((group) => group !== undefined);
  return taken(first(weakest, (group) => mean(group, "adjusted_rnx")), "weakest");
}

function mostMixed(facts) {
  const maps = facts.choices.flat(2);
  return maps.reduce((best, map) => (leastMixing(facts, map) > leastMixing(facts, best) ? map : best), maps[0]);
}

// The mixing of the label; of several columns, that of the least mixed one.

function leastMixing(facts, map) {
  const { measures } = facts.maps[map];
  const mixings = facts.targets.map(([key]) => measures[key]);
  return mixings.length === 0 || mixings.includes(undefined) ? undefined : Math.min(...mixings);
}

function lineOf(facts, map) {
  return facts.lines.find((line) => line.maps.includes(map));
}

function say(text) {
  byId("said").textContent = text;
}
