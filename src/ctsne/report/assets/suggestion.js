// The suggestion in words, for the mixing that the reader asks for.

// One line (`before`, the name of `map`, `after`), why, and what to do next. Nothing said for one
// reason may contradict another part: stronger settings are advised only where there are some.

function suggestionWords(facts, targets, { map, reason, nearest, reached }) {
  const several = targets.length > 1;
  const names = facts.targets.map(([key]) => facts.measures.find((measure) => measure.key === key).name.replace(/^mixing of /, ""));
  const values = (numbers) => numbers.map((value) => value.toFixed(2)).join(" and ");
  if (reason === "none") {
    return {
      before: `no setting mixes that far: the ${several ? "nearest" : "most"} is ${values(reached)}, with `, map: nearest, after: ".",
      why: `None of the ${counted(facts.choices.flat(2).length, "map")} of this page reaches ${several ? "these targets" : `a mixing of ${targets[0]}`}.`,
      advice: "Take this map if nothing merges in it that should stay apart, or ask for less mixing.",
    };
  }
  const own = values(facts.targets.map(([key]) => facts.maps[map].measures[key]));
  if (reason === "plain") {
    return {
      before: "", map, after: ` (${own}) already mixes that far, so there is nothing to factor out.`,
      why: `Points of different ${names.join(" and ")} are neighbours here without any factoring out.`,
      advice: "If they are still apart where they should not be, ask for more mixing.",
    };
  }
  const apart = facts.measures.find(({ key }) => key === "other_mixing");
  const label = facts.other === null ? "the label to look for" : facts.columns[facts.other].name;
  const unmerged = `${apart === undefined ? "nothing" : `“${apart.name}” stays low and nothing`} merges that should stay apart`;
  const isMost = facts.choices.flat(2).every((each) => leastMixing(facts, each) <= leastMixing(facts, map));
  const start = `${several ? "These targets are" : `${targets[0]} is`} a starting point, not a rule`;
  const further = isMost ? `${start}; no setting of this page mixes further.` : `${start}: try stronger settings as long as ${unmerged}.`;
  if (reason === "purest") {
    return {
      before: "", map, after: ` (${own}) keeps ${label} purest among the maps that reach it.`,
      why: `Of the maps that reach the target, and that no other map beats in both mixing and neighbours kept, it keeps ${label} purest; of equals, it is the weakest.`,
      advice: further,
    };
  }
  const methods = facts.choices.length > 1;
  return {
    before: "", map, after: ` (${own}) is the weakest setting that reaches it.`,
    why: `It is the weakest setting that reaches the target${methods ? "; of all methods that reach it, this one keeps most neighbours" : ""}.`,
    advice: further,
  };
}

function connectSuggestion(data, state) {
  const { facts } = data;
  byId("suggestion").hidden = facts.choices.length === 0;
  byId("unmeasured").hidden = facts.choices.length > 0;
  if (facts.choices.length === 0) return;
  const inputs = targetInputs(data, state.values.targets);
  inputs.forEach((input) => input.addEventListener("input", () => {
    const targets = inputs.map(({ value }) => Number(value));
    if (inputs.some(({ value }) => value === "") || targets.some((value) => value < 0 || value > 1)) return;
    const { map: suggested, reason } = suggest(facts, targets);
    state.set({ targets, suggested, reason });
  }));
  let offered = null;
  byId("go").addEventListener("click", () => showMap(state, offered));
  state.watch(["suggested", "targets"], ({ targets }) => {
    const { before, map, after, why, advice } = suggestionWords(facts, targets, suggest(facts, targets));
    offered = map;
    const line = byId("suggested");
    line.replaceChildren(before, element("strong", facts.maps[map].title), after);
    line.title = line.textContent;
    byId("why-reason").textContent = why;
    byId("why-advice").textContent = advice;
  });
  state.watch(["panels", "suggested", "targets", "focus"], (values) => {
    byId("go").hidden = focused(values).map === offered;
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
      input.setAttribute("aria-label", name);
      input.title = name;
      input.after(` ${name.replace(/^mixing of /, "of ")} `);
    }
    input.value = targets[place];
    return input;
  });
}
