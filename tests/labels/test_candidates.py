"""Columns that could be labels, and what their names suggest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne.labels.candidates import kind_of, label_columns, number_columns


@pytest.mark.parametrize(
    ("kind", "names"),
    {
        "treatment": "stim Condition disease_state genotype sex timepoint drug.dose age day tissue",
        "nuisance": "batch donor_id patientID orig.ident seqBatch tech Library plate_type run lab",
        "analysis": "cell_type celltype CellType leiden_0.5 seurat_clusters annotation subclass",
        "unknown": "shape posture score trunk sextant labor vowel 1",
    }.items(),
)
def test_what_names_suggest(kind: str, names: str) -> None:
    kinds = {name: kind_of(name) for name in names.split()}
    assert set(kinds.values()) == {kind}, kinds


def test_columns_that_could_be_labels() -> None:
    n = 100
    columns: dict[str, Any] = {
        "celltype": pd.Series(np.arange(n) % 7).map("type {}".format),
        "sex": np.array(["f", "m"])[np.arange(n) % 2],
        "donor": pd.Series(np.arange(n) % 4).map("d{}".format).mask(np.arange(n) < 5),
        "plate": np.arange(n) % 3,
        "cell": pd.Series(np.arange(n)).map("c{}".format),
        "n_counts": np.arange(n) % 25 * 7,
        "score": np.linspace(0, 1, n),
        "one": np.full(n, "a"),
        "depth": np.arange(4 * n) % 60,
        "speaker": np.arange(4 * n) % 60,
        "lists": pd.Series([[1], [2]] * 50, dtype=object),
    }
    found = label_columns(columns)
    assert [*found] == ["donor", "plate", "speaker", "n_counts", "sex", "celltype"]
    assert found["donor"].n_missing == 5


def test_columns_that_could_be_numbers() -> None:
    n = 100
    columns: dict[str, Any] = {
        "score": np.linspace(0, 1, n),
        "gaps": pd.Series(np.linspace(0, 1, n)).mask(np.arange(n) < 5),
        "n_counts": np.arange(n) % 60,
        "row": np.arange(n),  # an identifier
        "few": np.arange(n) % 3 * 0.5,  # fewer values than groups
        "text": np.array(["a", "b"])[np.arange(n) % 2],
        "infinite": np.where(np.arange(n) < 1, np.inf, np.linspace(0, 1, n)),
    }
    found = number_columns(columns)
    assert list(found) == ["score", "gaps", "n_counts"]
    assert found["gaps"].n_missing == 5 and found["score"].numbers is not None


def test_a_selection_of_one_name_is_not_a_number() -> None:
    column = np.array([None, None, "selected", "selected"] * 5, object)
    assert not number_columns({"selection": column})
