// The measures over the strength, and the cost of mixing.

const LINE_COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"];
const MEASURE_COLORS = { adjusted_rnx: "#D55E00", other_mixing: "#009E73" };
const MIXING_COLORS = ["#0072B2", "#56B4E9", "#CC79A7"]; // of the label, or of up to three columns
const SUGGESTED = "#B0007A";

function makeChart(options) {
  const chart = Bokeh.Plotting.figure({
    tools: [], toolbar_location: null, sizing_mode: "stretch_both", min_border_left: 50, min_border_bottom: 44,
    min_border_right: 14, outline_line_color: null, ...options,
  });
  for (const axis of [...chart.xaxes, ...chart.yaxes]) {
    axis.setv({
      axis_label_text_font_style: "normal", axis_label_text_color: INK, major_label_text_color: INK,
      axis_line_color: "#8a8a8a", major_tick_line_color: "#8a8a8a", minor_tick_line_color: null,
    });
  }
  return chart;
}

function dots(chart, source, options) {
  return chart.scatter({ x: { field: "x" }, y: { field: "y" }, source, line_color: "#ffffff", size: 9, ...options });
}

function keyItem(color, text, shape = "") {
  const item = element("li");
  const swatch = element("span", "", { class: `swatch ${shape}` });
  if (color !== null) swatch.style.background = color;
  item.append(swatch, element("span", text, { class: "name", title: text }));
  return item;
}

// A click chooses the nearest dot within 30 pixels.

function onNearest(chart, dotsOf, choose) {
  chart.on_event("tap", ({ x, y }) => {
    const wide = chart.inner_width / (chart.x_range.end - chart.x_range.start);
    const high = chart.inner_height / (chart.y_range.end - chart.y_range.start);
    let best = { distance: 30, map: null };
    for (const dot of dotsOf()) {
      const distance = Math.hypot((dot.x - x) * wide, (dot.y - y) * high);
      if (distance < best.distance) best = { distance, map: dot.map };
    }
    if (best.map !== null) choose(best.map);
  });
}

function tradeOff(data, state) {
  const { facts } = data;
  const dot = (map) => ({ map, x: leastMixing(facts, map), y: facts.maps[map].measures.adjusted_rnx });
  const isDrawn = ({ x, y }) => x !== undefined && y !== undefined;
  const all = facts.lines.flatMap((line) => line.maps).map(dot).filter(isDrawn);
  const key = byId("trade-key");
  if (all.length === 0) {
    byId("trade").replaceChildren(element("p", "The mixing of the known label could not be measured."));
    return null;
  }
  const span = (values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const pad = 0.08 * (high - low) || 0.05;
    return { start: low - pad, end: high + pad };
  };
  const { Range1d, ColumnDataSource, Span } = Bokeh;
  const nameOf = (key) => facts.measures.find((measure) => measure.key === key).name;
  const chart = makeChart({
    x_range: new Range1d(span(all.map(({ x }) => x))), y_range: new Range1d(span(all.map(({ y }) => y))),
    x_axis_label: `${facts.targets.length > 1 ? "mixing of the least mixed column" : nameOf("mixing")} (1: as random labels)`, y_axis_label: nameOf("adjusted_rnx"),
  });
  const target = new Span({ dimension: "height", line_dash: "dashed", line_color: SUGGESTED, line_alpha: 0.7 });
  chart.add_layout(target);
  facts.lines.forEach((line, place) => {
    const found = line.maps.map(dot).filter(isDrawn);
    const source = new ColumnDataSource({ data: { x: found.map(({ x }) => x), y: found.map(({ y }) => y) } });
    const alone = facts.reference === line.maps[0] && line.maps.length === 1;
    const color = alone ? INK : LINE_COLORS[place % LINE_COLORS.length];
    if (found.length > 1) {
      chart.line({ x: { field: "x" }, y: { field: "y" }, source, line_color: color, line_width: 1.5, line_alpha: 0.5 });
    }
    dots(chart, source, { fill_color: color, size: alone ? 12 : 9 });
    key.append(keyItem(color, line.title));
  });
  const mark = (options) => {
    const source = new ColumnDataSource({ data: { x: [], y: [] } });
    dots(chart, source, { fill_color: null, ...options });
    return (map) => {
      const place = map === null ? {} : dot(map);
      source.data = isDrawn(place) ? { x: [place.x], y: [place.y] } : { x: [], y: [] };
    };
  };
  const markSuggested = mark({ marker: "diamond", size: 22, line_color: SUGGESTED, line_width: 2.5 });
  const markCurrent = mark({ size: 17, line_color: INK, line_width: 2.5 });
  key.append(keyItem(SUGGESTED, "suggested", "diamond"), keyItem(null, "shown on the right", "ring"));
  state.watch(["map"], ({ map }) => markCurrent(map));
  state.watch(["suggested", "targets"], ({ suggested, targets }) => {
    markSuggested(suggested);
    target.location = targets[0];
    target.visible = targets.every((each) => each === targets[0]);
  });
  onNearest(chart, () => all, (map) => state.set({ map }));
  return chart;
}

