// The title, the table of all settings with their measures, and how the page was made.

function drawAbout(data) {
  const { facts, n } = data;
  putText(byId("title"), facts.title);
  const finished = facts.maps.filter(({ error }) => error === null).length;
  const names = facts.known.map((place) => facts.columns[place].name);
  const all = facts.sampledFrom ?? facts.n;
  const points = n < all ? `${count(n)} of ${count(all)} points${n < facts.n ? " shown" : ""}` : counted(n, "point");
  const short = [points, facts.single ? facts.maps[0].title : counted(finished, "map"), ...(names.length > 0 ? [`factored out: ${names.join(", ")}`] : [])];
  putText(byId("about"), short.join(" · "));
  byId("about-full").replaceChildren(...aboutParts(data, finished).map((part) => element("li", `${part}.`)));
  drawMeanings(facts);
}

// All there is to say of the points shown, one sentence each.

function aboutParts(data, finished) {
  const { facts, n } = data;
  const parts = [];
  const sampled = facts.sampledFrom === null ? "" : `, a random sample of ${count(facts.sampledFrom)} (--all-points maps all of them)`;
  parts.push(`${counted(finished, "map")} of ${counted(facts.n, "point")}${sampled}`);
  if (facts.known.length > 0) parts.push(`factored out: ${facts.known.map((place) => `${facts.columns[place].name} (${facts.columns[place].kind === "numbers" ? "a number" : counted(facts.columns[place].all, "label")})`).join(", ")}`);
  if (facts.other.length > 0) parts.push(`to look for: ${facts.other.map((place) => facts.columns[place].name).join(", ")}`);
  const whole = facts.columns.every((column) => column.kind !== "labels" || column.labels.length === column.all);
  const rare = whole ? "with every label among them" : "without some rare labels";
  if (n < facts.n) {
    parts.push(`${count(n)} of ${count(facts.n)} points are shown, chosen at random ${rare}`, "counts and selections are of the points shown; measures are of all points");
  }
  if (facts.dimensions === 1) parts.push("the maps have one dimension: heights are random and have no meaning");
  return parts;
}

function drawMeanings(facts) {
  const named = new Map(); // the mixing of several columns means the same
  for (const { name, meaning } of facts.measures) named.set(meaning, [...(named.get(meaning) ?? []), name]);
  const meanings = [...named].flatMap(([meaning, names]) => [element("dt", names.join(", ")), element("dd", meaning)]);
  meanings.push(element("dt", "largest weight"),
    element("dd", "The largest share of a point's similarity on a single neighbour. Near 1, this neighbour alone decides where the point lies."));
  byId("meanings").replaceChildren(...meanings);
}

function connectSettings(data, state) {
  const { facts } = data;
  const table = byId("settings");
  const timed = facts.maps.some(({ seconds }) => seconds !== null);
  const titles = [{ name: "setting" }, ...facts.measures, { name: "points dominated by one neighbour" }, ...(timed ? [{ name: "seconds" }] : [])];
  table.tHead.insertRow().append(...titles.map(({ name, meaning = "" }) => element("th", name, { scope: "col", title: meaning })));
  const rows = new Map();
  const inLines = facts.lines.flatMap((line) => line.maps);
  const failed = facts.maps.flatMap(({ error }, map) => (error === null ? [] : [map]));
  for (const map of [...inLines, ...failed]) {
    const each = facts.maps[map];
    const row = table.tBodies[0].insertRow();
    const first = row.insertCell();
    if (each.error === null) {
      const button = element("button", each.title, { title: `Show ${each.title}` });
      on(button, "click", () => lookAtMap(state, map));
      first.append(button, element("span", "", { class: "tag" }));
      for (const measure of facts.measures) row.append(element("td", measured(each, measure)));
      row.append(element("td", count(each.dominated.count)));
      if (timed) row.append(element("td", each.seconds === null ? "–" : each.seconds.toFixed(1)));
      rows.set(map, row);
    } else {
      first.textContent = each.title;
      row.append(element("td", `failed: ${each.error}`, { colspan: facts.measures.length + 1 + timed, class: "error" }));
    }
  }
  state.watch(["panels", "focus", "suggested"], (values) => {
    const { suggested } = values;
    const { map } = focused(values);
    for (const [each, row] of rows) {
      if (each === map) row.ariaCurrent = "true";
      else row.removeAttribute("aria-current");
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
    body.insertRow().append(element("th", path.join(" · "), { scope: "row" }), element("td", typeof value === "string" ? value : JSON.stringify(value)));
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
