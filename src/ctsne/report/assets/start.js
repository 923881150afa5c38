// Connects the parts of the page.

function connectSettingsControls(data, state) {
  const { facts } = data;
  const [select, slider, play] = [byId("line"), byId("strength"), byId("play")];
  facts.lines.forEach((line, place) => select.append(element("option", line.title, { value: place })));
  byId("line-field").hidden = facts.lines.length === 1;
  const place = ({ map }) => lineOf(facts, map).maps.indexOf(map);
  select.addEventListener("change", () => {
    const line = facts.lines[Number(select.value)];
    // At the same share of the slider as before.
    const now = Number(slider.value) / Math.max(1, Number(slider.max));
    state.set({ map: line.maps[Math.round(now * (line.maps.length - 1))] });
  });
  slider.addEventListener("input", () => {
    const { maps } = lineOf(facts, state.values.map);
    state.set({ map: maps[Number(slider.value)] });
  });
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  };
  const advance = () => {
    const { maps } = lineOf(facts, state.values.map);
    const next = maps[place(state.values) + 1];
    if (next === undefined) stop();
    else state.set({ map: next });
  };
  play.addEventListener("click", () => {
    if (timer !== null) return stop();
    const { maps } = lineOf(facts, state.values.map);
    if (place(state.values) === maps.length - 1) state.set({ map: maps[0] });
    timer = setInterval(advance, 1100);
    play.textContent = "Pause";
    return play.setAttribute("aria-pressed", "true");
  });
  state.watch(["map"], (values) => {
    const line = lineOf(facts, values.map);
    const { setting, title } = facts.maps[values.map];
    select.value = facts.lines.indexOf(line);
    slider.max = line.maps.length - 1;
    slider.value = place(values);
    slider.disabled = line.maps.length === 1;
    play.disabled = line.maps.length === 1;
    slider.setAttribute("aria-valuetext", setting || title);
    byId("setting").textContent = setting || title;
  });
}

function connectSuggestion(data, state) {
  const { facts } = data;
  const share = byId("share");
  const apart = facts.measures.find(({ key }) => key === "other_mixing");
  const judge = apart === undefined ? "nothing merges" : `“${apart.name}” stays low and nothing merges`;
  share.value = state.values.share;
  byId("suggestion").hidden = facts.choices.length === 0;
  share.addEventListener("input", () => {
    const value = Number(share.value);
    if (share.value === "" || value < 0 || value > 1) return;
    const { map: suggested, reason } = suggest(facts, value);
    state.set({ share: value, suggested, reason });
  });
  byId("go").addEventListener("click", () => state.set({ map: state.values.suggested }));
  state.watch(["suggested", "share"], ({ suggested, reason, share: wanted }) => {
    byId("go").disabled = suggested === null;
    const advice = byId("start-not-rule");
    advice.hidden = suggested === null || facts.maps[suggested].plain;
    advice.textContent = `${wanted} is a starting point, not a rule: try stronger settings as long as ${judge} that should stay apart.`;
    const words = byId("suggested");
    if (suggested === null) {
      words.textContent = `${reason}.`;
      return;
    }
    const { title, measures } = facts.maps[suggested];
    words.replaceChildren(element("strong", title), ` (${measures.mixing.toFixed(2)}): ${reason}.`);
  });
}

async function start() {
  const data = readData();
  const { facts } = data;
  const state = makeState(facts);
  document.body.classList.toggle("placed", facts.placed !== undefined);
  drawAbout(data);
  drawProvenance(data);
  const maps = connectMaps(data, state);
  connectTitles(data, state);
  connectLegend(data, state);
  connectSelection(data, state);
  connectPoint(data, state);
  connectDominated(data, state);
  connectSettingsControls(data, state);
  connectSettings(data, state);
  connectSuggestion(data, state);
  connectCommand(data, state);
  const right = ["right", maps.right.plot];
  const plots = facts.placed !== undefined ? [right] : [["left", maps.left.plot], right, ["course", course(data, state)], ["trade", tradeOff(data, state)]];
  const views = [];
  for (const [id, plot] of plots) {
    if (plot === null) continue;
    const view = await Bokeh.Plotting.show(plot, byId(id));
    view.canvas.events_el.removeAttribute("tabindex"); // no keys work there, so the Tab key skips it
    views.push([id, view]);
  }
  connectPrinting(views);
  // A read-only view of the state, for tests and for the console.
  window.ctsnePage = Object.freeze({
    facts: () => structuredClone(facts),
    state: () => ({ ...structuredClone({ ...state.values, selected: Array.from(state.values.selected) }), moving: maps.right.moving() }),
    rows: () => Array.from(data.rows),
    positions: (side) => structuredClone(maps[side].positions()),
    highlighted: (side) => maps[side].highlighted(),
    view: (side) => maps[side].view(),
    suggest: (share) => suggest(facts, share).map,
  });
}

start();