// The measures of the current line. Strengths that are not single numbers (one per label) are drawn
// at equal distances.

function course(data, state) {
  const { facts } = data;
  const { Range1d, ColumnDataSource, Span, FixedTicker } = Bokeh;
  const drawn = facts.measures.filter(({ chosen }) => chosen);
  const mixings = drawn.filter(({ key }) => !(key in MEASURE_COLORS));
  const chart = makeChart({ x_range: new Range1d({ start: 0, end: 1 }), y_range: new Range1d({ start: 0, end: 1 }) });
  const now = new Span({ dimension: "height", line_color: INK, line_width: 2, line_alpha: 0.6 });
  chart.add_layout(now);
  const sources = drawn.map((measure) => {
    const { key, name } = measure;
    const source = new ColumnDataSource({ data: { x: [], y: [] } });
    const color = MEASURE_COLORS[key] ?? MIXING_COLORS[mixings.indexOf(measure) % MIXING_COLORS.length];
    chart.line({ x: { field: "x" }, y: { field: "y" }, source, line_color: color, line_width: 1.5 });
    dots(chart, source, { fill_color: color });
    byId("course-key").append(keyItem(color, name));
    return source;
  });
  let shown = null;
  let places = [];
  const [axis] = chart.xaxes;
  const draw = (line) => {
    shown = line;
    const values = line.maps.map((map) => facts.maps[map].value);
    const isNumber = values.every((value) => value !== null);
    const isLog = isNumber && line.steering !== "strength";
    places = values.map((value, place) => (isLog ? -Math.log10(value) : isNumber ? value : place));
    const [low, high] = [Math.min(...places), Math.max(...places)];
    const pad = 0.04 * (high - low) || 0.5;
    chart.x_range.setv({ start: low - pad, end: high + pad });
    const ticks = spread(places, (high - low + 2 * pad) / 9);
    axis.ticker = new FixedTicker({ ticks: ticks.map((place) => places[place]) });
    axis.major_label_overrides = new Map(ticks.map((place) => [places[place], isNumber ? short(values[place]) : String(place + 1)]));
    axis.axis_label = !isNumber ? "setting, in the order of the table" : `${line.steering}${isLog ? " (logarithmic)" : ""}, weak to strong`;
    drawn.forEach(({ key }, index) => {
      const found = line.maps.map((map, place) => [places[place], facts.maps[map].measures[key]]).filter(([, y]) => y !== undefined);
      sources[index].data = { x: found.map(([x]) => x), y: found.map(([, y]) => y) };
    });
    const all = sources.flatMap((source) => source.data.y);
    chart.y_range.setv({ start: Math.min(0, ...all) - 0.02, end: Math.max(...all, 0.1) * 1.06 });
    byId("course-about").textContent = `${line.title}: ${line.maps.length === 1 ? "one setting" : `${line.maps.length} settings; the vertical line marks the one shown`}.`;
  };
  state.watch(["map"], ({ map }) => {
    const line = lineOf(facts, map);
    if (line !== shown) draw(line);
    now.location = places[line.maps.indexOf(map)];
  });
  const dotsOf = () =>
    sources.flatMap(({ data: { x, y } }) => x.map((each, i) => ({ x: each, y: y[i], map: shown.maps[places.indexOf(each)] })));
  onNearest(chart, dotsOf, (map) => state.set({ map }));
  return chart;
}

// Ticks whose labels do not overlap; the first and the last are always among them.

function spread(places, room) {
  const chosen = [];
  places.forEach((place, index) => {
    if (chosen.length === 0 || Math.abs(place - places[chosen.at(-1)]) >= room) chosen.push(index);
  });
  const last = places.length - 1;
  if (chosen.at(-1) !== last) {
    if (chosen.length > 1 && Math.abs(places[last] - places[chosen.at(-1)]) < room) chosen.pop();
    chosen.push(last);
  }
  return chosen;
}

function short(value) {
  return value !== 0 && value < 1e-3 ? value.toExponential().replace("e-", "e−") : String(value);
}
