"""The comparison by standard measures, on made-up numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import standard
from standard import AUTO, DEFAULT, HARMONY, HARMONY_UMAP, TSNE

TOTALS = {TSNE: 0.4, DEFAULT: 0.7, AUTO: 0.6, HARMONY: 0.65, HARMONY_UMAP: 0.66}


def row(name: str, line: str, seed: int = 0, **values: Any) -> dict[str, Any]:
    measures = {"mixing": 0.5, "other_laplacian": 0.2, "rnx": 0.3, "total": 0.5}
    measures |= {"bio_conservation": 0.5, "batch_correction": 0.5, **values}
    return {"dataset": name, "line": line, "strength": np.nan, "seed": seed, **measures}


def rows(name: str, harmony_mixes: float) -> list[dict[str, Any]]:
    """Make both lines pass from mixing 0 and Laplacian 0 to mixing .8 and Laplacian .4 or .2."""
    found = [row(name, line) for line in standard.ONE_SEED]
    for seed in (0, 2):
        for line, total in TOTALS.items():
            values = {"total": total + 0.01 * seed, "rnx": 0.5 if line == TSNE else 0.3}
            if line == TSNE:
                values |= {"mixing": 0.0, "other_laplacian": 0.0}
            elif line in (DEFAULT, AUTO):
                values |= {"mixing": 0.6, "other_laplacian": 0.3 if line == DEFAULT else 0.15}
            else:
                values |= {"mixing": harmony_mixes, "other_laplacian": 0.2}
            found.append(row(name, line, seed, **values))
    # The strong ends of both seeds are different, with the same mean.
    for seed, change in ((0, 0.1), (2, -0.1)):
        for line, impure in ((DEFAULT, 0.4), (AUTO, 0.2)):
            end = {"mixing": 0.8, "other_laplacian": impure + change}
            found.append(row(name, line, seed, strength=1.0, **end))
    return found


@pytest.fixture
def made() -> pd.DataFrame:
    return pd.DataFrame([*rows("inside", 0.7), *rows("beyond", 0.9)])


def test_leads_are_over_the_better_map_after_harmony(made: pd.DataFrame) -> None:
    total = standard.by_set(made, "total")
    assert total.loc["inside", DEFAULT] == pytest.approx(0.71)  # mean of the seeds
    assert standard.leads(total).tolist() == pytest.approx([0.04, 0.04])


def test_lines_are_read_at_the_mixing_of_harmony(made: pd.DataFrame) -> None:
    read = standard.at_harmony(made).set_index("dataset")
    assert read.loc["inside", [DEFAULT, AUTO]].tolist() == pytest.approx([0.35, 0.175])
    assert np.isnan(read.loc["inside", f"{AUTO} ends"])
    assert read.loc["beyond", [AUTO, f"{AUTO} ends"]].tolist() == pytest.approx([0.2, 0.8])
    # A line that ends before Harmony's mixing is as pure only if ends count.
    assert standard.is_pure(read, ends=False).tolist() == [True, False]
    assert standard.is_pure(read, ends=True).tolist() == [True, True]


def test_the_section_states_verdicts_and_what_contradicts(
    made: pd.DataFrame, tmp_path: Path
) -> None:
    behind = (made["dataset"] == "beyond") & (made["line"] == HARMONY_UMAP)
    made.loc[behind, "total"] = 0.81
    standard.report(made, tmp_path)
    text = (tmp_path / "standard.md").read_text("utf-8")
    assert "a mean lead of .02: -.030 (**missed**)" in text
    assert "on at least 8 datasets: 2 of 2 (**missed**)" in text
    assert "on at least 9: 1 of 2 (**missed**); 2 if lines that end below" in text
    assert "higher total on 1 of 2 datasets: beyond (-.100)" in text
    assert "fewer neighbours than t-SNE on 2 of 2 datasets (mean difference -.200" in text
    assert ".200 \\* (.80)" in text


def test_every_map_is_made_once() -> None:
    tasks = standard.tasks()
    assert len(tasks) == len(set(tasks))
    assert {seed for _, line, _, seed in tasks if line == HARMONY} == {0, 1, 2}
    assert {seed for _, line, _, seed in tasks if line == standard.BBKNN} == {0}
