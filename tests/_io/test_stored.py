from __future__ import annotations

from pathlib import Path

import anndata
import pytest

from ctsne._io import Provenance, read_provenance
from ctsne.tl import ctsne

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


def test_a_map_of_python_says_so(cells: Path) -> None:
    adata = anndata.read_h5ad(cells)
    strengths = {"z": 0.5, "a": 1.0}
    ctsne(adata, "type", method="balanced", strength=strengths, perplexity=2, n_iter=5)
    ctsne(adata, "batch", method="joint", strength=0.5, perplexity=2, n_iter=5, key_added="second")
    adata.write_h5ad(cells)
    with pytest.raises(ValueError, match=r"'ctsne' in .* was made in Python, by ctsne\.tl\.ctsne"):
        read_provenance(cells)
    with pytest.raises(ValueError, match=r"strength=\{'z': 0.5, 'a': 1.0\}"):
        read_provenance(cells)
    with pytest.raises(ValueError, match=r"labels='batch', .*strength=0.5.*tl\.evaluate"):
        read_provenance(cells, key="second")
