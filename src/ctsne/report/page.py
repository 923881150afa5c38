"""The HTML file: template, style, scripts and data in one piece."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LIBRARY = ("bokeh.min.js", "bokeh-gl.min.js", "bokeh-api.min.js")
# Functions only, so their order does not matter; ``start.js`` calls them.
_SCRIPTS = (
    "data.js", "state.js", "maps.js", "charts.js", "legend.js", "selection.js", "points.js",
    "tables.js", "copying.js", "printing.js", "start.js",
)  # fmt: skip
# Nothing is loaded and only our scripts run. Bokeh needs ``unsafe-eval`` to draw with WebGL and
# sets styles on single elements.
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; "
    "style-src 'unsafe-inline'; script-src 'unsafe-eval' {}"
)


def build_page(
    title: str, contents: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> bytes:
    """Return the bytes of a page whose scripts find the contents (as JSON) and arrays by name."""
    own = "\n".join(_asset(name) for name in _SCRIPTS)
    scripts = [*_library(), f'(() => {{\n"use strict";\n{own}}})();']
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in digests)
    data = [
        f'<script type="application/json" id="ctsne-{name}">{_json(content)}</script>'
        for name, content in contents.items()
    ]
    data += [
        f'<script type="text/plain" id="ctsne-{name}">{_base64(values)}</script>'
        for name, values in arrays.items()
    ]
    parts = {
        "policy": _POLICY.format(hashes),
        "title": html.escape(title),
        "style": _asset("page.css"),
        "data": "\n".join(data),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }

    def filled(size: str) -> bytes:
        # In one pass, so that inserted text is never searched.
        known = {**parts, "size": size}
        text = re.sub(r"{{(\w+)}}", lambda name: known[name[1]], _asset("page.html"))
        return text.encode(errors="replace")

    return filled(f"{len(filled('')) / 1e6:.1f} MB")


def _library() -> list[str]:
    try:
        folder = resources.files("bokeh") / "server" / "static" / "js"
        texts = [(folder / name).read_text("utf-8") for name in _LIBRARY]
    except (ImportError, OSError) as error:
        raise ImportError('a page needs Bokeh: pip install "ctsne[report]"') from error
    # "</script" would end the element, even inside a string.
    return [text.replace("</script", "<\\/script").replace("\r", "") for text in texts]


def _asset(name: str) -> str:
    return (resources.files("ctsne.report") / "assets" / name).read_text("utf-8")


def _json(content: Any) -> str:
    """Write JSON in which no text can end the script element around it."""
    # ASCII escapes cover U+2028, U+2029 and lone surrogates.
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _base64(values: NDArray[Any]) -> str:
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode()
