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
  const several = facts.targets.length > 1;
  const inputs = targetInputs(data, state.values.targets);
  const apart = facts.measures.find(({ key }) => key === "other_mixing");
  const judge = apart === undefined ? "nothing merges" : `“${apart.name}” stays low and nothing merges`;
  byId("suggestion").hidden = facts.choices.length === 0;
  inputs.forEach((input) => input.addEventListener("input", () => {
    const targets = inputs.map(({ value }) => Number(value));
    if (inputs.some(({ value }) => value === "") || targets.some((value) => value < 0 || value > 1)) return;
    const { map: suggested, reason } = suggest(facts, targets);
    state.set({ targets, suggested, reason });
  }));
  byId("go").addEventListener("click", () => state.set({ map: state.values.suggested }));
  state.watch(["suggested", "targets"], ({ suggested, reason, targets }) => {
    byId("go").disabled = suggested === null;
    const advice = byId("start-not-rule");
    advice.hidden = suggested === null || facts.maps[suggested].plain;
    advice.textContent = `${several ? "These targets are" : `${targets[0]} is`} a starting point, not a rule: try stronger settings as long as ${judge} that should stay apart.`;
    const words = byId("suggested");
    if (suggested === null) {
      words.textContent = `${reason}.`;
      return;
    }
    const { title, measures } = facts.maps[suggested];
    const reached = facts.targets.map(([key]) => measures[key].toFixed(2)).join(" and ");
    words.replaceChildren(element("strong", title), ` (${reached}): ${reason}.`);
  });
}

// One field for the label, or one for each column.

function targetInputs(data, targets) {
  const { facts } = data;
  const first = byId("share");
  return facts.targets.map(([key], place) => {
    let input = first;
    if (facts.targets.length > 1) {
      const { name } = facts.measures.find((measure) => measure.key === key);
      if (place > 0) {
        input = first.cloneNode();
        input.id = `share-${place}`;
        byId("suggested").before(input);
      }
      input.setAttribute("aria-label", name);
      input.title = name;
      input.after(` ${name.replace(/^mixing of /, "of ")} `);
    }
    input.value = targets[place];
    return input;
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
    suggest: (share) => suggest(facts, facts.targets.map((_, place) => (Array.isArray(share) ? share[place] : share))).map,
  });
}

start();
