// One map on the page: points on one canvas; names, ring and lasso on another one above it.

const MOVE_MS = 450;
const REST_MS = 140; // without a change of the view, all points are drawn again
const HOVER_PX = 10;
const ABOVE_PX = 5;
// While it moves, a map draws as many points as fit in a frame between these times.
const [FAST_MS, SLOW_MS] = [24, 34];
const DRAWS = 3; // a frame draws both maps, and does the rest in the time of a third one
const LEAST_MOVING = 10000;
const MOST_STEP = 60; // a card takes no more than 255 bytes from one point to the next
const KEPT_FRAMES = 200;
const [LOWER, UPPER, BOTH] = [0, 1, 2]; // layers of points
const [SHOWN, FIRST_TILE] = [1, 2]; // groups of points

function makePanel(host, { n, onHover, onTap, onSelect, onView, insist = false }) {
  const points = {
    n,
    from: { x: new Float32Array(n), y: new Float32Array(n) },
    to: { x: new Float32Array(n), y: new Float32Array(n) },
    codes: new Uint8Array(n),
    table: [[128, 128, 128]],
    mask: null,
    group: new Uint8Array(n).fill(SHOWN), // 0: hidden; from FIRST_TILE: drawn in colour in this tile of a split
  };
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const overlay = element("canvas");
  const context = overlay.getContext("2d");
  const sheet = element("canvas"); // the maps of a split, side by side
  const seen = {
    points, width: 0, height: 0, view: WHOLE, share: 1, ring: null, lasso: null, links: null,
    tiles: null, aimed: 0, // titles and counts of a split, and the tile under the pointer
    contours: [], named: [], unlit: new Set(), // names as they are seen, and codes whose names step back
    look: { size: null, opacity: null, dark: false }, number: n, raised: 0, // points shown, and of these with a mask
  };
  const plain = makeSplat(points);
  let renderer = plain;
  let grid = null; // made for the first pointer over these positions
  let names = null;
  let placed = null; // names at their places
  let contoured = "none"; // or "all", "labels"
  let contours = null; // computed when first drawn
  let begun = null; // time at which the animation began, null without one
  let resting = null; // timer until the view is taken to be at rest
  let queued = null; // frame
  let dirty = true; // points have to be drawn again, not only what is above them
  let dragging = "select";
  let hovered = null;
  let sample = n; // points drawn while it moves
  let isMeasured = false;
  let drawn = 0;
  let spent = 0; // milliseconds to draw the last frame
  let lastDrawn = null; // time of the previous frame, if that drew moving points
  const frames = [];

  const redraw = (isDirty = true) => {
    dirty ||= isDirty;
    queued ??= requestAnimationFrame(frame);
  };
  const load = (...keys) => {
    keys.forEach((key) => renderer.load(key));
    redraw();
  };
  const use = (next) => {
    renderer = next;
    present();
    load("from", "to", "codes", "table", "mask", "group");
  };
  const present = () => {
    const below = seen.tiles === null ? renderer.canvas : sheet;
    if (overlay.previousElementSibling !== below) overlay.previousElementSibling.replaceWith(below);
    dress(below);
  };
  const dress = (canvas) => {
    // In print the box may have another shape than the canvas had on the screen.
    Object.assign(canvas.style, {
      position: "absolute", inset: "0", width: "100%", height: "100%", objectFit: "contain", userSelect: "none",
    });
    canvas.ariaHidden = "true"; // the box around it has the name
  };

  const frame = (now) => {
    queued = null;
    if (seen.width === 0 || seen.height === 0) {
      begun = null; // hidden: nothing to see of an animation
      seen.share = 1;
      return;
    }
    if (begun !== null) {
      begun = min(begun, now); // a frame may carry a time before that of the call
      const t = min(1, (now - begun) / MOVE_MS);
      seen.share = t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
      if (t === 1) begun = null;
      dirty = true;
    }
    const isMoving = begun !== null || resting !== null;
    measure(now);
    lastDrawn = isMoving && dirty ? now : null;
    if (dirty) {
      dirty = false;
      // Every so-many-th point is a fair sample, whatever their order.
      const step = isMoving ? max(1, min(MOST_STEP, round(n / sample) || 1)) : 1;
      drawn = ceil(n / step);
      const start = performance.now();
      if (seen.tiles === null) renderer.draw(frameOf(seen, window.devicePixelRatio, step));
      else drawTiles(sheet, renderer, seen, window.devicePixelRatio, step);
      spent = performance.now() - start;
      if (!isMeasured && renderer === plain) adapt(FAST_MS / max(0.1, DRAWS * spent));
      isMeasured = true;
    }
    drawAbove();
    if (isMoving) redraw(false); // also tells how long this frame took
  };
  const adapt = (factor) => {
    sample = min(n, max(min(n, LEAST_MOVING), round(sample * factor)));
  };
  // Adapts the sample to the time that a moving frame took. A card works on after the call that
  // draws, so only the time until the next frame tells.
  const measure = (now) => {
    if (lastDrawn === null) return;
    const passed = now - lastDrawn;
    frames.push(passed);
    if (frames.length > KEPT_FRAMES) frames.shift();
    const cost = renderer === card ? passed : DRAWS * spent;
    if (cost > SLOW_MS) adapt(max(0.6, SLOW_MS / cost));
    else if (cost < FAST_MS) adapt(min(1.3, FAST_MS / cost));
  };
  const drawAbove = () => {
    const ratio = window.devicePixelRatio;
    const [width, height] = [round(seen.width * ratio), round(seen.height * ratio)];
    if (overlay.width !== width) overlay.width = width;
    if (overlay.height !== height) overlay.height = height;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, seen.width, seen.height);
    seen.contours = [];
    seen.named = [];
    if (contoured !== "none" && begun === null && seen.tiles === null) {
      contours ??= contoursOf(points, contoured === "labels");
      seen.contours = contours;
    }
    if (names !== null && begun === null && seen.tiles === null) {
      // While the view moves, names go with their places; at rest they are placed anew.
      placed ??= placeNames(context, nameAnchors(points, names, seen), seen, host);
      seen.named = movedNames(placed, seen);
    }
    drawMarks(context, seen);
    drawLasso(context, seen);
  };
  const setView = (view) => {
    const same = ["x", "y", "side"].every((key) => view[key] === seen.view[key]);
    if (same) return false;
    seen.view = { ...view };
    clearTimeout(resting);
    resting = setTimeout(() => {
      resting = null;
      placed = null;
      redraw();
    }, REST_MS);
    redraw();
    return true;
  };
  const fit = () => {
    const { clientWidth, clientHeight } = host;
    seen.width = clientWidth;
    seen.height = clientHeight;
    placed = null;
    redraw();
  };
  // The frame that the pointer is in: the panel, or a tile of a split.
  const area = () => framesOf(seen)[seen.aimed] ?? framesOf(seen)[0];
  const place = ([left, top]) => {
    const { left: start, top: above, width, height } = area();
    const { scale, left: zeroLeft, top: zeroTop } = camera(seen.view, width, height);
    return [(left - start - zeroLeft) / scale, (zeroTop - top + above) / scale];
  };
  const scale = () => camera(seen.view, area().width, area().height).scale;
  const index = () => (grid ??= makeGrid(points.to, points.group));
  const isMeant = (point) => seen.tiles === null || points.group[point] === FIRST_TILE + seen.aimed;
  // Highlighted points lie above the others, so they are found first.
  const nearest = (at) => {
    if (begun !== null || n === 0) return null;
    const [x, y] = place(at);
    const isAbove = (point) => points.mask[point] === 1 && isMeant(point);
    const above = points.mask === null ? null : index().nearest(x, y, ABOVE_PX / scale(), isAbove);
    return above ?? index().nearest(x, y, HOVER_PX / scale(), isMeant);
  };
  const hover = (at, event) => {
    const point = at === null ? null : nearest(at);
    if (point === null && hovered === null) return;
    hovered = point;
    onHover(point, event);
  };

  const card = makeCard(points, { onLost: () => use(plain), onReturn: () => use(card), insist });
  host.append(renderer.canvas, overlay);
  dress(overlay);
  use(card ?? plain);
  const pointer = connectPointer(host, overlay, {
    view: () => seen.view,
    go: (view) => {
      if (setView(view)) onView(seen.view);
    },
    aim: (at) => {
      seen.aimed = tileAt(seen, at);
    },
    place, scale, hover,
    drag: () => dragging,
    tap: (at) => onTap(nearest(at)),
    lasso: (line) => {
      seen.lasso = line;
      redraw(false);
    },
    select: (line, mode) => onSelect(index().inside(line, isMeant), mode),
  });
  new ResizeObserver(fit).observe(host);
  on(window, "resize", fit); // also when the zoom of the browser changes
  fit();

  return {
    show(positions, smoothly) {
      const isSmooth = smoothly && !calm.matches && seen.width > 0;
      if (isSmooth) points.from = begun === null ? points.to : between(points.from, points.to, seen.share);
      points.to = positions;
      begun = isSmooth ? performance.now() : null;
      seen.share = isSmooth ? 0 : 1;
      grid = placed = contours = null;
      load(...(isSmooth ? ["from", "to"] : ["to"]));
    },
    paint(codes, table) {
      points.codes = codes;
      points.table = table.map(parts);
      load("codes", "table");
    },
    highlight(mask) {
      points.mask = mask;
      seen.raised = mask === null ? 0 : mask.reduce((sum, value) => sum + value, 0);
      seen.unlit = unlitCodes(names, mask, seen.raised);
      placed = null;
      load("mask");
    },
    // Hides points, and splits the map into tiles if there are any.
    regroup(group, tiles = null) {
      points.group = group;
      seen.tiles = tiles;
      seen.number = group.reduce((sum, value) => sum + (value > 0), 0);
      present();
      grid = placed = contours = null;
      load("group");
    },
    link(links) {
      seen.links = links;
      redraw(false);
    },
    ring(point) {
      if (seen.ring === point) return;
      seen.ring = point;
      redraw(false);
    },
    view(view) {
      setView(view);
    },
    look(look) {
      seen.look = look;
      redraw();
    },
    names(wanted) {
      names = wanted;
      seen.unlit = unlitCodes(names, points.mask, seen.raised);
      placed = null;
      redraw(false);
    },
    contours(wanted) {
      contoured = wanted;
      contours = null;
      redraw(false);
    },
    drag(how) {
      dragging = how;
      pointer.cursor();
    },
    picture(ratio) {
      fit(); // the box may have changed since the last frame, as between paper and screen
      return pictureOf(host, seen, ratio);
    },
    svg: () => svgOf(host, seen),
    positions: () => points.to,
    moving: () => begun !== null || resting !== null || queued !== null,
    lit: () => (points.mask === null ? null : Array.from(points.mask.keys()).filter((point) => points.mask[point] === 1)),
    drawn: () => drawn,
    frames: () => frames.slice(),
    named: () => JSON.parse(JSON.stringify(seen.named)), // without functions, for tests
    contoured: () => seen.contours,
    links: () => seen.links,
    tiles: () => (seen.tiles === null ? null : framesOf(seen).map(({ left, top, width, height }, place) => ({ ...seen.tiles[place], left, top, width, height }))),
  };
}

