// The two maps: drawing, animation, lasso and pointer.

const MOVE_MS = 450;
// Number of animated points without a graphics card. Points are stored in random order, so every
// so-many-th of them is a fair sample.
const MOST_MOVING = 5000;
const INK = "#222222";
const [ALPHA, FADED] = [0.85, 0.06];

// Without a graphics card, the plain canvas is faster than emulated WebGL.
function drawsOnCard() {
  const context = document.createElement("canvas").getContext("webgl", { failIfMajorPerformanceCaveat: true });
  if (context === null) return false;
  const named = context.getExtension("WEBGL_debug_renderer_info");
  const renderer = context.getParameter(named === null ? context.RENDERER : named.UNMASKED_RENDERER_WEBGL);
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
}

function makeMap(id, data, onCard, events) {
  const { n } = data;
  const { ColumnDataSource, Range1d, LassoSelectTool, PanTool, WheelZoomTool } = Bokeh;
  const size = Math.min(7, Math.max(2.2, 260 / Math.sqrt(n)));
  const whole = { start: -0.03, end: 1.03 };
  const lasso = new LassoSelectTool({ continuous: false }); // selecting during the drag is slow
  const pan = new PanTool();
  const wheel = new WheelZoomTool({ modifiers: { ctrl: true } });
  const plot = Bokeh.Plotting.figure({
    x_range: new Range1d(whole), y_range: new Range1d(whole), x_axis_type: null, y_axis_type: null,
    tools: [lasso, pan, wheel], toolbar_location: null, min_border: 0, outline_line_color: null,
    sizing_mode: "stretch_both", output_backend: onCard ? "webgl" : "canvas",
    lod_threshold: 15000, lod_factor: 8,
  });
  plot.toolbar.active_drag = lasso;
  plot.toolbar.active_scroll = wheel;
  const source = new ColumnDataSource({ data: { x: [], y: [], color: [] } });
  const look = { x: { field: "x" }, y: { field: "y" }, size, fill_color: { field: "color" }, line_color: null };
  const points = plot.scatter({
    ...look, source, fill_alpha: ALPHA, nonselection_fill_alpha: FADED, nonselection_line_color: null, selection_fill_alpha: 1,
  });
  // Replaces the points during an animation if there are too many of them.
  const some = new ColumnDataSource({ data: { x: [], y: [], color: [], alpha: [] } });
  const movers = plot.scatter({ ...look, source: some, fill_alpha: { field: "alpha" }, visible: false });
  const ring = new ColumnDataSource({ data: { x: [], y: [] } });
  for (const [color, width] of [["#ffffff", 5], [INK, 2.5]]) {
    plot.scatter({ x: { field: "x" }, y: { field: "y" }, source: ring, size: 16, fill_color: null, line_color: color, line_width: width, level: "overlay" });
  }
  let shown = { x: new Float32Array(n), y: new Float32Array(n) };
  let color = [];
  let ringed = null;
  let stop = null; // interrupts an animation

  const draw = (positions) => {
    shown = positions;
    source.data = { x: shown.x, y: shown.y, color };
    if (ringed !== null) drawRing();
  };
  const drawRing = () => {
    ring.data = ringed === null ? { x: [], y: [] } : { x: [shown.x[ringed]], y: [shown.y[ringed]] };
  };
  const stride = onCard ? 1 : Math.ceil(n / MOST_MOVING);
  const swap = (isMoving) => {
    if (stride === 1) return;
    movers.visible = isMoving;
    points.visible = !isMoving;
  };
  const every = (values) => values.filter((_, place) => place % stride === 0);
  const alphas = () => {
    const { indices } = source.selected;
    const alpha = new Float32Array(n).fill(indices.length > 0 ? FADED : ALPHA);
    for (const point of indices) alpha[point] = 1;
    return alpha;
  };
  const move = (to) => {
    const from = shown;
    const sample = stride === 1 ? null : { color: asColors(every(color)), alpha: every(alphas()) };
    const begin = performance.now();
    const step = (now) => {
      const t = Math.min(1, Math.max(0, (now - begin) / MOVE_MS));
      if (t === 1) {
        stop = null;
        swap(false);
        draw(to);
        return;
      }
      const share = t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
      if (sample === null) draw(between(from, to, share, 1));
      else some.data = { ...between(from, to, share, stride), ...sample };
      const frame = requestAnimationFrame(step);
      stop = () => {
        cancelAnimationFrame(frame);
        shown = between(from, to, share, 1);
      };
    };
    swap(true);
    step(begin);
  };

  source.selected.properties.indices.change.connect(() => events.select(source.selected.indices));
  plot.on_event("mousemove", ({ x, y }) => events.hover(stop === null ? nearest(x, y) : null));
  plot.on_event("mouseleave", () => events.hover(null));
  plot.on_event("tap", ({ x, y }) => events.tap(nearest(x, y)));

  // Compares all points: 50,000 take a tenth of a millisecond.
  const nearest = (x, y) => {
    const reach = (10 / byId(id).clientWidth) * (plot.x_range.end - plot.x_range.start);
    let found = null;
    let least = reach * reach;
    for (let i = 0; i < n; i++) {
      const square = (shown.x[i] - x) ** 2 + (shown.y[i] - y) ** 2;
      if (square < least) [least, found] = [square, i];
    }
    return found;
  };
  const zoom = (factor) => {
    for (const each of [plot.x_range, plot.y_range]) {
      const middle = (each.start + each.end) / 2;
      const half = (factor * (each.end - each.start)) / 2;
      each.setv({ start: middle - half, end: middle + half });
    }
  };
  return {
    plot,
    show(positions, smoothly) {
      stop?.();
      stop = null;
      if (smoothly) {
        move(positions);
      } else {
        swap(false);
        draw(positions);
      }
    },
    paint(colors) {
      color = colors;
      source.data = { x: shown.x, y: shown.y, color };
    },
    select(points) {
      if (source.selected.indices !== points) source.selected.indices = points;
    },
    ring(point) {
      if (ringed === point) return;
      ringed = point;
      drawRing();
    },
    zoom,
    whole() {
      plot.x_range.setv(whole);
      plot.y_range.setv(whole);
    },
    drag(how) {
      plot.toolbar.active_drag = how === "move" ? pan : lasso;
    },
    positions: () => shown,
    highlighted: () => Array.from(source.selected.indices),
    moving: () => stop !== null,
    view: () => [plot.x_range.start, plot.x_range.end, plot.y_range.start, plot.y_range.end],
  };
}

