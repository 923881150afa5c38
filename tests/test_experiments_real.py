"""The comparison on real data: reading lines at equal mixing, the words about it, and the run."""

from __future__ import annotations

import doctest
import importlib
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

# The experiments are scripts, not part of the package.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import equal_mixing as em  # noqa: E402
import real  # noqa: E402
import real_tables  # noqa: E402
import real_words as words  # noqa: E402
from common import Data, start  # noqa: E402
from real_figures import nearest_setting  # noqa: E402
from yardsticks import bbknn_tsne, harmony_tsne  # noqa: E402

from ctsne import ConditionalTSNE  # noqa: E402
from ctsne.datasets import make_synthetic  # noqa: E402
from ctsne.evaluate import laplacian  # noqa: E402
from ctsne.sweep import sweep  # noqa: E402

FEW = {"joint": {"method": "joint", "strength": [0.0, 1.0]}}


@pytest.mark.parametrize("module", ["equal_mixing", "real_words", "yardsticks"])
def test_examples(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted > 0
    assert found.failed == 0


# Reading a line


def test_lines_are_read_in_order_of_mixing() -> None:
    # In order of strength the path passes .5 twice; in order of mixing once, halfway from .4 to .6.
    mixing, kept = [0.0, 0.6, 0.4, 0.8], [0.9, 0.5, 0.7, 0.1]
    assert em.at_mixing(mixing, kept, 0.5) == pytest.approx(0.6)
    assert em.at_mixing(mixing, kept, 0.1) == pytest.approx(0.85)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.2, 0.9), (0.8, 0.3), (0.19, None), (0.81, None)]
)
def test_lines_are_read_up_to_their_ends_only(share: float, expected: float | None) -> None:
    assert em.at_mixing([0.2, 0.8], [0.9, 0.3], share) == expected


def test_failed_maps_are_left_out() -> None:
    nan = np.nan
    assert em.at_mixing([0.0, nan, 1.0], [0.8, 5.0, 0.4], 0.5) == pytest.approx(0.6)
    assert em.at_mixing([nan], [nan], 0.5) is None
    line = em.make_line([[0.0, nan], [0.0, 0.6]], [[0.8, nan], [0.8, 0.2]], [[0, nan], [0, 0.3]])
    assert em.span(line) == (0.0, 0.6)
    there = em.place(line, 0.3)
    assert there is not None
    assert there.kept == pytest.approx((0.5, 0.5, 0.5))


def test_range_is_over_the_seeds_that_get_there() -> None:
    mixing = [[0.0, 0.4], [0.0, 0.8], [0.0, 0.9]]
    kept = [[0.8, 0.8], [0.8, 0.4], [0.8, 0.2]]
    there = em.place(em.make_line(mixing, kept, np.zeros((3, 2))), 0.5)
    assert there is not None
    # Mean line: mixing 0 to .7, R_NX .8 to 1.4/3; the first seed ends at .4.
    assert there.kept.value == pytest.approx(0.8 + (1.4 / 3 - 0.8) * 5 / 7)
    assert there.kept.low == pytest.approx(0.8 - 0.6 * 5 / 9)
    assert there.kept.high == pytest.approx(max(0.8 - 0.4 * 5 / 8, there.kept.value))


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"one shape, got \(1, 2\), \(1, 1\)"):
        em.make_line([0.0, 0.1], [0.5], [0.0, 0.1])


# Ranking


def flat(kept: float, impure: float, *, spread: float = 0.0, most: float = 1.0) -> em.Line:
    """Make a line of two seeds with the same values at every mixing, ``spread`` about each."""
    sides = np.array([[-spread], [spread]])
    return em.make_line(
        [[0.0, most]] * 2, kept + sides + np.zeros((2, 2)), impure + sides + np.zeros((2, 2))
    )


def test_the_best_in_both_dominates() -> None:
    found = em.standing(
        {"a": flat(0.3, 0.2), "b": flat(0.4, 0.1), "c": flat(0.9, 0, most=0.4)}, 0.5
    )
    assert list(found.places) == ["b", "a"]
    assert (found.dominant, found.unbeaten, found.short, found.past) == ("b", ("b",), ("c",), ())


def test_overlapping_seeds_are_a_tie() -> None:
    lines = {"a": flat(0.38, 0.2, spread=0.03), "b": flat(0.4, 0.1), "c": flat(0.3, 0.1)}
    found = em.standing(lines, 0.5)
    assert found.keeps_most == ("b", "a")
    assert found.purest == ("b", "c")
    assert found.dominant is None
    assert found.unbeaten == ("b",)


