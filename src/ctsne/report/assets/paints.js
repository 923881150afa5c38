// Colours of labels that the reader has chosen, by column and label.

const painting = { choices: () => ({}), apply: () => {} }; // of this page, once it has started

function colourChoices() {
  return painting.choices();
}

// Replaces all choices. Columns, labels and colours that the page does not know are ignored.

function applyColourChoices(choices) {
  painting.apply(choices);
}

function ownValue(object, key) {
  return typeof object === "object" && object !== null && Object.hasOwn(object, key) ? object[key] : null;
}

function connectColours(data, state) {
  const columns = data.facts.columns.filter(({ kind }) => kind === "labels");
  const originals = columns.map(({ colors }) => colors.slice());
  painting.choices = () => structuredClone(state.values.colours);
  painting.apply = (choices) => {
    const chosen = columns.map(({ name, labels, colors }, place) => {
      const wanted = labels.map((label) => ownValue(ownValue(choices, name), label));
      const isColor = wanted.map((color) => /^#[0-9a-f]{6}$/i.test(color));
      labels.forEach((_, at) => (colors[at] = isColor[at] ? wanted[at] : originals[place][at]));
      return [name, Object.fromEntries(labels.flatMap((label, at) => (isColor[at] ? [[label, wanted[at]]] : [])))];
    });
    state.set({ colours: Object.fromEntries(chosen.filter(([, own]) => Object.keys(own).length > 0)) });
  };
  byId("reset-colours").addEventListener("click", () => applyColourChoices({}));
  byId("save-colours").addEventListener("click", () => {
    saveFile("colours.json", new Blob([`${JSON.stringify(colourChoices(), null, 2)}\n`], { type: "application/json" }));
  });
  state.watch(["colours"], ({ colours }) => {
    for (const id of ["reset-colours", "save-colours"]) byId(id).disabled = Object.keys(colours).length === 0;
  });
}

function chooseColour(name, label, color) {
  const before = colourChoices();
  applyColourChoices({ ...before, [name]: { ...ownValue(before, name), [label]: color } });
}

// Tells apart what is painted in different colours.

function colourKey(state, { name }) {
  return JSON.stringify(ownValue(state.values.colours, name));
}