// Every stride-th point on its way from one map to the next.

function between(from, to, share, stride) {
  const length = Math.ceil(from.x.length / stride);
  const [x, y] = [new Float32Array(length), new Float32Array(length)];
  for (let place = 0, i = 0; place < length; place++, i += stride) {
    x[place] = from.x[i] + share * (to.x[i] - from.x[i]);
    y[place] = from.y[i] + share * (to.y[i] - from.y[i]);
  }
  return { x, y };
}

// One colour per point: 0xRRGGBBAA in the array type that Bokeh expects.

function asColors(numbers) {
  return Bokeh.require("core/util/ndarray").ndarray(Uint32Array.from(numbers), { dtype: "uint32", shape: [numbers.length] });
}

function pointColors(data, column) {
  const facts = data.facts.columns[column];
  const codes = data.codes(column);
  const rgba = (hex) => parseInt(hex.slice(1), 16) * 256 + 255;
  const table = [rgba(data.facts.missingColor)];
  if (facts.kind === "labels") facts.colors.forEach((hex) => table.push(rgba(hex)));
  else for (let step = 0; step <= 255; step++) table.push(rgba(scaleColor(step / 255)));
  const colors = new Uint32Array(data.n);
  for (let i = 0; i < data.n; i++) {
    const code = codes[i];
    colors[i] = table[facts.kind === "labels" || code === 0 ? code : 1 + Math.round(((code - 1) / 65534) * 255)];
  }
  return asColors(colors);
}

// From dark blue through green to yellow, with even steps in lightness.

const SCALE = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];

function scaleColor(share) {
  const place = share * (SCALE.length - 1);
  const below = Math.min(SCALE.length - 2, Math.floor(place));
  const part = (hex, at) => parseInt(hex.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => {
    const [a, b] = [part(SCALE[below], at), part(SCALE[below + 1], at)];
    return Math.round(a + (place - below) * (b - a)).toString(16).padStart(2, "0");
  });
  return `#${mixed.join("")}`;
}

function connectMaps(data, state) {
  const { facts } = data;
  const onCard = drawsOnCard();
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const events = {
    select: (points) => {
      if (points !== state.values.selected) state.set({ selected: points, pressed: new Set() });
    },
    hover: (point) => {
      const wanted = point ?? state.values.pinned;
      if (wanted !== state.values.point) state.set({ point: wanted });
    },
    tap: (point) => state.set({ pinned: point, point }),
  };
  // Otherwise Bokeh takes a pause before drawing for a long press.
  Bokeh.require("core/ui_gestures").UIGestures.press_threshold = 1e9;
  const maps = [makeMap("left", data, onCard, events), makeMap("right", data, onCard, events)];
  const [left, right] = maps;
  left.show(data.positions(facts.reference), false);
  let first = true;
  state.watch(["map"], ({ map }) => {
    right.show(data.positions(map), !first && !calm.matches);
    first = false;
  });
  state.watch(["column"], ({ column }) => {
    const colors = pointColors(data, column);
    maps.forEach((map) => map.paint(colors));
  });
  state.watch(["selected"], ({ selected }) => maps.forEach((map) => map.select(selected)));
  state.watch(["point"], ({ point }) => maps.forEach((map) => map.ring(point)));
  for (const radio of document.querySelectorAll("input[name=drag]")) {
    radio.addEventListener("change", () => maps.forEach((map) => map.drag(radio.value)));
  }
  byId("zoom-in").addEventListener("click", () => maps.forEach((map) => map.zoom(1 / 1.5)));
  byId("zoom-out").addEventListener("click", () => maps.forEach((map) => map.zoom(1.5)));
  byId("zoom-reset").addEventListener("click", () => maps.forEach((map) => map.whole()));
  return { left, right };
}