def test_what_prints_alike_is_a_tie() -> None:
    a, b = em.place(flat(0.4001, 0.1), 0.5), em.place(flat(0.4004, 0.102), 0.5)
    assert a is not None
    assert b is not None
    assert em.compare(a, b) == (0, 1)
    assert em.compare(b, a) == (0, -1)


def test_one_may_keep_most_and_another_be_purest() -> None:
    found = em.standing({"a": flat(0.5, 0.2), "b": flat(0.4, 0.1)}, 0.5)
    assert (found.keeps_most, found.purest) == (("a",), ("b",))
    assert (found.dominant, found.unbeaten) == (None, ())


def test_a_line_that_begins_beyond_the_share_is_not_short() -> None:
    beyond = em.make_line([0.6, 0.9], [0.5, 0.4], [0.1, 0.1])
    found = em.standing({"a": flat(0.5, 0.2), "b": beyond}, 0.5)
    assert (found.past, found.short, found.contested, found.dominant) == (("b",), (), False, None)


# Words


def test_sentences_say_who_is_best() -> None:
    lines = {
        "joint": flat(0.341, 0.086),
        "balanced": flat(0.3, 0.05),
        **{method: flat(0.4, 0.0, most=0.4) for method in words.PAPER},
    }
    assert words.standing_sentence("pancreas3", em.standing(lines, 0.5)) == (
        "On pancreas3 at .5: joint keeps most neighbours (.341), balanced is purest (.050), none "
        "best in both; none of the papers' methods gets there; original, revised p and revised r "
        "fall short."
    )
    lines["balanced"] = flat(0.3, 0.086)
    assert words.standing_sentence("toy", em.standing(lines, 0.85)).startswith(
        "On toy at .85: joint keeps most neighbours (.341), joint is purest (.086, tie with "
        "balanced), joint best or tied in both; "
    )


def test_sentences_where_there_is_little_to_compare() -> None:
    short = {"joint": flat(0.3, 0.1, most=0.4)}
    assert words.standing_sentence("toy", em.standing(short, 0.7)) == (
        "On toy at .7: no method reaches it."
    )
    both = {**short, "balanced": flat(0.2, 0.1)}
    assert words.standing_sentence("toy", em.standing(both, 0.7)) == (
        "On toy at .7: only balanced can be read (R_NX .200, Laplacian .100); joint falls short."
    )
    past = {"joint": em.make_line([0.8, 0.9], [0.3, 0.3], [0, 0])}
    assert words.standing_sentence("toy", em.standing(past, 0.7)) == (
        "On toy at .7: no line passes it; joint mixes more throughout."
    )


def test_duels_and_losses_are_counted_over_all_datasets() -> None:
    one = {"joint": flat(0.4, 0.1), "original": flat(0.3, 0.2)}
    two = {"joint": flat(0.4, 0.1), "original": flat(0.5, 0.1)}
    standings = {
        "one": [em.standing(one, share) for share in (0.3, 0.5)],
        "two": [em.standing(two, 0.5)],
    }
    assert words.duel(standings, "joint", "original") == ((2, 0, 1), (2, 1, 0))
    assert words.duel(standings, "original", "joint") == ((1, 0, 2), (0, 1, 2))
    assert words.lost_duels(standings, "joint", words.PAPER) == [
        "two at .5: it keeps .400, less than original (.500)"
    ]
    reach, dominance, ahead = words.verdict(standings)
    assert "Of 3 pairs" in reach
    assert "joint reaches 3, and one of the papers' methods at least 3" in reach
    assert dominance.startswith("No method dominates everywhere. Of the 3")
    assert "joint in 2; in 1 the best are tied" in dominance
    assert ahead.startswith("Where both can be read, joint is ahead of original")


def test_verdict_against_our_hopes() -> None:
    lines = {"joint": flat(0.3, 0.2), "original": flat(0.4, 0.1), "revised r": flat(0.2, 0.3)}
    sentences = words.verdict({"toy": [em.standing(lines, 0.5)]})
    assert sentences[1] == "original dominates everywhere."
    assert sentences[2].startswith("Where both can be read, joint is ahead of revised r more")
    assert sentences[3].startswith("That is not so against original, which is more often better")


# Tables from files


def raw_rows(line: str, settings: list[Any], mixing: list[float], kept: float) -> pd.DataFrame:
    rows = [
        {
            "line": line,
            "setting": setting,
            "seed": seed,
            "mixing": mixed,
            "adjusted_rnx": kept,
            "other_laplacian": 0.1,
            "seconds": 1.0,
            "error": "",
        }
        for seed in (0, 1)
        for setting, mixed in zip(settings, mixing, strict=True)
    ]
    return pd.DataFrame(rows)


