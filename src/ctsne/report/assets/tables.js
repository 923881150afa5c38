// The title, the table of all settings with their measures, and how the page was made.

function drawAbout(data) {
  const { facts, n } = data;
  byId("title").textContent = facts.title;
  const finished = facts.maps.filter(({ error }) => error === null).length;
  const factored = facts.known.map((place) => `${facts.columns[place].name} (${count(facts.columns[place].all)} labels)`).join(", ");
  const sampled = facts.sampledFrom === null ? "" : `, a random sample of ${count(facts.sampledFrom)} (--all-points maps all of them)`;
  const { placed } = facts;
  const parts = placed !== undefined ? [
    `${count(placed.points)} points placed in a map of ${count(placed.reference)} (grey)`,
    placed.far === 0 ? "none is far from the reference"
      : `${count(placed.far)} are far from the reference: none of its points is closer than ${number(placed.limit)}, so their places mean little`,
  ] : [`${count(finished)} ${finished === 1 ? "map" : "maps"} of ${count(facts.n)} points${sampled}`, `factored out: ${factored}`];
  const whole = facts.columns.every((column) => column.kind !== "labels" || column.labels.length === column.all);
  const rare = whole ? "with every label among them" : "without some rare labels";
  if (n < facts.n) parts.push(`${count(n)} of ${count(facts.n)} points are shown, chosen at random ${rare}; measures are not limited to those shown`);
  if (facts.dimensions === 1) parts.push("the maps have one dimension: heights are random and have no meaning");
  byId("about").textContent = `${parts.join(" · ")}.`;
  const named = new Map(); // the mixing of several columns means the same
  for (const { name, meaning } of facts.measures) named.set(meaning, [...(named.get(meaning) ?? []), name]);
  const meanings = [...named].flatMap(([meaning, names]) => [element("dt", names.join(", ")), element("dd", meaning)]);
  if (placed === undefined) {
    meanings.push(element("dt", "largest weight"),
      element("dd", "The largest share of a point's similarity on a single neighbour. Near 1, this neighbour alone decides where the point lies."));
  } else {
    meanings.push(element("dt", "distance to map"),
      element("dd", `How far a placed point is, in the data, from the nearest of the points that the map was made of. Beyond ${number(placed.limit)} it is called far.`));
  }
  byId("meanings").replaceChildren(...meanings);
}

function connectTitles(data, state) {
  const { facts } = data;
  const main = facts.measures.filter(({ chosen }) => chosen);
  const line = (map) => main.map((measure) => `${measure.name} ${measured(facts.maps[map], measure)}`).join(" · ");
  const { reference } = facts;
  byId("left-title").textContent = `${facts.maps[reference].title} (for comparison)`;
  byId("left-measures").textContent = line(reference);
  let first = true;
  state.watch(["map"], ({ map }) => {
    byId("right-title").textContent = facts.maps[map].title;
    byId("right-measures").textContent = line(map);
    if (!first) say(`${facts.maps[map].title}: ${line(map)}`);
    first = false;
  });
}

function connectSettings(data, state) {
  const { facts } = data;
  const table = byId("settings");
  const head = element("tr");
  head.append(element("th", "setting", { scope: "col" }));
  for (const { name, meaning } of facts.measures) head.append(element("th", name, { scope: "col", title: meaning }));
  head.append(element("th", "points dominated by one neighbour", { scope: "col" }));
  const timed = facts.maps.some(({ seconds }) => seconds !== null);
  if (timed) head.append(element("th", "seconds", { scope: "col" }));
  table.tHead.append(head);
  const rows = new Map();
  const inLines = facts.lines.flatMap((line) => line.maps);
  const failed = facts.maps.flatMap(({ error }, map) => (error === null ? [] : [map]));
  for (const map of [...inLines, ...failed]) {
    const each = facts.maps[map];
    const row = element("tr");
    const first = element("td");
    row.append(first);
    if (each.error === null) {
      const button = element("button", each.title, { type: "button", title: `Show ${each.title}` });
      button.addEventListener("click", () => state.set({ map }));
      first.append(button, element("span", "", { class: "tag" }));
      for (const measure of facts.measures) row.append(element("td", measured(each, measure)));
      row.append(element("td", count(each.dominated.count)));
      if (timed) row.append(element("td", each.seconds === null ? "–" : each.seconds.toFixed(1)));
      rows.set(map, row);
    } else {
      first.textContent = each.title;
      row.append(element("td", `failed: ${each.error}`, { colspan: facts.measures.length + 1 + timed, class: "error" }));
    }
    table.tBodies[0].append(row);
  }
  state.watch(["map", "suggested"], ({ map, suggested }) => {
    for (const [each, row] of rows) {
      row.toggleAttribute("aria-current", each === map);
      if (each === map) row.setAttribute("aria-current", "true");
      row.querySelector(".tag").textContent = each === suggested ? "suggested" : "";
    }
  });
}

function drawProvenance(data) {
  const body = byId("provenance").tBodies[0];
  const add = (path, value) => {
    if (value === null) return;
    if (typeof value === "object" && Object.keys(value).length > 0 && !isPlainList(value)) {
      for (const [key, inner] of Object.entries(value)) add([...path, Array.isArray(value) ? String(Number(key) + 1) : key], inner);
      return;
    }
    const row = element("tr");
    row.append(element("th", path.join(" · "), { scope: "row" }), element("td", typeof value === "string" ? value : JSON.stringify(value)));
    body.append(row);
  };
  add([], data.provenance);
  const { command } = data.provenance;
  byId("made-by").textContent = command ?? "";
  byId("made-by-line").hidden = command === undefined;
  if (Object.keys(data.provenance).length === 0) {
    body.rows[0].replaceChildren(element("td", "Settings and versions were not recorded."));
  }
}

function isPlainList(value) {
  return Array.isArray(value) && value.every((each) => each === null || typeof each !== "object");
}
