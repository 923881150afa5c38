// Finding a point by its name or its row number.

function connectFind(data, state) {
  const { facts } = data;
  const find = byId("find");
  let found = { points: [], words: () => "" };
  let place = 0;
  let names = null;
  const show = () => {
    const point = found.points[place] ?? null;
    state.set({ pinned: point, point });
    if (state.values.tab !== "point") state.set({ tab: "point" });
    byId("point-hint").textContent = found.words(place);
    if (point !== null) {
      const labels = facts.columns.flatMap(({ group }, column) => (group === "column" ? [data.labelOf(column, point)] : [])).join(", ");
      say(`${data.nameOf(point)}: ${labels}. ${found.words(place)}`);
    } else if (find.value.trim() !== "") say(found.words(place));
  };
  on(find, "input", () => {
    names ??= pointNames(data);
    found = lookUp(data, names, find.value.trim());
    place = 0;
    if (find.value.trim() === "") state.set({ pinned: null, point: null });
    else show();
  });
  on(find, "keydown", (event) => {
    if (event.key !== "Enter" || found.points.length < 2) return;
    place = (place + (event.shiftKey ? found.points.length - 1 : 1)) % found.points.length;
    show();
  });
}

// The names of the points: those given, else a column in which every point has a text of its own.

function pointNames(data) {
  const { facts } = data;
  if (facts.names !== null) return facts.names;
  const columns = [...facts.columns.keys()].filter((column) => facts.columns[column].kind !== "numbers" && facts.columns[column].labels.length >= data.n);
  const texts = columns.map((column) => Array.from({ length: data.n }, (_, point) => data.labelOf(column, point)));
  return texts.find((each) => new Set(each).size === data.n) ?? [];
}

// The points that a text means, from the surest meaning to the least sure, and what to say of them.

function lookUp(data, names, wanted) {
  const { facts } = data;
  const all = (isMeant) => names.flatMap((name, point) => (isMeant(name) ? [point] : []));
  const low = wanted.toLowerCase();
  const several = (points, what) => (place) => (points.length < 2 ? "" : `${count(points.length)} ${what} “${wanted}”; this is number ${count(place + 1)} (Enter: next).`);
  const trials = [
    [(name) => name === wanted, "points are called"],
    [(name) => name.toLowerCase() === low, "points are called"],
    [(name) => name.toLowerCase().startsWith(low), "names start with"],
  ];
  if (wanted !== "") {
    for (const [isMeant, what] of trials) {
      const points = all(isMeant);
      if (points.length > 0) return { points, words: several(points, what) };
    }
  }
  const hidden = (facts.sampledFrom ?? facts.n) - data.n;
  const unsure = hidden > 0 ? ` ${counted(hidden, "point")} ${hidden === 1 ? "is" : "are"} not shown, and may have it.` : "";
  if (/^\d+$/.test(wanted)) {
    const point = data.pointOf(Number(wanted));
    if (point !== undefined) return { points: [point], words: () => "" };
    const words = Number(wanted) < facts.n ? `${rowName(facts) === "row" ? "Row" : "In the sample, row"} ${wanted} exists, but is not among the points shown.`
      : `There is no row ${wanted}: rows go from 0 to ${facts.n - 1}.${names.length > 0 ? ` No point shown has this name.${unsure}` : ""}`;
    return { points: [], words: () => words };
  }
  const words = names.length === 0 ? "The points of this page have no names; give a row number." : `No point shown has a name that starts like this.${unsure}`;
  return { points: [], words: () => words };
}
