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

from ctsne._core.messages import size_text

# Nothing is loaded; only our script runs and only our style sheet applies.
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {style}; "
    "script-src {script}"
)
_ASSETS = resources.files("ctsne.report") / "assets"


def build_page(
    title: str, contents: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> bytes:
    """Return the bytes of a page whose scripts find the contents (as JSON) and arrays by name."""
    # Functions and constants, so their order does not matter; start.js calls them.
    names = sorted(asset.name for asset in _ASSETS.iterdir() if asset.name.endswith(".js"))
    own = "\n".join(map(_asset, sorted(names, key="start.js".__eq__)))
    script = f'(() => {{\n"use strict";\n{own}}})();'
    style = _asset("page.css") + _asset("print.css")
    data = [
        (f'<script type="application/json" id="ctsne-{name}">'.encode(), _json(content))
        for name, content in contents.items()
    ] + [
        (f'<script type="text/plain" id="ctsne-{name}">'.encode(), _base64(values))
        for name, values in arrays.items()
    ]
    known = {
        "policy": [_POLICY.format(style=_digest(style), script=_digest(script)).encode()],
        "title": [html.escape(title).encode(errors="replace")],
        "style": [style.encode()],
        "data": [piece for start, text in data for piece in (start, text, b"</script>\n")],
        "scripts": [f"<script>{script}</script>".encode()],
        "size": [b""],
    }
    # Text and names of the template alternate. What is inserted is never searched, and copied once.
    texts = re.split(r"{{(\w+)}}", _asset("page.html"))
    pieces = [known[text] if place % 2 else [text.encode()] for place, text in enumerate(texts)]
    size = sum(len(text) for piece in pieces for text in piece)
    known["size"][0] = size_text(size).encode()
    return b"".join(text for piece in pieces for text in piece)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


def _json(content: Any) -> bytes:
    """Write JSON in which no text can end the script element around it."""
    # ASCII escapes cover U+2028, U+2029 and lone surrogates.
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode()


def _base64(values: NDArray[Any]) -> bytes:
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return base64.b64encode(little.data)
