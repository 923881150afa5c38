// What pointer, wheel and keys do on a map.

const WHOLE = { x: 0.5, y: 0.5, side: 1.06 };
const LEAST_SIDE = 0.004;
const TAP_PX = 4; // a press that moves less is a tap
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

// The nearest view that shows nothing beyond the whole map.

function withinLimits({ x, y, side }) {
  const kept = min(WHOLE.side, max(LEAST_SIDE, side));
  const reach = (WHOLE.side - kept) / 2;
  const limited = (value) => min(0.5 + reach, max(0.5 - reach, value));
  return { x: limited(x), y: limited(y), side: kept };
}

// A view magnified so that a place, else its centre, stays where it is.

function zoomed(view, factor, [x, y] = [view.x, view.y]) {
  const side = min(WHOLE.side, max(LEAST_SIDE, view.side / factor));
  const share = side / view.side;
  return withinLimits({ x: x + share * (view.x - x), y: y + share * (view.y - y), side });
}

// Places `at` are [left, top] in pixels; panel.place(at) is in the map, and so are lines.

function connectPointer(host, surface, panel) {
  const fingers = new Map();
  let gesture = null;

  const at = (event) => [event.offsetX, event.offsetY];
  const shifted = (view, left, top) => withinLimits({ ...view, x: view.x - left / panel.scale(), y: view.y + top / panel.scale() });
  const middle = () => {
    const [[x1, y1], [x2, y2]] = fingers.values();
    return { at: [(x1 + x2) / 2, (y1 + y2) / 2], apart: max(1, hypot(x2 - x1, y2 - y1)) };
  };
  const cursor = () => {
    surface.style.cursor = gesture?.kind === "move" ? "grabbing" : panel.drag() === "move" ? "grab" : "crosshair";
  };
  const stop = () => {
    gesture = null;
    panel.lasso(null);
    cursor();
  };

  const begin = (event) => {
    const kind = (panel.drag() === "move") === event.shiftKey ? "select" : "move";
    const mode = event.ctrlKey || event.metaKey ? "add" : event.altKey ? "remove" : "replace";
    gesture = { kind, mode, start: at(event), last: at(event), isTap: true, line: [panel.place(at(event))] };
  };
  on(surface, "pointerdown", (event) => {
    if (event.button !== 0) return;
    if (fingers.size === 0) panel.aim(at(event));
    surface.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
    if (fingers.size === 1) {
      begin(event);
    } else if (fingers.size === 2) {
      stop();
      gesture = { kind: "pinch", ...middle() };
    }
  });
  on(surface, "pointermove", (event) => {
    const now = at(event);
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, now);
    if (gesture === null) {
      panel.aim(now);
      panel.hover(now, event);
    } else if (gesture.kind === "pinch") {
      if (fingers.size !== 2) return;
      const { at: centre, apart } = middle();
      panel.go(zoomed(panel.view(), apart / gesture.apart, panel.place(gesture.at)));
      panel.go(shifted(panel.view(), centre[0] - gesture.at[0], centre[1] - gesture.at[1]));
      Object.assign(gesture, { at: centre, apart });
    } else {
      drag(now, event);
    }
  });
  const drag = (now, event) => {
    const { start, last, line } = gesture;
    if (gesture.isTap && hypot(now[0] - start[0], now[1] - start[1]) < TAP_PX) return;
    if (gesture.isTap) panel.hover(null, event);
    gesture.isTap = false;
    if (gesture.kind === "move") {
      cursor();
      panel.go(shifted(panel.view(), now[0] - last[0], now[1] - last[1]));
    } else if (hypot(now[0] - last[0], now[1] - last[1]) >= 2) {
      line.push(panel.place(now));
      panel.lasso(line);
    } else {
      return; // waits until the line is longer
    }
    gesture.last = now;
  };
  on(surface, "pointerup", (event) => {
    fingers.delete(event.pointerId);
    if (gesture === null || event.button !== 0) return;
    const { kind, mode, isTap, line, start } = gesture;
    if (kind === "pinch") {
      if (fingers.size === 0) gesture = null; // the finger left over does nothing
      return;
    }
    stop();
    if (isTap) panel.tap(start);
    else if (kind === "select" && line.length > 2) panel.select(line, mode);
  });
  on(surface, "pointercancel", (event) => {
    fingers.delete(event.pointerId);
    stop();
  });
  on(surface, "pointerleave", (event) => {
    if (gesture === null) panel.hover(null, event);
  });
  on(surface, "dblclick", () => panel.go(WHOLE));
  on(surface, "wheel", (event) => {
    event.preventDefault();
    if (gesture === null) panel.aim(at(event));
    // Lines and pages as pixels; a pinch on a touchpad comes as small steps with ctrl.
    const pixels = event.deltaY * [1, 16, 400][event.deltaMode] * (event.ctrlKey ? 6 : 1);
    const factor = Math.exp(-min(200, max(-200, pixels)) * 0.002);
    panel.go(zoomed(panel.view(), factor, panel.place(at(event))));
    if (gesture === null) panel.hover(at(event), event);
  }, { passive: false });
  on(host, "keydown", (event) => {
    if (event.target !== host || event.ctrlKey || event.metaKey || event.altKey) return;
    const view = panel.view();
    const step = KEYS[event.key];
    if (step !== undefined) panel.go(withinLimits({ ...view, x: view.x + 0.1 * view.side * step[0], y: view.y + 0.1 * view.side * step[1] }));
    else if (event.key === "+" || event.key === "=") panel.go(zoomed(view, 1.5));
    else if (event.key === "-") panel.go(zoomed(view, 1 / 1.5));
    else if (event.key === "0") panel.go(WHOLE);
    else if (event.key === "Escape" && gesture !== null) stop();
    else return;
    event.preventDefault();
  });
  surface.style.touchAction = "none";
  cursor();
  return { cursor };
}
