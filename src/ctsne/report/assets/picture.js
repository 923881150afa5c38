// What is seen above the points, and pictures of all that is seen, to save.

const MOST_CIRCLES = 20000;

function inks({ dark }) {
  return dark ? { ink: "#f4f5f7", paper: "#15171b" } : { ink: "#15171b", paper: "#ffffff" };
}

function drawMarks(context, seen) {
  drawContours(context, seen);
  drawNames(context, seen.named, inks(seen.look), seen.unlit);
  for (const mark of tileMarks(seen)) drawMark(context, mark);
  for (const frame of framesOf(seen)) {
    inFrame(context, frame, () => frameMarks(frame).forEach((mark) => drawMark(context, mark)));
  }
}

function drawLasso(context, seen) {
  if (seen.lasso === null) return;
  const frame = framesOf(seen)[seen.aimed];
  inFrame(context, frame, () => strokeLasso(context, frame));
}

function strokeLasso(context, { view, width, height, lasso, look }) {
  const { scale, left, top } = camera(view, width, height);
  context.beginPath();
  for (const [x, y] of lasso) context.lineTo(left + x * scale, top - y * scale);
  context.closePath();
  context.fillStyle = look.dark ? "rgba(150, 180, 255, 0.16)" : "rgba(60, 100, 200, 0.12)";
  context.fill();
  context.strokeStyle = inks(look).ink;
  context.lineWidth = 1.5;
  context.setLineDash([5, 4]);
  context.stroke();
  context.setLineDash([]);
}

function pointsPicture(seen, ratio) {
  const splat = makeSplat(seen.points);
  splat.load("table");
  if (seen.tiles === null) {
    splat.draw(frameOf(seen, ratio, 1));
    return splat.canvas;
  }
  const sheet = element("canvas");
  drawTiles(sheet, splat, seen, ratio, 1);
  return sheet;
}

function pictureOf(host, seen, ratio) {
  const points = pointsPicture(seen, ratio);
  const canvas = element("canvas", "", { width: points.width, height: points.height });
  const context = canvas.getContext("2d");
  context.fillStyle = backgroundOf(host);
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(points, 0, 0);
  context.scale(ratio, ratio);
  drawMarks(context, seen);
  return canvas;
}

function backgroundOf(host) {
  for (let at = host; at !== null; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (color !== "transparent" && color !== "rgba(0, 0, 0, 0)") return color;
  }
  return "#ffffff";
}

// Texts and attributes of XML. Some characters cannot be part of it, not even as references.

function escaped(text) {
  const allowed = text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
  return allowed.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function svgOf(host, seen) {
  const { width, height, look } = seen;
  const colors = inks(look);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" fill="${escaped(backgroundOf(host))}"/>`,
    seen.tiles === null ? svgPoints(seen) : svgImage(seen),
    svgContours(seen),
    ...tileMarks(seen).map(svgMark),
  ];
  // The halo is a text of its own, because not every program knows how to draw it below the letters.
  const family = escaped(getComputedStyle(host).fontFamily);
  const texts = (style) => {
    lines.push(`<g font-family="${family}" font-weight="600" text-anchor="middle" ${style}>`);
    for (const { text, x, y, font, anchor } of seen.named) {
      const direction = RIGHT_TO_LEFT.test(text) ? ' direction="rtl"' : "";
      const opacity = seen.unlit.has(anchor.code) ? ' opacity="0.35"' : "";
      lines.push(`<text x="${x.toFixed(1)}" y="${(y + 0.35 * font.size).toFixed(1)}" font-size="${font.size}"${direction}${opacity}>${escaped(text)}</text>`);
    }
    lines.push("</g>");
  };
  for (const { line, anchor } of seen.named) {
    if (line === null) continue;
    const [path, opacity] = [linePath(line), seen.unlit.has(anchor.code) ? 0.35 : 1];
    for (const [color, wide] of [[colors.paper, 3.5], [colors.ink, 1.2]]) {
      lines.push(`<path d="${path}" fill="none" stroke="${color}" stroke-width="${wide}" opacity="${opacity}"/>`);
    }
  }
  if (seen.named.length > 0) {
    texts(`fill="none" stroke="${colors.paper}" stroke-width="3.5" stroke-linejoin="round"`);
    texts(`fill="${colors.ink}"`);
  }
  lines.push(...framesOf(seen).map(svgFrame));
  return [...lines, "</svg>"].join("\n");
}

function svgImage(seen) {
  return `<image width="${seen.width}" height="${seen.height}" xlink:href="${pointsPicture(seen, 2).toDataURL("image/png")}"/>`;
}

// Circles, or a picture if they are too many for a program to open.

function svgPoints(seen) {
  const { points, width, height } = seen;
  const { layers } = frameOf(seen, 1, 1);
  const fills = points.table.map(hex);
  const lines = [];
  let number = 0;
  for (const { part, only, diameter, alpha, color } of layers) {
    const isDrawn = drawnTest(points, part, only);
    const radius = diameter / 2;
    lines.push(`<g fill-opacity="${alpha.toFixed(3)}"${color === null ? "" : ` fill="${hex(color)}"`}>`);
    for (let i = 0; i < points.n; i++) {
      if (!isDrawn(i)) continue;
      const [x, y] = pointPlace(seen, i);
      if (!(x > -radius && y > -radius && x < width + radius && y < height + radius)) continue;
      if (++number > MOST_CIRCLES) return svgImage(seen);
      const fill = color === null ? ` fill="${fills[points.codes[i]]}"` : "";
      lines.push(`<circle cx="${x.toFixed(2)}" cy="${y.toFixed(2)}" r="${radius.toFixed(2)}"${fill}/>`);
    }
    lines.push("</g>");
  }
  return lines.join("\n");
}
