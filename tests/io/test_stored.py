from __future__ import annotations

from pathlib import Path

import pytest

from ctsne.io import Provenance, read_provenance

MADE = Provenance("sweep", {"seed": 0})


def test_the_folder_of_a_sweep(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"not the folder of a sweep: it has no settings\.json"):
        read_provenance(tmp_path)
    (tmp_path / "settings.json").write_text(MADE.to_json(indent=1))
    assert read_provenance(tmp_path) == MADE
    assert read_provenance(tmp_path / "settings.json") == MADE


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        read_provenance(tmp_path / "map.csv")
    (tmp_path / "map.docx").write_text("")
    with pytest.raises(ValueError, match=r"files that can be read end in .*\.png"):
        read_provenance(tmp_path / "map.docx")
