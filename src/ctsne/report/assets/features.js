// A search over everything that a map can be coloured by: features, columns and diagnostics.

const MOST_FOUND = 12;

function connectFeatures(data, state) {
  const { facts } = data;
  const [input, list] = [byId("feature"), byId("feature-list")];
  const nameOf = (key) => (typeof key === "number" ? facts.columns[key].name : facts.diagnostics.find((each) => each.key === key).name);
  const features = facts.columns.filter(({ group }) => group === "gene").length;
  input.placeholder = features > 0 ? `Search ${counted(features, "feature")}` : "Search columns";
  input.ariaLabel = `${input.placeholder} to colour by`;
  byId("seek").hidden = coloursOf(facts, state.values.panels[0].map).length < 2;
  let [found, active] = [[], 0];
  const close = () => {
    list.hidden = true;
    input.ariaExpanded = "false";
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (place) => {
    active = place;
    Array.from(list.querySelectorAll("[role=option]")).forEach((item, at) => (item.ariaSelected = at === active));
    if (found.length > 0) input.setAttribute("aria-activedescendant", `feature-${active}`);
  };
  const choose = (place) => {
    showColumn(state, found[place], state.values.focus);
    input.value = "";
    close();
    say(`Coloured by ${nameOf(found[place])}`);
  };
  const open = () => {
    const all = searchNames(coloursOf(facts, focused(state.values).map), nameOf, input.value);
    found = all.slice(0, MOST_FOUND);
    const shorten = longNames(found.map(nameOf));
    list.replaceChildren(...found.map((key, place) => {
      const item = element("li", "", { role: "option", id: `feature-${place}`, "aria-label": nameOf(key) });
      item.append(shorten(nameOf(key)));
      on(item, "pointerdown", (event) => {
        event.preventDefault(); // the focus stays where it is
        choose(place);
      });
      return item;
    }));
    const rest = all.length - found.length;
    if (rest > 0 || found.length === 0) list.append(element("li", rest > 0 ? `and ${count(rest)} more` : "nothing has this name", { class: "rest", role: "presentation" }));
    list.hidden = false;
    input.ariaExpanded = "true";
    mark(0);
  };
  on(input, "input", open);
  on(input, "focus", open);
  on(input, "click", open);
  on(input, "blur", close);
  on(input, "keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) open();
      else if (found.length > 0) mark((active + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length);
    } else if (event.key === "Enter" && !list.hidden && found.length > 0) choose(active);
    else if (event.key === "Escape" && !list.hidden) {
      input.value = "";
      close();
    }
    else return;
    event.preventDefault();
  });
}

// The names that hold a text, the surest first: those that are it, start with it, have a word that does.

function searchNames(keys, nameOf, text) {
  const wanted = text.trim().toLowerCase();
  const ranks = [(name) => name === wanted, (name) => name.startsWith(wanted), (name) => name.split(/[\s_.:/-]/).some((word) => word.startsWith(wanted)), (name) => name.includes(wanted)];
  const rank = (name) => ranks.findIndex((fits) => fits(name));
  return keys.map((key, place) => ({ key, place, rank: rank(nameOf(key).toLowerCase()) })).filter((each) => each.rank >= 0)
    .sort((a, b) => a.rank - b.rank || a.place - b.place).map(({ key }) => key);
}
