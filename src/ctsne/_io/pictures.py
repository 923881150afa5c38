"""Provenance inside pictures and pages, written by matplotlib and read without it."""

from __future__ import annotations

import html
import re
import struct
from collections.abc import Callable
from typing import Any

from ctsne._io.provenance import Provenance

__all__ = ["PICTURE_READERS", "picture_metadata"]

_PNG_START = b"\x89PNG\r\n\x1a\n"
_PNG_KEY = b"ctsne"


def picture_metadata(provenance: Provenance, suffix: str) -> dict[str, Any]:
    """Return what to give to ``savefig(metadata=...)``: the provenance, and no time stamp.

    For equal bytes an .svg also needs the setting ``svg.hashsalt`` of matplotlib.

    Parameters
    ----------
    provenance : Provenance
        How the picture was made.
    suffix : {".png", ".svg", ".pdf"}
        The kind of picture.

    Returns
    -------
    dict
        Metadata in the words of that kind.

    Raises
    ------
    ValueError
        If there is no such kind.

    Examples
    --------
    >>> from ctsne._io import Provenance, picture_metadata
    >>> sorted(picture_metadata(Provenance("plot", {}), ".png"))
    ['Software', 'ctsne']
    """
    text = provenance.to_json()
    if suffix == ".png":
        return {_PNG_KEY.decode(): text, "Software": None}
    if suffix == ".svg":
        return {"Description": text, "Date": None}
    if suffix == ".pdf":
        return {"Subject": text, "CreationDate": None}
    raise ValueError(f"suffix must be one of {', '.join(PICTURE_READERS)}; got {suffix!r:.60}")


def _from_png(content: bytes) -> str | None:
    """Find the text chunk: four bytes of length, four of kind, the content, four of checksum."""
    if not content.startswith(_PNG_START):
        return None
    place = len(_PNG_START)
    while place + 8 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, place)
        if kind == b"tEXt":
            key, _, value = content[place + 8 : place + 8 + length].partition(b"\0")
            if key == _PNG_KEY:
                return value.decode("latin-1")
        place += length + 12
    return None


def _from_svg(content: bytes) -> str | None:
    found = re.search(rb"<dc:description>(.*?)</dc:description>", content, re.DOTALL)
    return html.unescape(found[1].decode("utf-8", "replace")).strip() if found else None


def _from_pdf(content: bytes) -> str | None:
    found = re.search(rb"/Subject \(((?:\\.|[^\\()])*)\)", content, re.DOTALL)
    return re.sub(r"\\(.)", r"\1", found[1].decode("latin-1")) if found else None


def _from_html(content: bytes) -> str | None:
    found = re.search(
        rb'<script[^>]*\bid="ctsne-provenance"[^>]*>(.*?)</script>', content, re.DOTALL
    )
    return found[1].decode("utf-8", "replace") if found else None


PICTURE_READERS: dict[str, Callable[[bytes], str | None]] = {
    ".png": _from_png,
    ".svg": _from_svg,
    ".pdf": _from_pdf,
    ".html": _from_html,
}
