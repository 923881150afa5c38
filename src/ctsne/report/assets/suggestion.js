// The suggestion for the mixing that the reader asks for, and what to do next with the map in focus.

const fitted = new Map(); // what watches the room of a line

function connectAdvice(data, state) {
  const { facts } = data;
  const line = byId("advice");
  line.hidden = facts.maps.every(({ advice }) => advice === "");
  state.watch(["panels", "focus"], (values) => {
    const { title, advice } = facts.maps[focused(values).map];
    const text = advice || "Nothing is factored out.";
    const whole = facts.single ? text : `${title}: ${text}`;
    fitParts(line, whole, whole.split(/(?<=[.;]) (?=\S)/u), (part) => part);
    byId("why-apart").textContent = whole;
  });
}

// As many sentences as there is room for in one line; the menu beside it has all of them.

function fitParts(line, whole, parts, shownAs) {
  const draw = () => {
    for (let many = parts.length; many > 0; many--) {
      line.replaceChildren(shownAs(parts.slice(0, many).join(" ").replace(/;$/, ".")));
      if (line.scrollWidth <= line.clientWidth) return;
    }
  };
  line.title = whole;
  fitted.get(line)?.disconnect();
  fitted.set(line, new ResizeObserver(draw));
  fitted.get(line).observe(line.parentElement);
  fitted.get(line).observe(line.nextElementSibling); // a button that comes and goes
  draw();
}

function connectSuggestion(data, state) {
  const { facts } = data;
  byId("suggestion").hidden = facts.suggestions === null;
  byId("unmeasured").hidden = facts.suggestions !== null;
  if (facts.suggestions === null) return;
  const inputs = targetInputs(data, state.values.targets);
  inputs.forEach((input) => on(input, "input", () => {
    const targets = inputs.map(({ value }) => Number(value));
    if (inputs.some(({ value }) => value === "") || targets.some((value) => value < 0 || value > 1)) return;
    const { map: suggested, reason } = suggest(facts, targets);
    state.set({ targets, suggested, reason });
  }));
  on(byId("go"), "click", () => showMap(state, state.values.suggested));
  state.watch(["suggested", "targets"], ({ suggested, reason }) => {
    const own = facts.targets.map(([key]) => facts.maps[suggested].measures[key].toFixed(2)).join(" and ");
    const line = byId("suggested");
    const { title } = facts.maps[suggested];
    fitParts(line, `${title} (${own}): ${reason}.`, `${reason}.`.split(/(?<=;) /), (part) => {
      const shown = document.createDocumentFragment();
      shown.append(element("strong", title), ` (${own}): ${part}`);
      return shown;
    });
    byId("why-reason").textContent = `${reason[0].toUpperCase()}${reason.slice(1)}.`;
    // Stronger settings are advised only where there are some.
    const isMost = !facts.maps.some((_, map) => leastMixing(facts, map) > leastMixing(facts, suggested));
    const further = isMost ? "no setting of this page mixes further" : "try stronger settings as long as nothing merges that should stay apart";
    byId("why-advice").textContent = `The target is a starting point, not a rule: ${further}.`;
  });
  state.watch(["panels", "suggested", "focus"], (values) => {
    byId("go").hidden = focused(values).map === values.suggested;
  });
}

// One field for the label, or one for each column.

function targetInputs(data, targets) {
  const { facts } = data;
  const first = byId("share");
  const nameOf = (key) => facts.measures.find((measure) => measure.key === key).name;
  if (facts.targets.length === 1) byId("target-name").textContent = `${nameOf(facts.targets[0][0])} at least`;
  else byId("target-name").textContent = "mixing at least";
  return facts.targets.map(([key], place) => {
    let input = first;
    if (facts.targets.length > 1) {
      const name = nameOf(key);
      if (place > 0) {
        input = first.cloneNode();
        input.id = `share-${place}`;
        byId("target-field").append(input);
      }
      input.ariaLabel = name;
      input.title = name;
      input.after(` ${name.replace(/^mixing of /, "of ")} `);
    }
    input.value = targets[place];
    return input;
  });
}
