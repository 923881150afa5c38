// The row of controls: arrangement, method and strength, dragging, zoom.

function connectControls(data, state) {
  const { facts } = data;
  const reference = facts.maps[facts.reference].title;
  for (const button of byId("presets").children) {
    const { preset } = button.dataset;
    if (preset === "maps") {
      button.textContent = facts.maps[facts.reference].plain ? "t-SNE and chosen map" : "Two maps";
      button.title = `${reference} next to the chosen map, in one colour; the slider moves the panel used last`;
    }
    on(button, "click", () => arrange(facts, state, preset));
    state.watch(["preset"], (values) => (button.ariaPressed = values.preset === preset));
  }
  for (const button of byId("drag").children) {
    const { drag } = button.dataset;
    on(button, "click", () => state.set({ drag }));
    state.watch(["drag"], (values) => (button.ariaPressed = values.drag === drag));
  }
  on(byId("zoom-in"), "click", () => state.set({ view: zoomed(state.values.view, 1.5) }));
  on(byId("zoom-out"), "click", () => state.set({ view: zoomed(state.values.view, 1 / 1.5) }));
  on(byId("zoom-reset"), "click", () => state.set({ view: WHOLE }));
  for (const button of document.querySelectorAll("[data-goto]")) {
    on(button, "click", () => byId(button.dataset.goto).scrollIntoView());
  }
  connectStrength(data, state);
  connectTrust(facts, state);
}

// A filter: points that are trusted less are faded. It is there if a map has trust.

function connectTrust(facts, state) {
  const slider = byId("least");
  const known = facts.diagnostics.some(({ key }) => key === "trust");
  for (const part of [slider.parentElement, slider.parentElement.previousElementSibling]) part.hidden = !known;
  on(slider, "input", () => state.set({ least: Number(slider.value) }));
  state.watch(["least"], ({ least }) => {
    slider.value = least;
    byId("least-said").textContent = least === 0 ? "off" : least.toFixed(2);
    slider.ariaValueText = byId("least-said").textContent;
  });
}

function connectStrength(data, state) {
  const { facts } = data;
  const [select, slider, play] = [byId("line"), byId("strength"), byId("play")];
  facts.lines.forEach((line, place) => select.append(element("option", line.title, { value: place })));
  select.hidden = facts.lines.length === 1;
  const now = () => focused(state.values).map;
  const place = () => lineOf(facts, now()).maps.indexOf(now());
  on(select, "change", () => {
    const line = facts.lines[Number(select.value)];
    // At the same share of the slider as before.
    const share = Number(slider.value) / max(1, Number(slider.max));
    showMap(state, line.maps[round(share * (line.maps.length - 1))]);
  });
  on(slider, "input", () => showMap(state, lineOf(facts, now()).maps[Number(slider.value)]));
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
    play.ariaPressed = "false";
  };
  const advance = () => {
    const next = lineOf(facts, now()).maps[place() + 1];
    if (next === undefined) stop();
    else showMap(state, next);
  };
  on(play, "click", () => {
    if (timer !== null) return stop();
    const { maps } = lineOf(facts, now());
    if (place() === maps.length - 1) showMap(state, maps[0]);
    timer = setInterval(advance, 1100);
    play.textContent = "Pause";
    play.ariaPressed = "true";
  });
  state.watch(["panels", "focus"], (values) => {
    const { map } = focused(values);
    const line = lineOf(facts, map);
    const { setting, title } = facts.maps[map];
    select.value = facts.lines.indexOf(line);
    select.title = line.title;
    slider.max = line.maps.length - 1;
    slider.value = line.maps.indexOf(map);
    slider.disabled = line.maps.length === 1;
    play.disabled = line.maps.length === 1;
    slider.ariaValueText = setting || title;
    putText(byId("setting"), setting || title);
  });
}

// Maps that were changed from elsewhere on the page are brought into sight.

function lookAtMaps({ values }) {
  if (byId("screen").offsetHeight <= window.innerHeight + 1) window.scrollTo(0, 0);
  else byId(`panel-${SIDES[values.focus]}`).scrollIntoView({ block: "nearest" });
}

function lookAtMap(state, map) {
  showMap(state, map);
  lookAtMaps(state);
}