def test_lines_keep_the_order_of_their_settings() -> None:
    table = pd.concat(
        [
            raw_rows("revised r", [1, 0.1, 1e-30], [0.1, 0.5, 0.3], 0.4),
            raw_rows("Harmony", [np.nan], [0.9], 0.2),
            raw_rows("balanced", [0, 1], [np.nan, np.nan], np.nan),
        ]
    )
    lines = real_tables.lines_of(table, ["revised r", "Harmony", "balanced", "joint"])
    assert list(lines) == ["revised r", "Harmony"]
    assert lines["revised r"].mixing.tolist() == [[0.1, 0.5, 0.3]] * 2
    assert lines["Harmony"].mixing.tolist() == [[0.9]] * 2


def test_section_from_files(small: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real, "load_pair", lambda _: small)
    table = pd.concat(
        [
            raw_rows("t-SNE", [""], [0.4], 0.5),
            raw_rows("joint", [0, 1], [0.2, 0.8], 0.45),
            raw_rows("original", [1, 0.1], [0.2, 0.6], 0.4),
            raw_rows("Harmony", [""], [0.7], 0.46),
        ]
    )
    table.to_csv(real.csv_path(tmp_path, "kang_muscat"), index=False)
    real_tables.run(tmp_path)
    text = (tmp_path / "real_tables.md").read_text("utf-8")
    assert (tmp_path / "real_trade_off_kang_muscat.png").stat().st_size > 10_000
    assert "**Not computed yet: sc_mixology, isolet_letter," in text
    assert "- On kang_muscat at .3: t-SNE alone mixes .40, so nothing needs to be" in text
    assert (
        "- On kang_muscat at .5: joint keeps most neighbours (.450), joint is purest (.100, tie "
        "with original), joint best or tied in both." in text
    )
    assert "- On kang_muscat at .85: no method reaches it." in text
    assert (
        "Of 3 pairs of a dataset and a share that t-SNE alone does not reach, joint reaches 2"
        in text
    )
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in text.splitlines()]
    assert ["original", ".400 / **.100**", ".400 / **.100**", "–", "–", ".60"] in cells
    assert ["joint : original", "1 : 0 : 0", "0 : 1 : 0"] in cells
    assert ["joint : Harmony", "0 : 0 : 1", "0 : 1 : 0", "0"] in cells


def test_section_needs_measures(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"run\.py real first"):
        real_tables.run(tmp_path)


# The run


@pytest.fixture
def small() -> Data:
    made = make_synthetic(240, random_state=0)
    return Data("small", made.X, made.known, made.hidden, "known", "hidden")


