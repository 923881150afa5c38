from __future__ import annotations

import pytest

from ctsne._core.messages import closest, label_text, listed, unknown


@pytest.mark.parametrize(
    ("wrong", "right"), [("bacth", "batch"), ("BATCH", "batch"), ("tech", "Tech")]
)
def test_a_wrong_name_suggests_the_right_one(wrong: str, right: str) -> None:
    known = ["donor", "batch", "Tech"]
    assert f"did you mean {right!r}?" in unknown(wrong, known, what="column", where="x.csv")


def test_a_name_like_no_other_lists_them() -> None:
    text = unknown("zzz", ["donor", "batch"], what="column", where="x.csv")
    assert text == "no column 'zzz' in x.csv; there are 'donor', 'batch'"
    assert unknown("z", [], what="layer", where="x").endswith("there are none")


def test_a_wrong_name_also_lists_the_known_ones() -> None:
    text = unknown("bacth", ["batch", "donor"], what="column", where="cells.csv")
    assert text == (
        "no column 'bacth' in cells.csv; did you mean 'batch'? There are 'batch', 'donor'"
    )
    assert closest("bacth", ["Batch", "donor"]) == ["Batch"]
    assert [label_text(value) for value in (3.0, 2.5, "x")] == ["3", "2.5", "x"]


def test_long_lists_stay_readable() -> None:
    text = listed(f"gene{i}" for i in range(30_000))
    assert text.endswith("... (30000 in all)") and len(text) < 200
    assert len(listed(["x" * 1000])) < 80
    assert listed([]) == "(none)"


def test_names_with_commas_between() -> None:
    known = ["study", "cell_type"]
    text = unknown("study, cell_type", known, what="column", where="x.csv")
    assert text.endswith("separate names with spaces, not commas: study cell_type")
    assert "commas" not in unknown("study,sex", known, what="column", where="x.csv")


def test_an_unknown_name_shows_both_ends_of_many_names() -> None:
    """Labels of a table come before or after its many features."""
    known = [f"PC{i}" for i in range(50)] + ["donor", "cell_type"]
    text = unknown("nothing", known, what="column", where="cells.csv")
    assert "there are 'PC0', 'PC1'" in text
    assert text.endswith("'donor', 'cell_type' (52 in all)")
