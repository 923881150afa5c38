// A single point: its facts, the search for it, and the points dominated by one neighbour.

const DIAGNOSTICS = [["perplexity", "perplexity", 1], ["other_share", "weight on other labels", 2], ["largest_weight", "largest weight", 2]];

// Name, labels and diagnostics in the map on the right, as pairs of texts.

function factsOf(data, point, map) {
  const { facts } = data;
  const pairs = facts.names === null ? [] : [["name", facts.names[point]]];
  pairs.push(["row", String(data.rows[point])]);
  facts.columns.forEach(({ name }, column) => pairs.push([name, data.labelOf(column, point)]));
  for (const [key, name, digits] of DIAGNOSTICS) {
    const value = data.diagnostic(map, key, point);
    if (value !== null) pairs.push([name, value.toFixed(digits)]);
  }
  return pairs;
}

function drawFacts(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([name, text]) => [
    element("dt", name, { title: name, dir: "auto" }), element("dd", text, { title: text, dir: "auto" }),
  ]));
}

function connectPoint(data, state) {
  const { facts } = data;
  state.watch(["point", "map"], ({ point, map }) => {
    byId("point-hint").textContent = point === null ? "Hover over a point, or search for one." : "";
    drawFacts(byId("point-facts"), point === null ? [] : factsOf(data, point, map));
  });
  const find = byId("find");
  find.addEventListener("input", () => {
    const wanted = find.value.trim();
    const point = wanted === "" ? null : lookUp(data, wanted);
    state.set({ pinned: point, point });
    if (wanted !== "" && point === null) byId("point-hint").textContent = "No point shown has this name or row number.";
    else if (point !== null) say(`${data.nameOf(point)}: ${facts.columns.map((_, column) => data.labelOf(column, point)).join(", ")}`);
  });
  connectTip(data, state);
}

function lookUp(data, wanted) {
  const { names } = data.facts;
  if (names !== null) {
    const exact = names.indexOf(wanted);
    const found = exact >= 0 ? exact : names.findIndex((name) => name.toLowerCase().startsWith(wanted.toLowerCase()));
    if (found >= 0) return found;
  }
  return /^\d+$/.test(wanted) ? (data.pointOf(Number(wanted)) ?? null) : null;
}

// The same next to the pointer, up to a maximum length.

const MOST_FACTS = 16;

function connectTip(data, state) {
  const tip = byId("tip");
  let over = false;
  for (const id of ["left", "right"]) {
    byId(id).addEventListener("pointermove", ({ clientX, clientY }) => {
      over = true;
      tip.hidden = state.values.point === null;
      tip.style.left = `${Math.max(0, Math.min(clientX + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
      const below = clientY + 16;
      tip.style.top = `${below + tip.offsetHeight < window.innerHeight ? below : Math.max(0, clientY - 12 - tip.offsetHeight)}px`;
    });
    byId(id).addEventListener("pointerleave", () => {
      over = false;
      tip.hidden = true;
    });
  }
  state.watch(["point", "map"], ({ point, map }) => {
    tip.hidden = point === null || !over;
    if (point === null) return;
    const pairs = factsOf(data, point, map);
    const more = pairs.length - MOST_FACTS;
    drawFacts(tip.firstElementChild, more > 0 ? [...pairs.slice(0, MOST_FACTS), ["…", `and ${more} more`]] : pairs);
  });
}

function connectDominated(data, state) {
  const { facts } = data;
  const lookAt = (changes) => {
    state.set(changes);
    byId("maps").scrollIntoView({ block: "nearest" });
  };
  state.watch(["map"], ({ map }) => {
    const { title, dominated } = facts.maps[map];
    const worst = dominated.worst.map(([row, weight]) => ({ point: data.pointOf(row), weight })).filter(({ point }) => point !== undefined);
    const share = `${count(dominated.count)} of ${count(facts.n)} points`;
    byId("dominated-about").textContent = dominated.count === 0
      ? `${title}: no point has more than half of its similarity on a single neighbour.`
      : `${title}: ${share} ${dominated.count === 1 ? "has" : "have"} more than half of ${dominated.count === 1 ? "its" : "their"} similarity on a single neighbour, which may be the only reason for ${dominated.count === 1 ? "its" : "their"} position.` +
        (dominated.count > worst.length ? ` The ${count(worst.length)} worst:` : "");
    byId("dominated-select").hidden = worst.length === 0;
    byId("dominated-select").onclick = () => lookAt({ selected: worst.map(({ point }) => point), pressed: new Set() });
    byId("dominated").replaceChildren(...worst.map(({ point, weight }) => {
      const label = facts.known.map((column) => data.labelOf(column, point)).join(" | ");
      const button = element("button", `${data.nameOf(point)}`, { type: "button", title: `${data.nameOf(point)}, ${label}` });
      button.addEventListener("click", () => lookAt({ pinned: point, point }));
      const item = element("li");
      item.append(button, element("span", weight.toFixed(2), { class: "count" }));
      return item;
    }));
  });
}
