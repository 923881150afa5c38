// Points drawn by the graphics card. Where they come from and where they go are both on the card,
// so that a frame of an animation changes one number.

const VERTEX = `#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in float fromX;
layout(location = 1) in float fromY;
layout(location = 2) in float toX;
layout(location = 3) in float toY;
layout(location = 4) in uint code;
layout(location = 5) in float raised;
layout(location = 6) in uint group; // 0: hidden
uniform vec4 camera; // factor and offset of x, then of y
uniform float share; // of the way
uniform float size;
uniform float alpha;
uniform bool masked; // the upper layer: highlighted points, or all that have a value
uniform int part; // what to draw: the lower layer, the upper one, or both
uniform uint only; // a group, or 0 for all
uniform bool plain; // in one colour
uniform vec3 faded;
uniform highp sampler2D table;
flat out vec4 color;
void main() {
  gl_PointSize = size + 1.0; // half a pixel of soft edge on each side
  bool isUpper = masked ? raised > 0.5 : code > 0u;
  if (group == 0u || (only > 0u && group != only) || (part < 2 && isUpper != (part == 1))) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0); // outside, so not drawn
    return;
  }
  vec2 place = mix(vec2(fromX, fromY), vec2(toX, toY), share);
  gl_Position = vec4(place * camera.xz + camera.yw, 0.0, 1.0);
  vec3 own = texelFetch(table, ivec2(code & 255u, code >> 8u), 0).rgb;
  color = vec4(plain ? faded : own, alpha);
}`;

const [CODE, GROUP] = [4, 6]; // their places among the inputs above

const FRAGMENT = `#version 300 es
precision highp float;
flat in vec4 color;
uniform float size;
out vec4 drawn;
void main() {
  float distance = length(gl_PointCoord - 0.5) * (size + 1.0);
  float opacity = color.a * clamp(size / 2.0 - distance + 0.5, 0.0, 1.0);
  drawn = vec4(color.rgb * opacity, opacity);
}`;

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

// A renderer of the points, or null if there is no card: emulated WebGL is slower than splat.js.
// A driver may take its context away at any time and give it back later.

function makeCard(points, { onLost, onReturn, insist = false }) {
  const canvas = element("canvas");
  const gl = canvas.getContext("webgl2", {
    antialias: false, depth: false, failIfMajorPerformanceCaveat: !insist,
    preserveDrawingBuffer: true, // otherwise it is empty in print
  });
  if (gl === null) return null;
  const named = gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = gl.getParameter(named === null ? gl.RENDERER : named.UNMASKED_RENDERER_WEBGL);
  if (!insist && SOFTWARE.test(renderer)) {
    gl.getExtension("WEBGL_lose_context")?.loseContext();
    return null;
  }
  const uniform = {};
  let [buffers, layouts] = [[], []];

  const build = () => {
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return false;
    gl.useProgram(program);
    for (const name of ["camera", "share", "size", "alpha", "masked", "part", "only", "plain", "faded"]) {
      uniform[name] = gl.getUniformLocation(program, name);
    }
    buffers = Array.from({ length: 7 }, () => gl.createBuffer());
    layouts = [];
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    return true;
  };
  const attribute = (place, array, type) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[place]);
    gl.bufferData(gl.ARRAY_BUFFER, array, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(place);
    layouts[place] = { type, bytes: array.BYTES_PER_ELEMENT, step: 0 };
  };
  // Makes the card read every step-th point.
  const stride = (step) => {
    layouts.forEach((layout, place) => {
      if (layout.step === step) return;
      layout.step = step;
      gl.bindBuffer(gl.ARRAY_BUFFER, buffers[place]);
      if (place === CODE || place === GROUP) gl.vertexAttribIPointer(place, 1, layout.type, step * layout.bytes, 0);
      else gl.vertexAttribPointer(place, 1, layout.type, false, step * layout.bytes, 0);
    });
  };
  const loaders = {
    from() {
      attribute(0, points.from.x, gl.FLOAT);
      attribute(1, points.from.y, gl.FLOAT);
    },
    to() {
      attribute(2, points.to.x, gl.FLOAT);
      attribute(3, points.to.y, gl.FLOAT);
    },
    codes() {
      attribute(CODE, points.codes, { 1: gl.UNSIGNED_BYTE, 2: gl.UNSIGNED_SHORT, 4: gl.UNSIGNED_INT }[points.codes.BYTES_PER_ELEMENT]);
    },
    table() {
      const rows = ceil(points.table.length / 256);
      const bytes = new Uint8Array(4 * 256 * rows);
      points.table.forEach((color, code) => bytes.set(color, 4 * code));
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    },
    mask() {
      if (points.mask !== null) attribute(5, points.mask, gl.UNSIGNED_BYTE);
    },
    group() {
      attribute(GROUP, points.group, gl.UNSIGNED_BYTE);
    },
  };
  on(canvas, "webglcontextlost", (event) => {
    event.preventDefault(); // asks for it back
    onLost();
  });
  on(canvas, "webglcontextrestored", () => {
    if (build()) onReturn();
  });
  if (!build()) return null;

  return {
    canvas,
    load: (key) => loaders[key](),
    draw({ width, height, view, share, step, layers }) {
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
      const { scale, left, top } = camera(view, width, height);
      stride(step);
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform4f(uniform.camera, (2 * scale) / width, (2 * left) / width - 1, (2 * scale) / height, 1 - (2 * top) / height);
      gl.uniform1f(uniform.share, share);
      gl.uniform1i(uniform.masked, points.mask !== null);
      for (const { part, only, diameter, alpha, color } of layers) {
        gl.uniform1i(uniform.part, part);
        gl.uniform1ui(uniform.only, only);
        gl.uniform1i(uniform.plain, color !== null);
        if (color !== null) gl.uniform3f(uniform.faded, ...color.map((part) => part / 255));
        gl.uniform1f(uniform.size, diameter);
        gl.uniform1f(uniform.alpha, alpha);
        gl.drawArrays(gl.POINTS, 0, ceil(points.n / step));
      }
    },
  };
}
