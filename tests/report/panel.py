"""One panel alone on a page, and what is seen of it, for tests of the drawing."""

from __future__ import annotations

import base64
import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .conftest import Opened

COLORS = ["#808080", "#d00000", "#00a000", "#0000d0"]
WHOLE = {"x": 0.5, "y": 0.5, "side": 1.06}
RNG = np.random.default_rng(3)
UNIFORM = RNG.random((4000, 2)).astype(np.float32)
CORNERS = np.array([[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.1, 0.9]], np.float32)

_PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0 }}
#host {{ position: relative; width: {width}px; height: {height}px; background: #fff }}
</style><div id="host" tabindex="0"></div><script>(() => {{ "use strict";
{scripts}
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
const flat = new Float32Array(bytes("{points}"));
const n = flat.length / 2;
const map = {{ x: flat.slice(0, n), y: flat.slice(n) }};
const codes = new Uint16Array(bytes("{codes}"));
const said = {{ hover: [], tap: [], select: [], view: [] }};
const panel = makePanel(document.getElementById("host"), {{
  n, insist: {insist},
  onHover: (point) => said.hover.push(point), onTap: (point) => said.tap.push(point),
  onSelect: (points, mode) => said.select.push([Array.from(points), mode]),
  onView: (view) => said.view.push(view),
}});
panel.show(map, false);
panel.paint(codes, {colors});
const pixel = (left, top) => {{
  const copy = document.createElement("canvas");
  const canvas = document.querySelector("#host canvas");
  Object.assign(copy, {{ width: canvas.width, height: canvas.height }});
  copy.getContext("2d").drawImage(canvas, 0, 0);
  return Array.from(copy.getContext("2d").getImageData(left, top, 1, 1).data);
}};
window.ctsnePage = {{
  panel, map, codes, said, pixel, shortened, linksOf, linkWords,
  state: () => ({{ moving: panel.moving() }}),
}};
}})();</script>"""


def write_panel(
    path: Path,
    points: NDArray[Any],
    codes: NDArray[Any] | None,
    *,
    insist: bool,
    colors: list[str],
    size: tuple[int, int],
) -> None:
    """Write a page that draws one panel of the points given."""
    assets = resources.files("ctsne.report") / "assets"
    scripts = [path for path in assets.iterdir() if path.suffix == ".js" and path.stem != "start"]
    coded = np.arange(len(points)) % 3 + 1 if codes is None else codes
    text = _PAGE.format(
        scripts="\n".join(path.read_text("utf-8") for path in scripts),
        points=_packed(points.T, np.float32),
        codes=_packed(coded, np.uint16),
        insist=json.dumps(insist),
        colors=json.dumps(colors),
        width=size[0],
        height=size[1],
    )
    path.write_text(text, "utf-8")


def _packed(values: NDArray[Any], dtype: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype).tobytes()).decode()


def in_pixels(points: NDArray[Any], view: dict[str, float] = WHOLE, side: float = 400.0) -> Any:
    scale = side / view["side"]
    x, y = points.T.astype(float)
    return np.column_stack([side / 2 + (x - view["x"]) * scale, side / 2 - (y - view["y"]) * scale])


def color_at(page: Opened, place: NDArray[Any]) -> list[int]:
    left, top = np.floor(place).tolist()
    found: list[int] = page.page.evaluate("([x, y]) => ctsnePage.pixel(x, y)", [left, top])
    return found


def is_near(pixel: list[int], color: str) -> bool:
    wanted = [int(color[start : start + 2], 16) for start in (1, 3, 5)]
    return bool(np.abs(np.subtract(pixel[:3], wanted)).max() <= 6)


def image(page: Opened, canvas: str) -> NDArray[np.uint8]:
    """Return the pixels of a canvas on white."""
    width, height, text = page.page.evaluate(
        f"""() => {{
            const source = {canvas};
            const copy = document.createElement("canvas");
            Object.assign(copy, {{ width: source.width, height: source.height }});
            const context = copy.getContext("2d");
            context.fillStyle = "#ffffff";
            context.fillRect(0, 0, copy.width, copy.height);
            context.drawImage(source, 0, 0);
            const {{ data }} = context.getImageData(0, 0, copy.width, copy.height);
            let letters = "";
            for (const value of data) letters += String.fromCharCode(value);
            return [copy.width, copy.height, btoa(letters)];
        }}"""
    )
    raw = np.frombuffer(base64.b64decode(text), np.uint8)
    return raw.reshape(height, width, 4)[..., :3]
