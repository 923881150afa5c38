// Points drawn pixel by pixel as in gl.js, without a graphics card and for pictures of any size.

const STEPS = 4; // places within a pixel that a disc is prepared for, in each direction

function makeSplat(points) {
  const canvas = element("canvas");
  const context = canvas.getContext("2d");
  let image = null;
  let pixels = null; // premultiplied, 0xAABBGGRR
  let [redBlue, greenAlpha] = [new Uint32Array(0), new Uint32Array(0)];

  const load = (key) => {
    if (key !== "table") return; // the others are read in place
    redBlue = Uint32Array.from(points.table, ([red, , blue]) => red | (blue << 16));
    greenAlpha = Uint32Array.from(points.table, ([, green]) => green | (255 << 16));
  };

  // Draws every step-th point of a layer.
  const pass = (margin, place, { share, step, part, only, diameter, alpha, color }) => {
    const { n, from, to, codes } = points;
    const isDrawn = drawnTest(points, part, only);
    const stride = image.width;
    const { starts, offsets, weights } = discs(diameter, alpha, stride);
    const { scale, left, top } = place;
    const [right, bottom] = [canvas.width + 2 * margin, canvas.height + 2 * margin];
    const moves = share < 1;
    let [rb, ga] = [0, 0];
    if (color !== null) [rb, ga] = [color[0] | (color[2] << 16), color[1] | (255 << 16)];
    for (let i = 0; i < n; i += step) {
      if (!isDrawn(i)) continue;
      let x = to.x[i];
      let y = to.y[i];
      if (moves) {
        x = from.x[i] + share * (x - from.x[i]);
        y = from.y[i] + share * (y - from.y[i]);
      }
      x = left + x * scale + margin;
      y = top - y * scale + margin;
      if (!(x >= 0 && y >= 0 && x < right && y < bottom)) continue;
      const column = x | 0;
      const row = y | 0;
      const disc = (((y - row) * STEPS) | 0) * STEPS + (((x - column) * STEPS) | 0);
      const at = (row + margin) * stride + column + margin;
      if (color === null) {
        rb = redBlue[codes[i]];
        ga = greenAlpha[codes[i]];
      }
      for (let j = starts[disc], end = starts[disc + 1]; j < end; j++) {
        const spot = at + offsets[j];
        const weight = weights[j];
        const rest = 256 - weight;
        const below = pixels[spot];
        // Two channels at once; each stays within its 16 bits.
        const low = (Math.imul(below & 0xff00ff, rest) + Math.imul(rb, weight) + 0x800080) >>> 8;
        const high = Math.imul((below >>> 8) & 0xff00ff, rest) + Math.imul(ga, weight) + 0x800080;
        pixels[spot] = (low & 0xff00ff) | (high & 0xff00ff00);
      }
    }
  };

  return {
    canvas,
    load,
    draw({ width, height, view, share, step, layers }) {
      // Twice this margin is enough for a disc whose centre lies outside by its radius.
      const margin = ceil(max(...layers.map(({ diameter }) => diameter)) / 2 + 1);
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
      if (image === null || image.width !== width + 4 * margin || image.height !== height + 4 * margin) {
        image = new ImageData(width + 4 * margin, height + 4 * margin);
        pixels = new Uint32Array(image.data.buffer);
      } else {
        pixels.fill(0);
      }
      const place = camera(view, width, height);
      for (const layer of layers) pass(margin, place, { share, step, ...layer });
      asStraight(pixels);
      context.putImageData(image, -2 * margin, -2 * margin);
    },
  };
}

// The pixels that a disc covers, for each place of its centre within a pixel: distances in the
// image, and weights of 256.

function discs(diameter, alpha, stride) {
  const starts = [0];
  const offsets = [];
  const weights = [];
  const reach = ceil(diameter / 2 + 0.5);
  for (let disc = 0; disc < STEPS * STEPS; disc++) {
    const x = ((disc % STEPS) + 0.5) / STEPS;
    const y = (floor(disc / STEPS) + 0.5) / STEPS;
    for (let row = -reach; row <= reach; row++) {
      for (let column = -reach; column <= reach; column++) {
        const distance = hypot(column + 0.5 - x, row + 0.5 - y);
        const weight = round(256 * alpha * min(1, max(0, diameter / 2 - distance + 0.5)));
        if (weight < 4) continue; // would be lost in rounding
        offsets.push(row * stride + column);
        weights.push(weight);
      }
    }
    starts.push(offsets.length);
  }
  return { starts: Int32Array.from(starts), offsets: Int32Array.from(offsets), weights: Int32Array.from(weights) };
}

// Canvas images hold colours that are not multiplied by their opacity.

function asStraight(pixels) {
  for (let i = 0; i < pixels.length; i++) {
    const pixel = pixels[i];
    const alpha = pixel >>> 24;
    if (alpha === 0 || alpha === 255) continue;
    const red = min(255, ((pixel & 255) * 255 / alpha + 0.5) | 0);
    const green = min(255, (((pixel >>> 8) & 255) * 255 / alpha + 0.5) | 0);
    const blue = min(255, (((pixel >>> 16) & 255) * 255 / alpha + 0.5) | 0);
    pixels[i] = red | (green << 8) | (blue << 16) | (alpha << 24);
  }
}
