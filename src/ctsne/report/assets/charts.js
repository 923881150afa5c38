// Small charts as SVG: axes, dots to click, and the cost of mixing.

const LEAST_SPAN = 0.2; // of an axis; measures go from 0 to 1

// Round numbers across a range, roughly as many as asked for, but at least three.

function ticksOf(low, high, about) {
  const rough = (high - low) / about || 1;
  const power = 10 ** floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= rough);
  const ticks = [];
  for (let tick = ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) ticks.push(Number(tick.toPrecision(10)));
  return ticks.length < 3 ? ticksOf(low, high, 1.5 * about) : ticks;
}

// Calls draw with an empty drawing and its size, now and whenever the place for it changes its size;
// returns a function that draws again.

function makeChart(host, draw) {
  const chart = shape("svg", { "aria-hidden": "true" });
  host.append(chart);
  const again = () => {
    const [width, height] = [host.clientWidth, host.clientHeight];
    if (width === 0 || height === 0) return;
    chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
    chart.replaceChildren();
    draw(chart, width, height);
  };
  new ResizeObserver(again).observe(host);
  return again;
}

// Scales and axes: a horizontal rule and its numbers below, the vertical numbers on the left.

function drawAxes(chart, { x, y, width, height, xTicks, yTicks, left = 30, right = 10, top = 18, bottom = 32, xLabel, yLabel }) {
  const toX = (value) => left + ((value - x[0]) / (x[1] - x[0])) * (width - left - right);
  const toY = (value) => height - bottom - ((value - y[0]) / (y[1] - y[0])) * (height - top - bottom);
  for (const [tick, text] of yTicks) {
    chart.append(shape("line", { x1: left, x2: width - right, y1: toY(tick), y2: toY(tick), class: "grid" }),
      shape("text", { x: left - 5, y: toY(tick) + 4, class: "tick", "text-anchor": "end" }, text));
  }
  chart.append(shape("line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom, class: "axis" }));
  for (const [tick, text] of xTicks) {
    chart.append(shape("line", { x1: toX(tick), x2: toX(tick), y1: height - bottom, y2: height - bottom + 3, class: "axis" }),
      shape("text", { x: toX(tick), y: height - bottom + 14, class: "tick", "text-anchor": "middle" }, text));
  }
  chart.append(shape("text", { x: width - right, y: height - 4, class: "axis-name", "text-anchor": "end" }, xLabel),
    shape("text", { x: 2, y: 11, class: "axis-name" }, yLabel));
  return { toX, toY };
}

function plainTicks(low, high, about) {
  return ticksOf(low, high, about).map((tick) => [tick, String(tick).replace("-", "−")]);
}

function drawLine(chart, dots, color, dashes = "none") {
  chart.append(shape("polyline", { points: dots.map(({ x, y }) => `${x},${y}`).join(" "), fill: "none", stroke: color, "stroke-dasharray": dashes, class: "line" }));
}

function drawDot(chart, { x, y, title }, color, kind = "") {
  const dot = shape("circle", { cx: x, cy: y, r: kind.includes("seed") ? 3 : 4.5, color, class: `dot ${kind}` });
  dot.append(shape("title", {}, title));
  chart.append(dot);
}

// A click chooses the nearest dot within 30 pixels.

function onNearest(host, dotsOf, choose) {
  const nearest = ({ clientX, clientY }) => {
    const { left, top } = host.getBoundingClientRect();
    let best = { distance: 30, map: null };
    for (const { x, y, map } of dotsOf()) {
      const distance = hypot(x - (clientX - left), y - (clientY - top));
      if (distance < best.distance) best = { distance, map };
    }
    return best.map;
  };
  on(host, "pointermove", (event) => host.classList.toggle("near", nearest(event) !== null));
  on(host, "click", (event) => {
    const map = nearest(event);
    if (map === null) return;
    choose(map);
  });
}

function keyItem(color, text, kind = "") {
  const swatch = element("span", "", { class: `swatch ${kind}` });
  swatch.style.color = color;
  return listItem(swatch, element("span", text, { class: "name", title: text }));
}

// The range of values with some room, never so narrow that small differences look like a trend.

function padded(values, share) {
  const [low, high] = [min(...values), max(...values)];
  const pad = max(share * (high - low), (LEAST_SPAN - (high - low)) / 2);
  return [low - pad, high + pad];
}

function themed(color) {
  return isDark() ? onDark(color) : color;
}

// Lines of one method have its colour, so they differ in their dashes and dots.

function lineStyle(rank) {
  return { dashes: ["none", "5 3", "1.5 3"][rank % 3], kind: rank % 2 === 1 ? "open" : "" };
}

// Lines that differ only in their seeds, as one: groups of dots that have the same setting.

function familiesOf(facts, dotOf) {
  const grouped = (all, keyOf) => [...new Set(all.map(keyOf))].map((key) => all.filter((each) => keyOf(each) === key));
  const ranks = {};
  return grouped(facts.lines, ({ family }) => family).map((lines) => {
    const [{ family: title, method, color }] = lines;
    ranks[method] = (ranks[method] ?? -1) + 1;
    const dots = lines.flatMap(({ maps }) => maps.map(dotOf)).filter(({ mixing, kept }) => mixing !== undefined && kept !== undefined);
    return { title, color, ...lineStyle(ranks[method]), groups: grouped(dots, ({ map }) => facts.maps[map].setting) };
  });
}

function meanPlace(dots) {
  const mean = (axis) => dots.reduce((sum, dot) => sum + dot[axis], 0) / dots.length;
  return { x: mean("x"), y: mean("y") };
}

// From the least to the most that seeds give, both ways.

function drawWhiskers(chart, dots, color) {
  const { x, y } = meanPlace(dots);
  const ends = (axis, side) => Math[side](...dots.map((dot) => dot[axis]));
  chart.append(shape("line", { x1: ends("x", "min"), x2: ends("x", "max"), y1: y, y2: y, stroke: color, class: "whisker" }),
    shape("line", { x1: x, x2: x, y1: ends("y", "min"), y2: ends("y", "max"), stroke: color, class: "whisker" }));
}

// Every map by its mixing and the neighbours it keeps. Shown and suggested maps carry their settings.

function connectTradeOff(data, state) {
  const { facts } = data;
  const nameOf = (key) => facts.measures.find((measure) => measure.key === key)?.name;
  const dotOf = (map) => ({ map, mixing: leastMixing(facts, map), kept: facts.maps[map].measures.adjusted_rnx });
  const families = familiesOf(facts, dotOf);
  const all = families.flatMap(({ groups }) => groups.flat());
  byId("tab-trade-off").hidden = all.length < 2;
  if (all.length < 2) return;
  const [x, y] = [padded(all.map(({ mixing }) => mixing), 0.08), padded(all.map(({ kept }) => kept), 0.14)];
  let placed = new Map();
  const draw = (chart, width, height) => {
    const { panels, suggested, targets, preset } = state.values;
    const { toX, toY } = drawAxes(chart, {
      x, y, width, height, xTicks: plainTicks(...x, width / 40), yTicks: plainTicks(...y, height / 45),
      xLabel: facts.targets.length > 1 ? "mixing of the least mixed column →" : `${nameOf("mixing")} →`, yLabel: `↑ ${nameOf("adjusted_rnx")}`,
    });
    if (targets.every((target) => target === targets[0]) && targets[0] > x[0] && targets[0] < x[1]) {
      const rule = shape("line", { x1: toX(targets[0]), x2: toX(targets[0]), y1: 18, y2: height - 32, class: "target" });
      rule.append(shape("title", {}, `target: mixing of at least ${targets[0]}`));
      chart.append(rule);
    }
    placed = new Map();
    const along = [];
    for (const { groups, color, dashes, kind } of families) {
      const drawn = groups.map((dots) => dots.map(({ map, mixing, kept }) => ({
        map, x: toX(mixing), y: toY(kept), title: `${facts.maps[map].title}: mixing ${mixing.toFixed(2)}, neighbours kept ${kept.toFixed(2)}`,
      })));
      const means = drawn.map(meanPlace);
      if (means.length > 1) drawLine(chart, means, themed(color), dashes);
      along.push(...boxesAlong(means));
      for (const dots of drawn) {
        if (dots.length > 1) drawWhiskers(chart, dots, themed(color));
        for (const dot of dots) {
          drawDot(chart, dot, themed(color), dots.length > 1 ? `${kind} seed` : kind);
          placed.set(dot.map, dot);
        }
      }
    }
    const shown = new Set(preset === "one" ? [panels[1].map] : panels.map(({ map }) => map));
    const marked = [...shown, ...(shown.has(suggested) ? [] : [suggested])].filter((map) => placed.has(map));
    for (const map of shown) mark(chart, placed.get(map), "shown");
    mark(chart, placed.get(suggested), "suggested");
    const boxOf = ({ map, x: left, y: top }, reach = marked.includes(map) ? 9 : 4) => ({ left: left - reach, right: left + reach, top: top - reach, bottom: top + reach });
    const taken = { dots: [...placed.values()].map((dot) => boxOf(dot)), along };
    for (const map of marked) {
      const { setting, title } = facts.maps[map];
      const name = setting || title;
      const names = map === suggested && width > 230 ? [`${name} (suggested)`, name] : [name];
      drawName(chart, placed.get(map), names, width, height, taken);
    }
  };
  const again = makeChart(byId("trade"), draw);
  onNearest(byId("trade"), () => placed.values(), (map) => lookAtMap(state, map));
  state.watch(["panels", "suggested", "targets", "look", "preset"], again);
  state.watch(["look", "suggested"], ({ suggested }) => {
    const items = families.length > 1 ? families.map(({ title, color, kind }) => keyItem(themed(color), title, kind)) : [];
    if (all.some(({ map }) => map === suggested)) items.push(keyItem("var(--suggested)", "suggested", "diamond"));
    byId("trade-key").replaceChildren(...items);
  });
}

function mark(chart, dot, kind) {
  if (dot === undefined) return;
  const { x, y } = dot;
  chart.append(kind === "shown" ? shape("circle", { cx: x, cy: y, r: 7.5, class: "shown" })
    : shape("path", { d: `M${x} ${y - 11}L${x + 11} ${y}L${x} ${y + 11}L${x - 11} ${y}Z`, class: "suggested" }));
}

// A name beside its dot, inside the chart, where it hides as little as possible of dots and lines;
// the shorter of two names if the longer one would hide a dot.

function drawName(chart, dot, texts, width, height, { dots, along }) {
  const name = shape("text", { class: "dot-name" });
  chart.append(name);
  const hits = (a, boxes) => boxes.filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).length;
  const cost = (a) => a.far + 4 * hits(a, dots) + 0.25 * hits(a, along) + (a.top < 17 || a.bottom > height - 32 ? 20 : 0);
  let best = null;
  for (const text of texts) {
    name.textContent = text;
    const long = name.getComputedTextLength();
    const lefts = [13, -13 - long, -long / 2, 6, -6 - long, -long * 0.75, -long * 0.25];
    const places = [-18, 4, 25, -30, 37, -44, 51].flatMap((dy) => lefts.map((dx) => {
      const left = min(max(dot.x + dx, 30), width - long - 2);
      return { left, right: left + long, top: dot.y + dy - 10, bottom: dot.y + dy + 3, far: abs(dy - 4) / 20 + abs(left + long / 2 - dot.x) / 200 };
    }));
    best = places.reduce((least, each) => (cost(each) < cost(least) ? each : least));
    if (hits(best, dots) === 0) break;
  }
  name.setAttribute("x", best.left);
  name.setAttribute("y", best.bottom - 3);
  dots.push(best);
}

// Boxes of a few pixels along the lines between dots.

function boxesAlong(dots) {
  return dots.slice(1).flatMap((to, place) => {
    const from = dots[place];
    const steps = max(1, round(hypot(to.x - from.x, to.y - from.y) / 5));
    return Array.from({ length: steps }, (_, step) => {
      const [x, y] = [from.x + ((to.x - from.x) * step) / steps, from.y + ((to.y - from.y) * step) / steps];
      return { left: x - 1, right: x + 1, top: y - 1, bottom: y + 1 };
    });
  });
}
