// Lines, rings, boxes and texts, as lists that the screen and saved pictures draw.

const RING = { radius: 8, halo: 5, line: 2.5 };

// Where a point is in a frame, in CSS pixels.

function pointPlace({ points, view, width, height, share }, point) {
  const { scale, left, top } = camera(view, width, height);
  const mixed = (axis) => points.from[axis][point] * (1 - share) + points.to[axis][point] * share;
  return [left + mixed("x") * scale, top - mixed("y") * scale];
}

// In a frame: lines to neighbours, rings around the point under the pointer and the one clicked.

function frameMarks(frame) {
  const { ink, paper } = inks(frame.look);
  const ringed = new Set([frame.ring, frame.links?.point ?? null]);
  ringed.delete(null);
  return [...linkMarks(frame), ...Array.from(ringed).flatMap((point) => [[paper, RING.halo], [ink, RING.line]].map(([color, width]) => ({
    ring: pointPlace(frame, point), radius: RING.radius, color, width,
  })))];
}

function drawMark(context, { text, at, anchor = "start", weight = 400, size = FONT.text, line, ring, radius, box, color, width = 1, dash = [], isFull = false }) {
  context.fillStyle = context.strokeStyle = color;
  if (text !== undefined) {
    context.font = `${weight} ${size}px ${FONT.family}`;
    context.textAlign = anchor;
    context.textBaseline = "alphabetic";
    context.fillText(text, ...at);
    return;
  }
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  if (line !== undefined) line.forEach((place) => context.lineTo(...place));
  else if (ring !== undefined) context.arc(...ring, radius, 0, 2 * Math.PI);
  else context.rect(...box);
  if (isFull) context.fill();
  else context.stroke();
  context.setLineDash([]);
}

function svgMark({ text, at, anchor = "start", weight = 400, size = FONT.text, line, ring, radius, box, color, width = 1, dash = [], isFull = false }) {
  const given = (names, values) => names.map((name, place) => `${name}="${values[place].toFixed(2)}"`).join(" ");
  if (text !== undefined) {
    return `<text ${given(["x", "y"], at)} fill="${color}" font-family="${FONT.family}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}">${escaped(text)}</text>`;
  }
  const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
  const ink = isFull ? `fill="${color}"/>` : `fill="none" stroke="${color}" stroke-width="${width}"${dashes}/>`;
  if (line !== undefined) return `<line ${given(["x1", "y1", "x2", "y2"], line.flat())} ${ink}`;
  if (ring !== undefined) return `<circle ${given(["cx", "cy"], ring)} r="${radius}" ${ink}`;
  return `<rect ${given(["x", "y", "width", "height"], box)} ${ink}`;
}

function inFrame(context, { left, top, width, height }, draw) {
  context.save();
  context.translate(left, top);
  context.beginPath();
  context.rect(0, 0, width, height);
  context.clip();
  draw();
  context.restore();
}

function svgFrame(frame) {
  const { left, top, width, height } = frame;
  return `<svg x="${left}" y="${top}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${frameMarks(frame).map(svgMark).join("")}</svg>`;
}
