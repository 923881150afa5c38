// Colours of labels that the reader has chosen, by column and label.

function ownValue(object, key) {
  return typeof object === "object" && object !== null && Object.hasOwn(object, key) ? object[key] : null;
}

function paintable({ columns }) {
  return columns.filter(({ kind, group }) => kind === "labels" && group !== "kept");
}

// Replaces all choices. Columns, labels and colours that the page does not know are ignored.

function chooseColours({ facts }, state, choices) {
  const chosen = paintable(facts).map(({ name, labels }) => {
    const wanted = labels.map((label) => [label, ownValue(ownValue(choices, name), label)]);
    return [name, Object.fromEntries(wanted.filter(([, color]) => /^#[0-9a-f]{6}$/i.test(color)))];
  });
  state.set({ colours: Object.fromEntries(chosen.filter(([, own]) => Object.keys(own).length > 0)) });
}

function connectColours(data, state) {
  const columns = paintable(data.facts);
  const originals = columns.map(({ colors }) => colors.slice());
  const json = (...how) => JSON.stringify(state.values.colours, ...how);
  keepInAddress("colours", json, (text) => {
    try {
      chooseColours(data, state, JSON.parse(text));
    } catch {
      // Not JSON.
    }
  });
  on(byId("reset-colours"), "click", () => chooseColours(data, state, {}));
  on(byId("save-colours"), "click", () => saveFile("colours.json", new Blob([json(null, 2), "\n"], { type: "application/json" })));
  state.watch(["colours"], ({ colours }) => {
    columns.forEach(({ name, labels, colors }, place) => labels.forEach((label, at) => {
      colors[at] = ownValue(ownValue(colours, name), label) ?? originals[place][at];
    }));
    for (const id of ["reset-colours", "save-colours"]) byId(id).disabled = Object.keys(colours).length === 0;
  });
}

// Tells apart what is painted in different colours.

function colourKey(state, { name }) {
  return JSON.stringify(ownValue(state.values.colours, name));
}
