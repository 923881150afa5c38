// Marks above the points: names, ring and lasso.

function drawMarks(context, seen) {
  const { scale, left, top } = camera(seen.view, seen.width, seen.height);
  const ink = seen.look.dark ? "#ffffff" : "#111111";
  const paper = seen.look.dark ? "#000000" : "#ffffff";
  const { points, share, ring, lasso } = seen;
  if (lasso !== null) {
    context.beginPath();
    lasso.forEach(([x, y]) => context.lineTo(left + x * scale, top - y * scale));
    context.closePath();
    context.fillStyle = "rgba(90, 130, 220, 0.15)";
    context.fill();
    context.strokeStyle = ink;
    context.lineWidth = 1.5;
    context.stroke();
  }
  if (ring !== null) {
    const mixed = (axis) => points.from[axis][ring] * (1 - share) + points.to[axis][ring] * share;
    context.beginPath();
    context.arc(left + mixed("x") * scale, top - mixed("y") * scale, 8, 0, 2 * Math.PI);
    context.strokeStyle = paper;
    context.lineWidth = 5;
    context.stroke();
    context.strokeStyle = ink;
    context.lineWidth = 2.5;
    context.stroke();
  }
}
function pictureOf() {}
function svgOf() {}
