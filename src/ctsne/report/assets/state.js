// The state of the page, and listeners for its changes.

function makeState(facts) {
  const listeners = [];
  const targets = facts.targets.map(([, target]) => target);
  const { map: suggested, reason } = suggest(facts, targets);
  const values = {
    map: suggested ?? mostMixed(facts) ?? facts.lines.at(-1).maps.at(-1), // the one on the right
    column: facts.known[0], // the colours
    selected: [], // points
    pressed: new Set(), // codes in the legend that make up the selection
    point: null, // under the pointer, or found by the search
    pinned: null, // clicked or found by the search; shown when no point is under the pointer
    targets, // mixing that a suggestion must reach: of the label, or of each column
    suggested, // a map, or null
    reason, // why this map, or why none
  };
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

// The map to take, and the reason: the same rule as SweepResult.suggest (sweep/choice.py).
// Measures are means over seeds, if there are several.

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
  if (plain !== undefined) return taken(plain, "already mixes that far, so there is nothing to factor out");
  if (reaching.length === 0) {
    const most = groups.length === 0 ? null : first(groups, excess);
    const values = () => mixings.map((key) => mean(most, key).toFixed(2)).join(" and ");
    const reached = most === null ? "" : `: the ${mixings.length > 1 ? "nearest" : "most"} is ${values()}, with ${facts.maps[most[0]].title}`;
    return { map: null, reason: `no setting mixes that far${reached}` };
  }
  if (reaching.every((group) => measure(group[0], "other_mixing") !== undefined)) {
    const compared = [...mixings, "adjusted_rnx"];
    const beaten = (group) => groups.some((other) => compared.every((key) => mean(other, key) > mean(group, key)));
    const front = reaching.filter((group) => !beaten(group));
    const purest = first(front, (group) => -mean(group, "other_mixing"));
    const middle = mean(purest, "other_mixing");
    const spread = Math.sqrt(purest.reduce((sum, map) => sum + (measure(map, "other_mixing") - middle) ** 2, 0) / purest.length);
    const alike = front.filter((group) => mean(group, "other_mixing") <= middle + Math.max(facts.seedNoise, spread));
    const label = facts.other === null ? "the label to look for" : facts.columns[facts.other].name;
    return taken(first(alike, (group) => -total(group)),
      `keeps ${label} purest among the maps that reach it and are not beaten by another`);
  }
  const weakest = facts.choices.map((line) => line.find((group) => reaching.includes(group))).filter((group) => group !== undefined);
  const lines = facts.choices.length > 1 ? "; of all methods that reach it, this one keeps most neighbours" : "";
  return taken(first(weakest, (group) => mean(group, "adjusted_rnx")), `the weakest setting that reaches it${lines}`);
}

function mostMixed(facts) {
  const maps = facts.choices.flat(2);
  return maps.reduce((best, map) => (leastMixing(facts, map) > leastMixing(facts, best) ? map : best), maps[0]);
}

// The mixing of the label; of several columns, that of the least mixed one.

function leastMixing(facts, map) {
  const { measures } = facts.maps[map];
  return facts.targets.map(([key]) => measures[key]).reduce((least, value) => (value < least ? value : least));
}

function lineOf(facts, map) {
  return facts.lines.find((line) => line.maps.includes(map));
}

function say(text) {
  byId("said").textContent = text;
}
