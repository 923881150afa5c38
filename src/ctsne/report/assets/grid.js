// Which points are near a place, and which are inside a line, without looking at all of them.

const PER_CELL = 4;

// An index of positions in the unit square: the points of each cell of a grid, one cell after
// another. Points that are hidden are not in it.

function makeGrid({ x, y }, group) {
  const n = x.length;
  const across = max(1, min(1024, round(sqrt(n / PER_CELL))));
  const along = (value) => min(across - 1, max(0, floor(value * across)));
  const starts = new Uint32Array(across * across + 1);
  const cells = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    if (group[i] === 0) continue;
    cells[i] = along(y[i]) * across + along(x[i]);
    starts[cells[i] + 1]++;
  }
  for (let cell = 0; cell < across * across; cell++) starts[cell + 1] += starts[cell];
  const next = starts.slice();
  const members = new Uint32Array(n);
  for (let i = 0; i < n; i++) if (group[i] > 0) members[next[cells[i]]++] = i;

  const eachWithin = (low, high, run) => {
    const [first, last] = [along(low[0]), along(high[0])];
    for (let row = along(low[1]); row <= along(high[1]); row++) {
      const end = starts[row * across + last + 1];
      for (let at = starts[row * across + first]; at < end; at++) run(members[at]);
    }
  };
  return {
    // The point nearest to a place, no farther than reach, of those that are meant; or null.
    nearest(px, py, reach, isMeant) {
      let [found, least] = [null, reach * reach];
      eachWithin([px - reach, py - reach], [px + reach, py + reach], (i) => {
        const square = (x[i] - px) ** 2 + (y[i] - py) ** 2;
        if (square > least || (square === least && found !== null && i < found) || !isMeant(i)) return;
        found = i;
        least = square;
      });
      return found;
    },
    // The points inside a closed line that are meant, in ascending order.
    inside(line, isMeant) {
      const low = [0, 1].map((axis) => line.reduce((least, place) => min(least, place[axis]), Infinity));
      const high = [0, 1].map((axis) => line.reduce((most, place) => max(most, place[axis]), -Infinity));
      const isInside = insideTest(line, low[1], high[1]);
      const isFound = new Uint8Array(n);
      let number = 0;
      eachWithin(low, high, (i) => {
        if (!isInside(x[i], y[i]) || !isMeant(i)) return;
        isFound[i] = 1;
        number++;
      });
      const found = new Uint32Array(number);
      for (let i = 0, at = 0; at < number; i++) if (isFound[i] === 1) found[at++] = i;
      return found;
    },
  };
}

const BANDS = 256;

// Whether a place is inside a closed line: an odd number of edges to its right, of those in its band.

function insideTest(line, low, high) {
  const band = (y) => min(BANDS - 1, max(0, floor(((y - low) / (high - low || 1)) * BANDS)));
  const edges = Array.from({ length: BANDS }, () => []);
  line.forEach(([x1, y1], place) => {
    const [x2, y2] = line[(place + 1) % line.length];
    if (y1 === y2) return;
    for (let at = band(min(y1, y2)); at <= band(max(y1, y2)); at++) edges[at].push(x1, y1, x2, y2);
  });
  const packed = edges.map((each) => Float64Array.from(each));
  return (x, y) => {
    const passing = packed[band(y)];
    let isInside = false;
    for (let at = 0; at < passing.length; at += 4) {
      const y1 = passing[at + 1];
      const y2 = passing[at + 3];
      if (y1 > y !== y2 > y && x < passing[at] + ((y - y1) / (y2 - y1)) * (passing[at + 2] - passing[at])) {
        isInside = !isInside;
      }
    }
    return isInside;
  };
}
