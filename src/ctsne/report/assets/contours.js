// Lines of equal density, of all points or of each label. They are computed once for a map, on a
// coarse grid, and drawn in any view.

const ACROSS = 160; // cells along each side of the grid
const BEYOND = 0.06; // of the map around it, so that lines close
const [MOST_CONTOURED, LEAST_CONTOURED] = [60, 20]; // labels, and points of a label
// Shares of the points inside the lines.
const [SHARES_OF_ALL, SHARES_OF_LABEL] = [[0.25, 0.5, 0.75, 0.95], [0.5, 0.85]];

// Lines as { code, lines: [x1, y1, x2, y2, ...] } in the map; code 0 stands for all points. Codes of
// points are null for lines of all.

function contoursOf({ x, y }, codes) {
  const cell = (1 + 2 * BEYOND) / ACROSS;
  const along = (value) => Math.min(ACROSS - 1, Math.floor((value + BEYOND) / cell));
  const totals = new Map([[0, x.length]]);
  if (codes !== null) {
    totals.clear();
    for (const code of codes) if (code > 0) totals.set(code, (totals.get(code) ?? 0) + 1);
  }
  const chosen = [...totals].filter(([, points]) => points >= LEAST_CONTOURED).sort((a, b) => b[1] - a[1]).slice(0, MOST_CONTOURED);
  const fields = new Map(chosen.map(([code]) => [code, new Float32Array(ACROSS * ACROSS)]));
  for (let i = 0; i < x.length; i++) {
    const field = fields.get(codes === null ? 0 : codes[i]);
    if (field !== undefined) field[along(y[i]) * ACROSS + along(x[i])]++;
  }
  // Fewer points need more smoothing; three passes come close to a bell curve.
  const reach = Math.max(2, Math.round(12 * x.length ** (-1 / 6)));
  return [...fields].flatMap(([code, counts]) => {
    const field = counts.slice();
    for (let pass = 0; pass < 3; pass++) smooth(field, reach);
    return levelsOf(field, counts, code === 0 ? SHARES_OF_ALL : SHARES_OF_LABEL).map((level) => ({
      code, lines: levelLines(field, level).map((value) => (value + 0.5) * cell - BEYOND),
    }));
  });
}

// Replaces each value by the mean within reach, along rows and along columns.

function smooth(field, reach) {
  const line = new Float32Array(ACROSS);
  for (const [step, stride] of [[1, ACROSS], [ACROSS, 1]]) {
    for (let start = 0; start < ACROSS; start++) {
      const at = (place) => start * stride + place * step;
      let sum = 0;
      for (let place = 0; place < reach; place++) sum += field[at(place)];
      for (let place = 0; place < ACROSS; place++) {
        if (place + reach < ACROSS) sum += field[at(place + reach)];
        if (place > reach) sum -= field[at(place - reach - 1)];
        line[place] = sum / (2 * reach + 1);
      }
      for (let place = 0; place < ACROSS; place++) field[at(place)] = line[place];
    }
  }
}

// The densities above which these shares of the points lie.

function levelsOf(field, counts, shares) {
  const cells = Array.from(counts.keys()).filter((cell) => counts[cell] > 0).sort((a, b) => field[b] - field[a]);
  const total = counts.reduce((sum, value) => sum + value, 0);
  let [place, inside] = [0, 0];
  return shares.map((share) => {
    while (place < cells.length - 1 && inside + counts[cells[place]] < share * total) inside += counts[cells[place++]];
    return field[cells[place]];
  });
}

// The lines at a level, by marching squares: pieces within the squares between four cells.

function levelLines(field, level) {
  const lines = [];
  for (let row = 0; row < ACROSS - 1; row++) {
    for (let column = 0; column < ACROSS - 1; column++) {
      const at = row * ACROSS + column;
      const corners = [field[at], field[at + 1], field[at + ACROSS + 1], field[at + ACROSS]];
      const above = corners.map((value) => value >= level);
      if (above.every((each) => each === above[0])) continue;
      const cuts = []; // where the line crosses the edges
      corners.forEach((value, corner) => {
        const next = (corner + 1) % 4;
        if (above[corner] === above[next]) return;
        const share = (level - value) / (corners[next] - value);
        const [x, y] = [[share, 0], [1, share], [1 - share, 1], [0, 1 - share]][corner];
        cuts.push([column + x, row + y]);
      });
      // On a saddle, the middle tells which corners hang together.
      const isHigh = corners.reduce((sum, value) => sum + value, 0) / 4 >= level;
      if (cuts.length === 4 && isHigh !== above[0]) cuts.push(cuts.shift());
      for (const [left, top] of cuts) lines.push(left, top);
    }
  }
  return lines;
}

// Calls run with the style of each contour and its places in pixels: first a halo, then the line.

function eachContour({ contours, points, look, view, width, height }, run) {
  const { scale, left, top } = camera(view, width, height);
  const { ink, paper } = inks(look);
  for (const { code, lines } of contours) {
    const places = lines.map((value, place) => (place % 2 === 0 ? left + value * scale : top - value * scale));
    run(paper, 3, places);
    run(code === 0 ? ink : hex(points.table[code]), 1.25, places);
  }
}

function drawContours(context, seen) {
  context.lineCap = "round";
  eachContour(seen, (color, width, places) => {
    context.beginPath();
    for (let at = 0; at < places.length; at += 4) {
      context.moveTo(places[at], places[at + 1]);
      context.lineTo(places[at + 2], places[at + 3]);
    }
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
  });
}

function svgContours(seen) {
  const paths = [];
  eachContour(seen, (color, width, places) => {
    const pieces = [];
    for (let at = 0; at < places.length; at += 4) {
      const [x1, y1, x2, y2] = places.slice(at, at + 4).map((value) => value.toFixed(1));
      pieces.push(`M${x1} ${y1}L${x2} ${y2}`);
    }
    paths.push(`<path d="${pieces.join("")}" fill="none" stroke="${color}" stroke-width="${width}" stroke-linecap="round"/>`);
  });
  return paths.join("\n");
}
