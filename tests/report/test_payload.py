from __future__ import annotations

import numpy as np

from ctsne import pl
from ctsne.report.payload import build_payload, choose_points

from .conftest import made_up

NONE = np.empty(0, np.int64)


def test_few_points_are_all_shown_in_a_mixed_order() -> None:
    rows = choose_points(100, [], NONE, most=100)
    assert sorted(rows.tolist()) == list(range(100))
    assert rows.tolist() != list(range(100))


def test_sample_has_every_label_and_what_is_wanted() -> None:
    n, most = 10_000, 500
    rare = np.zeros(n, np.int32)
    rare[:40] = np.arange(40)
    missing = np.where(np.arange(n) == 77, -1, 0).astype(np.int32)
    wanted = np.array([9_998, 9_999, 9_999])
    rows = choose_points(n, [rare, missing], wanted, most=most)
    assert len(rows) == len(set(rows.tolist())) == most
    assert set(rare[rows].tolist()) == set(range(40))
    assert 77 in rows and {9_998, 9_999} <= set(rows.tolist())
    # The rest is a fair draw: its mean is within five standard errors.
    drawn = rows[(rows >= 40) & (rows < 9_998)]
    assert abs(drawn.mean() - n / 2) < 5 * n / np.sqrt(12 * len(drawn))


def test_columns_with_too_many_labels_are_left_to_chance() -> None:
    n = 5_000
    rows = choose_points(n, [np.arange(n), np.arange(n) % 7], NONE, most=200)
    assert len(rows) == 200
    assert set((rows % 7).tolist()) == set(range(7))


def test_the_same_input_gives_the_same_points() -> None:
    codes = np.arange(3_000) % 11
    first, second = (choose_points(3_000, [codes], NONE, most=50) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_many_labels_get_their_colours_by_the_reference_map() -> None:
    result, columns = made_up(60)
    columns = {"batch": columns["batch"], "kind": np.arange(60) % 20}
    facts, _ = build_payload(result, columns, ["batch"], None, None)
    reference = result.maps[facts["reference"]]
    assert reference.parameters["method"] == "tsne"
    chosen = pl.palette(columns["kind"], reference.embedding)
    assert facts["columns"][1]["colors"] == [chosen[kind] for kind in range(20)]
