from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure

from ctsne._io import InputRecord, Provenance, picture_metadata, read_provenance

MADE = Provenance(
    "plot",
    {"title": "a (b) \\ <i>&amp;</i> \"q\" 'r' \n ü 👩‍🔬 ) (", "long": "x" * 5000},
    [InputRecord("map (1).csv")],
)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_pictures_say_how_they_were_made(suffix: str, tmp_path: Path) -> None:
    contents = []
    for name in ("a", "b"):
        figure = Figure()
        figure.subplots().plot([1, 2])
        with matplotlib.rc_context({"svg.hashsalt": "ctsne"}):
            figure.savefig(tmp_path / f"{name}{suffix}", metadata=picture_metadata(MADE, suffix))
        assert read_provenance(tmp_path / f"{name}{suffix}") == MADE
        contents.append((tmp_path / f"{name}{suffix}").read_bytes())
    assert contents[0] == contents[1]
    Figure().savefig(tmp_path / f"other{suffix}")
    with pytest.raises(ValueError, match="does not say how it was made"):
        read_provenance(tmp_path / f"other{suffix}")


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".html"])
def test_broken_pictures(suffix: str, tmp_path: Path) -> None:
    for content in (b"", b"\x89PNG\r\n\x1a\n\xff\xff\xff\xfftEXtctsne", b"<svg>", b"%PDF"):
        (tmp_path / f"a{suffix}").write_bytes(content)
        with pytest.raises(ValueError, match=r"does not say how|no settings stored by ctsne"):
            read_provenance(tmp_path / f"a{suffix}")


def test_pages_say_how_they_were_made(tmp_path: Path) -> None:
    text = MADE.to_json().replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    page = f'<p>ü</p><script type="application/json" id="ctsne-provenance">{text}</script>'
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    assert read_provenance(tmp_path / "page.html") == MADE


def test_other_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match=r"suffix must be one of .*got '\.bmp'"):
        picture_metadata(MADE, ".bmp")
