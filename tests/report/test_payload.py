"""The points that a page shows, and its maps and columns as facts and packed arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne import pl
from ctsne.labels import encode_column
from ctsne.pl.palette import METHOD_COLORS
from ctsne.report.columns import PageColumn
from ctsne.report.data import PageData, PageLine, PageMap
from ctsne.report.payload import build_payload, choose_rows

NONE = np.empty(0, np.int64)


def page(n: int, *columns: Any, **options: Any) -> PageData:
    """Make a page of one map with columns of labels."""
    rng = np.random.default_rng(0)
    maps = [PageMap("a map", rng.normal(size=(n, 2)).astype(np.float32))]
    named = [PageColumn(f"c{i}", encode_column(values)) for i, values in enumerate(columns)]
    return PageData(maps, [PageLine("t-SNE", "tsne", [0])], columns=named, **options)


def test_few_points_are_all_shown_in_a_mixed_order() -> None:
    rows = choose_rows(page(100), NONE, 100)
    assert sorted(rows.tolist()) == list(range(100))
    assert rows.tolist() != list(range(100))


def test_sample_has_every_label_and_what_is_wanted() -> None:
    n, most = 10_000, 500
    rare = np.zeros(n, int)
    rare[:40] = np.arange(40)
    missing = np.where(np.arange(n) == 77, None, "a")
    rows = choose_rows(page(n, rare, missing), np.array([9_998, 9_999, 9_999]), most)
    assert len(rows) == len(set(rows.tolist())) == most
    assert set(rare[rows].tolist()) == set(range(40))
    assert 77 in rows and {9_998, 9_999} <= set(rows.tolist())
    # The rest is a fair draw: its mean is within five standard errors.
    drawn = rows[(rows >= 40) & (rows < 9_998)]
    assert abs(drawn.mean() - n / 2) < 5 * n / np.sqrt(12 * len(drawn))


def test_columns_with_too_many_labels_are_left_to_chance() -> None:
    n = 5_000
    rows, again = (choose_rows(page(n, np.arange(n), np.arange(n) % 7), NONE, 200) for _ in "ab")
    assert len(rows) == 200 and rows.tolist() == again.tolist()
    assert set((rows % 7).tolist()) == set(range(7))


def test_labels_and_lines_have_the_colours_of_all_figures() -> None:
    kind = np.arange(60) % 20
    one = page(60, kind)
    other = PageMap("another", -one.maps[0].embedding[::-1], "joint")
    lines = [PageLine("joint", "joint", [0], "strength"), PageLine("t-SNE", "tsne", [1])]
    facts, _ = build_payload(replace(one, maps=[other, *one.maps], lines=lines))
    assert facts["reference"] == 1
    chosen = pl.palette(kind)
    assert facts["columns"][0]["colors"] == [chosen[name] for name in range(20)]
    assert [line["color"] for line in facts["lines"]] == [
        METHOD_COLORS["joint"],
        METHOD_COLORS["tsne"],
    ]
    assert facts["lines"][0]["knob"] == "strength"


def test_a_diagnostic_with_one_value_is_stored_once() -> None:
    made = page(12)
    rng = np.random.default_rng(0)
    diagnostics = {name: rng.uniform(size=12) for name in ("other_share", "largest_weight")}
    diagnostics["perplexity"] = np.full(12, 30) + np.linspace(0, 0.01, 12)
    maps = [replace(made.maps[0], diagnostics=diagnostics), PageMap("failed", None, error="no")]
    facts, arrays = build_payload(replace(made, maps=maps))
    assert facts["maps"][0]["constant"] == {"perplexity": 30.01}
    assert set(facts["maps"][0]["highest"]) == {"other_share", "largest_weight"}
    kept = {"map-0-positions", "map-0-other_share", "map-0-largest_weight"}
    assert set(arrays) == {"rows", *kept}
    assert sum(arrays[name].nbytes for name in kept) == 12 * 6
    assert facts["maps"][1]["error"] == "no" and "dominated" not in facts["maps"][1]


@pytest.mark.parametrize(
    "names", [["a", 2.0, "x" * 600], np.array(["a", "2", "x" * 600]), pd.Index(["a", 2, "x" * 600])]
)
def test_names_are_short_texts(names: Any) -> None:
    facts, arrays = build_payload(page(3, names=names))
    texts = np.array(["a", "2", "x" * 499 + "…"])
    assert facts["names"] == texts[arrays["rows"]].tolist()


def test_neighbours_are_places_among_the_points_shown() -> None:
    near = np.column_stack([(np.arange(50) + step) % 50 for step in (1, 2, 3)])
    facts, arrays = build_payload(page(50, neighbors=near), most=30)
    rows, found = arrays["rows"], arrays["neighbors"].reshape(30, 3)
    assert facts["neighbors"] == 3 and found.dtype == np.uint32
    hidden = found == 0xFFFFFFFF
    assert hidden.any() and not hidden.all()
    np.testing.assert_array_equal(hidden, ~np.isin(near[rows], rows))
    np.testing.assert_array_equal(rows[found[~hidden]], near[rows][~hidden])
    facts, arrays = build_payload(page(50))
    assert facts["neighbors"] == 0 and "neighbors" not in arrays


def test_positions_can_be_given_back() -> None:
    made = page(40)
    facts, arrays = build_payload(made)
    x, y, side = facts["maps"][0]["square"]
    steps = arrays["map-0-positions"].reshape(-1, 2) / 65535
    wanted = made.maps[0].embedding[arrays["rows"]]
    np.testing.assert_allclose([x, y] + side * steps, wanted, atol=side / 65535)