def test_run_survives_a_yardstick_and_resumes(
    small: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no luck today")

    monkeypatch.setattr(real, "load_pair", lambda _: small)
    yardsticks = {"Harmony": broken, "bbknn graph, equal weights": bbknn_tsne}
    monkeypatch.setattr(real, "YARDSTICKS", yardsticks)

    def compute(output: str) -> pd.DataFrame:
        (tmp_path / output).mkdir()
        return real.compute(
            "sc_mixology", tmp_path / output, lines=FEW, seeds=[0, 1], n_iter=100, scratch=tmp_path
        )

    measured = compute("first")
    assert measured["line"].tolist() == ["t-SNE", "joint", "joint", *yardsticks] * 2
    assert measured["setting"].tolist() == ["", 0.0, 1.0, "", ""] * 2
    assert measured["seed"].tolist() == [0] * 5 + [1] * 5
    failed = measured[measured["error"] != ""]
    assert failed["line"].tolist() == ["Harmony"] * 2
    assert failed["error"].tolist() == ["RuntimeError: no luck today"] * 2
    assert measured.loc[failed.index, "mixing"].isna().all()
    assert (
        measured.drop(failed.index)[["mixing", "adjusted_rnx", "other_laplacian"]]
        .notna()
        .all(axis=None)
    )
    assert "sc_mixology, seed 1: 5 maps, 1 failed" in capsys.readouterr().out

    stored = pd.read_csv(real.csv_path(tmp_path / "first", "sc_mixology"))
    assert stored["mixing"].tolist() == pytest.approx(measured["mixing"].tolist(), nan_ok=True)
    maps = sorted((tmp_path / "sc_mixology").glob("map-*.npz"))
    assert len(maps) == 6
    # Time is kept with a map, so equal times show that it was not made again.
    again = compute("second")
    rows = measured["line"].isin(["t-SNE", "joint"])
    assert again[rows]["seconds"].tolist() == measured[rows]["seconds"].tolist()
    assert again[rows]["mixing"].tolist() == measured[rows]["mixing"].tolist()
    assert sorted((tmp_path / "sc_mixology").glob("map-*.npz")) == maps


def test_a_failing_dataset_does_not_lose_the_others(
    small: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(name: str, output: Path) -> None:
        if name == "hapt":
            raise MemoryError("too large")
        table = raw_rows("joint", [0, 1], [0.2, 0.8], 0.45)
        table.loc[3, "error"] = "ValueError: odd"
        table.to_csv(real.csv_path(output, name), index=False)

    monkeypatch.setattr(real, "load_pair", lambda _: small)
    monkeypatch.setattr(real, "compute", compute)
    monkeypatch.setattr(real, "PAIRS", {name: real.PAIRS[name] for name in ("hapt", "pancreas3")})
    with pytest.raises(RuntimeError, match="could not compute hapt"):
        real.run(tmp_path)
    text = "\n".join(real.what_was_computed(tmp_path))
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in text.splitlines()]
    link = "[pancreas3](real_pancreas3.csv)"
    assert [link, "240", "study (2)", "cell_type (3)", "4", "1", "4"] in cells
    assert "4 maps: t-SNE and the lines original," in text


def test_yardsticks_are_measured_as_the_sweep_does(small: Data) -> None:
    estimator = ConditionalTSNE(n_iter=100, init=start(small.X, 0), random_state=0)
    swept = sweep(
        small.X, small.known, {"method": "tsne"}, other=small.hidden, estimator=estimator,
        progress=False,
    ).maps[0]  # fmt: skip
    assert swept.embedding is not None
    measured = real.measure(swept.embedding, small)
    assert set(measured) <= set(swept.measures)
    assert measured == pytest.approx({name: swept.measures[name] for name in measured}, rel=1e-5)


@pytest.fixture
def apart() -> Data:
    """Two labels whose points lie a wide gap apart."""
    known = np.repeat([0, 1], 120)
    X = np.random.default_rng(0).normal(size=(240, 5)) + 12.0 * known[:, None]
    return Data("apart", X, known, known, "known", "known")


def test_equal_weights_mix_more_than_calibrated_ones(apart: Data) -> None:
    X, known = apart.X, apart.known
    mixed = {
        weights: laplacian(bbknn_tsne(X, known, weights=weights, n_iter=300), known)
        for weights in ("calibrated", "equal")
    }
    assert mixed["calibrated"] == 0
    assert mixed["equal"] > 0.15
    with pytest.raises(ValueError, match="weights must be 'calibrated' or 'equal', got 'even'"):
        bbknn_tsne(X, known, weights="even")  # type: ignore[arg-type]


def test_yardsticks_begin_where_they_are_told(apart: Data) -> None:
    seen = []

    def told(X: Any) -> Any:
        seen.append(X)
        return start(X, 7)

    options: dict[str, Any] = {"perplexity": 20, "n_iter": 1}
    for mapped in (harmony_tsne, bbknn_tsne):
        default = mapped(apart.X, apart.known, **options)
        assert not np.allclose(mapped(apart.X, apart.known, start=told, **options), default)
    assert not np.allclose(seen[0], apart.X)  # Harmony's is of the corrected components
    np.testing.assert_array_equal(seen[1], apart.X)


def test_nearest_setting() -> None:
    rows = [
        {"line": line, "mixing": mixing}
        for line, mixing in [("a", 0.5), ("b", 0.1), ("b", 0.45), ("b", 0.7), ("c", np.nan)]
    ]
    assert nearest_setting(rows, "b", 0.5) == 2
    assert nearest_setting(rows, "c", 0.5) is None


@pytest.mark.skipif("CTSNE_DATA" not in os.environ, reason="CTSNE_DATA is unset")
def test_pairs_of_labels() -> None:
    ifnb = real.load_pair("ifnb_stim")
    assert len(np.unique(ifnb.known)) == 2
    assert sum(each is None for each in ifnb.hidden) == 8654
    one, two = real.load_pair("isolet_letter"), real.load_pair("isolet_speaker")
    np.testing.assert_array_equal(one.known, two.hidden)
    np.testing.assert_array_equal(one.hidden, two.known)
    assert (two.known_name, two.hidden_name) == ("speaker", "letter")
