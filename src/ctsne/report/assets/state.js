// What is shown now, and who wants to know when it changes.

function makeState(facts) {
  const listeners = [];
  const suggested = suggest(facts, facts.mixing);
  const values = {
    map: suggested ?? mostMixed(facts) ?? facts.lines.at(-1).maps.at(-1), // the one on the right
    column: facts.known, // the colours
    selected: [], // points
    pressed: new Set(), // codes in the legend that make up the selection
    point: null, // under the pointer, or looked for
    pinned: null, // looked for, and shown when nothing is under the pointer
    share: facts.mixing, // of random mixing, that a suggestion must reach
    suggested,
  };
  return {
    values,
    set(changes) {
      Object.assign(values, changes);
      for (const { keys, run } of listeners) if (keys.some((key) => key in changes)) run(values);
    },
    // Runs now, and whenever one of the values is set.
    watch(keys, run) {
      listeners.push({ keys, run });
      run(values);
    },
  };
}

// The weakest setting of each line that mixes far enough; of those the one that keeps most
// neighbours. Means over seeds, if there are several. The same rule as SweepResult.best.

function suggest(facts, share) {
  const measure = (map, key) => facts.maps[map].measures[key];
  const mean = (group, key) => group.reduce((sum, map) => sum + measure(map, key), 0) / group.length;
  const first = (list, value) => list.reduce((best, each) => (value(each) > value(best) ? each : best));
  const reaching = facts.choices
    .map((line) => line.find((group) => mean(group, "mixing") >= share))
    .filter((group) => group !== undefined);
  if (reaching.length === 0) return null;
  const chosen = first(reaching, (group) => mean(group, "adjusted_rnx"));
  return first(chosen.filter((map) => measure(map, "mixing") >= share), (map) => measure(map, "adjusted_rnx"));
}

function mostMixed(facts) {
  const maps = facts.choices.flat(2);
  return maps.reduce((best, map) => (facts.maps[map].measures.mixing > facts.maps[best].measures.mixing ? map : best), maps[0]);
}

function lineOf(facts, map) {
  return facts.lines.find((line) => line.maps.includes(map));
}

function say(text) {
  byId("said").textContent = text;
}
