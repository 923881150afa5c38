// The measures of the current line. Strengths that are not single numbers (one per label) are drawn
// at equal distances.

function connectCourse(data, state) {
  const { facts } = data;
  const drawn = facts.measures.filter(({ chosen, key }) => chosen && facts.maps.some(({ measures }) => measures?.[key] !== undefined));
  let dots = [];
  const draw = (chart, width, height) => {
    const { map } = focused(state.values);
    const line = lineOf(facts, map);
    const { places, names, about } = placesOf(facts, line);
    const values = drawn.flatMap(({ key }) => line.maps.map((each) => facts.maps[each].measures[key])).filter((value) => value !== undefined);
    const [low, high] = [min(...places), max(...places)];
    const pad = 0.04 * (high - low) || 0.5;
    const y = [min(0, ...values), max(0.1, ...values) * 1.05];
    const x = [low - pad, high + pad];
    const ticks = spread(places, ((x[1] - x[0]) * 70) / width).map((place) => [places[place], names[place]]);
    const { toX, toY } = drawAxes(chart, { x, y, width, height, xTicks: ticks, yTicks: plainTicks(...y, 5), xLabel: about, yLabel: "" });
    const now = toX(places[line.maps.indexOf(map)]);
    chart.append(shape("line", { x1: now, x2: now, y1: 18, y2: height - 32, class: "now" }));
    dots = [];
    for (const { key, name, color, digits } of drawn) {
      const found = line.maps.flatMap((each, place) => {
        const value = facts.maps[each].measures[key];
        return value === undefined ? [] : [{ map: each, x: toX(places[place]), y: toY(value), title: `${facts.maps[each].title}: ${name} ${value.toFixed(digits)}` }];
      });
      drawLine(chart, found, themed(color));
      for (const dot of found) drawDot(chart, dot, themed(color));
      dots.push(...found);
    }
  };
  const again = makeChart(byId("course"), draw);
  onNearest(byId("course"), () => dots, (map) => lookAtMap(state, map));
  state.watch(["panels", "focus"], (values) => {
    const line = lineOf(facts, focused(values).map);
    byId("course-figure").hidden = line.maps.length < 2 || drawn.length === 0;
    byId("course-about").textContent = `${line.title}: ${line.maps.length} settings; the vertical line marks the one shown.`;
  });
  state.watch(["panels", "focus", "look"], again);
  state.watch(["look"], () => byId("course-key").replaceChildren(...drawn.map(({ name, color }) => keyItem(themed(color), name))));
}

function placesOf(facts, line) {
  const values = line.maps.map((map) => facts.maps[map].value);
  const isNumber = values.every((value) => value !== null);
  const isLog = isNumber && line.knob !== "strength" && values.every((value) => value > 0);
  return {
    places: values.map((value, place) => (isLog ? -Math.log10(value) : isNumber ? value : place)),
    names: values.map((value, place) => (isNumber ? short(value) : String(place + 1))),
    about: !isNumber ? "setting, in the order of the table" : `${line.knob}${isLog ? " (logarithmic)" : ""}, weak to strong →`,
  };
}

// Ticks whose labels do not overlap; the first and the last are always among them.

function spread(places, room) {
  const chosen = [];
  places.forEach((place, index) => {
    if (chosen.length === 0 || abs(place - places[chosen.at(-1)]) >= room) chosen.push(index);
  });
  const last = places.length - 1;
  if (chosen.at(-1) !== last) {
    if (chosen.length > 1 && abs(places[last] - places[chosen.at(-1)]) < room) chosen.pop();
    chosen.push(last);
  }
  return chosen;
}

function short(value) {
  return value !== 0 && value < 1e-3 ? value.toExponential().replace("e-", "e−") : String(value);
}
