// Connects the parts of the page.

function start() {
  const data = readData();
  const { facts } = data;
  const state = makeState(facts);
  addKeptColumn(data, state);
  keepView(data, state);
  document.body.classList.toggle("alone", facts.single);
  const colouring = makeColouring(data);
  connectLook(state);
  connectColours(data, state);
  connectFilter(data, state);
  connectSheets();
  drawAbout(data);
  drawProvenance(data);
  const maps = connectPanels(data, state, colouring);
  connectSplit(data, state, maps.panels);
  connectLegend(data, state, colouring);
  connectSelection(data, state);
  connectFacets(data, state);
  connectDistinguishing(data, state);
  connectKept(data, state);
  connectFeatures(data, state);
  connectPoint(data, state);
  connectNeighbours(data, state, maps.panels);
  connectControls(data, state);
  connectSaving(data, state, colouring, maps.panels);
  connectPrinting(state, maps.panels);
  connectDominated(data, state);
  connectCommand(data, state);
  connectAdvice(data, state);
  if (!facts.single) {
    connectTradeOff(data, state);
    connectCourse(data, state);
    connectSettings(data, state);
    connectSuggestion(data, state);
  }
  connectTabs(facts, state);
  connectUndo(state);
  connectAddress(state);
  connectWidget(data, state);
  const panelOf = (side) => maps.panels[SIDES.indexOf(side)];
  // A read-only view of the state, for tests and for the console.
  const { values } = state;
  const ofPanels = ["positions", "lit", "drawn", "frames", "tiles", "links", "named"];
  window.ctsnePage = Object.freeze({
    ...Object.fromEntries(ofPanels.map((name) => [name, (side) => structuredClone(panelOf(side)[name]())])),
    facts: () => structuredClone(facts),
    state: () => ({
      ...structuredClone({ ...values, selected: Array.from(values.selected), kept: values.kept.map(({ name }) => name) }),
      moving: maps.panels.some((panel) => panel.moving()),
    }),
    rows: () => Array.from(data.rows),
    neighbors: () => structuredClone(data.neighbors()),
    highlighted: () => maps.highlighted(),
    view: () => ({ ...values.view }),
    suggest: (share) => suggest(facts, facts.targets.map((_, place) => (Array.isArray(share) ? share[place] : share))).map,
    colours: () => structuredClone(values.colours),
    paint: (choices) => chooseColours(data, state, choices),
    contours: (side) => panelOf(side).contoured().map(({ code, path }) => ({ code, path })),
  });
}

start();
