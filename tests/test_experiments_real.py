"""The comparison on real data: the run, the yardsticks, and tables from files of measures."""

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

import real  # noqa: E402
import real_tables  # noqa: E402
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
    # Six digits are written.
    expected = pytest.approx(measured["mixing"].tolist(), rel=5e-6, nan_ok=True)
    assert stored["mixing"].tolist() == expected
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
