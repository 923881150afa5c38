// The histogram of a number above its colour scale. A range of it is a selection.

const [BINS, BIN_STEPS] = [64, 4]; // together the steps of the scale
const HANDLE_PX = 7;
const HANDLE_KEYS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -8, PageUp: 8, Home: -BINS, End: BINS };

function binCounts({ codes }, shown) {
  const counts = new Uint32Array(BINS);
  codes.forEach((code, point) => {
    if (code > 0 && (shown === null || shown[point] === 1)) counts[floor((code - 1) / BIN_STEPS)]++;
  });
  return counts;
}

function drawBars(counts) {
  const bars = shape("svg", { viewBox: `0 0 ${BINS} 100`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const [most, next] = Array.from(counts).sort((a, b) => b - a);
  const top = max(1, min(most, 2 * next)); // many zeros would leave no height for the rest
  scaleColors(isDark(), BINS).forEach((fill, bin) => {
    const height = counts[bin] === 0 ? 0 : max(3, 100 * min(1, sqrt(counts[bin] / top)));
    bars.append(shape("rect", { x: bin, y: 100 - height, width: 1.02, height, fill }));
  });
  bars.append(shape("title", {}, "Number of points, as square roots; a bar far above the others is cut"));
  return bars;
}

// The histogram, what is selected in it as a text, and a function that shows the selected range.

function makeHistogram(state, colouring) {
  const { shown } = state.values;
  const box = element("div", "", { class: "histogram" });
  const part = element("div", "", { class: "range" });
  const said = element("span", "", { class: "said" });
  const handles = ["Lowest", "Highest"].map((which) => element("span", "", {
    class: "handle", role: "slider", tabindex: 0, "aria-label": `${which} selected ${colouring.name}`, "aria-valuemin": 0, "aria-valuemax": BINS,
  }));
  box.append(drawBars(binCounts(colouring, shown)), part, ...handles);
  const range = () => {
    const { brushed, selected } = state.values;
    return brushed?.selected === selected && brushed.key === colouring.key ? brushed.ends : [0, BINS];
  };
  const textAt = (end) => (end === 0 ? colouring.ends[0] : end === BINS ? colouring.ends[1] : withMinus(roundTo(colouring.valueAt(end / BINS), colouring.valueAt(1) - colouring.valueAt(0))));
  const refresh = () => {
    const ends = range();
    const isWhole = ends[0] === 0 && ends[1] === BINS;
    part.hidden = isWhole;
    part.style.left = `${(100 * ends[0]) / BINS}%`;
    part.style.width = `${(100 * (ends[1] - ends[0])) / BINS}%`;
    putText(said, isWhole ? "" : `${textAt(ends[0])} to ${textAt(ends[1])}`);
    handles.forEach((handle, place) => {
      handle.style.left = `${(100 * ends[place]) / BINS}%`;
      handle.ariaValueNow = ends[place];
      handle.ariaValueText = textAt(ends[place]);
    });
  };
  const brush = (ends) => {
    const [first, last] = ends.map((end) => end * BIN_STEPS);
    const isWhole = last - first === SCALE_STEPS || last === first;
    const selected = pointsWhere(colouring.codes, (code, point) => !isWhole && code > first && code <= last && (shown === null || shown[point] === 1));
    state.set({ selected, pressed: NOTHING_PRESSED, brushed: isWhole ? null : { key: colouring.key, ends, selected } });
  };
  handles.forEach((handle, place) => on(handle, "keydown", (event) => {
    const step = HANDLE_KEYS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const ends = range().slice();
    const [low, high] = place === 0 ? [0, ends[1] - 1] : [ends[0] + 1, BINS];
    ends[place] = min(high, max(low, ends[place] + step));
    brush(ends);
  }));
  connectDragging(box, { range, brush });
  refresh();
  return { box, said, refresh };
}

// A drag selects from where it began; one that begins at a handle moves this end of the range. The
// selection follows once per frame.

function connectDragging(box, { range, brush }) {
  let from = null;
  let queued = null;
  let to = 0;
  const share = (event) => {
    const { left, width } = box.getBoundingClientRect();
    return min(1, max(0, (event.clientX - left) / width));
  };
  on(box, "pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault(); // no text is selected
    box.setPointerCapture(event.pointerId);
    const ends = range();
    const held = ends.findIndex((end) => abs(end / BINS - share(event)) * box.clientWidth < HANDLE_PX);
    from = held >= 0 && ends[1] - ends[0] < BINS ? ends[1 - held] : share(event) * BINS;
    to = share(event) * BINS;
  });
  on(box, "pointermove", (event) => {
    if (from === null) return;
    to = share(event) * BINS;
    queued ??= requestAnimationFrame(() => {
      queued = null;
      brush([floor(min(from, to)), ceil(max(from, to))]);
    });
  });
  for (const end of ["pointerup", "pointercancel"]) {
    on(box, end, () => {
      if (from === to) brush([0, BINS]); // a click clears
      from = null;
    });
  }
}