// A place in the map lies at left + x * scale, top - y * scale.

function camera({ x, y, side }, width, height) {
  const scale = min(width, height) / side;
  return { scale, left: width / 2 - x * scale, top: height / 2 + y * scale };
}

// What a renderer draws, in pixels of the screen.

function frameOf({ points, width, height, view, share, look, number, raised }, ratio, step) {
  const side = min(width, height);
  const size = look.size ?? automaticSize(number, side, view);
  // A few points among many need larger discs to be found.
  const raisedSize = look.size ?? min(2 * size, max(size, automaticSize(raised, side, view)));
  const alpha = look.opacity ?? automaticOpacity(number, size, side, view);
  const own = { only: 0, diameter: size * ratio, alpha, color: null };
  const faded = { only: 0, diameter: size * ratio, alpha: 0.6 * alpha, color: fadedColor(look) };
  return {
    width: round(width * ratio), height: round(height * ratio), view, share, step,
    layers: [{ ...(points.mask === null ? own : faded), part: LOWER }, { ...own, part: UPPER, diameter: (points.mask === null ? size : raisedSize) * ratio }],
  };
}

function fadedColor({ dark }) {
  return dark ? [74, 78, 86] : [205, 208, 214];
}

// Which points a renderer draws. In the upper layer are the highlighted ones, or all with a value.

function drawnTest({ mask, codes, group }, part, only) {
  const upper = mask ?? codes;
  return (i) => group[i] > 0 && (only === 0 || group[i] === only) && (part === BOTH || (upper[i] > 0) === (part === UPPER));
}

// The diameter of points in CSS pixels: smaller the more there are, and growing slowly with zoom.

function automaticSize(n, side, view) {
  const whole = min(7, max(1.4, 0.05 * side * max(1, n) ** -0.225));
  return min(9, whole * max(1, WHOLE.side / view.side) ** 0.4);
}

// Less the more points lie on each other, but never so little that single points are lost.

function automaticOpacity(n, size, side, view) {
  const layers = (n * (size * view.side) ** 2) / (0.35 * side ** 2);
  return min(0.9, max(0.55, 0.9 - 0.12 * Math.log2(max(1, layers))));
}

// Positions of an animation that is interrupted.

function between(from, to, share) {
  const mixed = (a, b) => {
    const values = new Float32Array(a.length);
    for (let i = 0; i < values.length; i++) values[i] = a[i] + share * (b[i] - a[i]);
    return values;
  };
  return { x: mixed(from.x, to.x), y: mixed(from.y, to.y) };
}
