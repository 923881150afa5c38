"""What the experiments share: names, starts, tables and the joining of sections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import common
import numpy as np
import pytest
import run
from common import Data
from figure5 import laplacian_curve

from ctsne.evaluate import laplacian

RESULTS = Path(__file__).parents[2] / "experiments" / "results"


def test_an_unknown_name_is_refused_before_any_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "run_one", lambda *_: pytest.fail("something was run"))
    with pytest.raises(SystemExit) as stopped:
        run.main(["figure1", "figure9"])
    assert stopped.value.code == 2
    message = capsys.readouterr().err
    assert "there is no experiment 'figure9'" in message
    assert "figure1, figure2, figure3, figure4, figure5" in message


def test_all_runs_every_experiment_once(monkeypatch: Any, tmp_path: Path) -> None:
    done: list[str] = []
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "OUTPUT", tmp_path / "results")
    monkeypatch.setattr(run, "run_one", lambda name, _: done.append(name))
    (tmp_path / "b.py").write_text('"""B."""\n\ndef run(output):\n    pass\n')
    (tmp_path / "a.py").write_text('"""A."""\n\ndef run(output):\n    pass\n')
    (tmp_path / "helper.py").write_text('"""No experiment."""\n')
    run.main(["all", "a"])
    assert done == ["a", "b"]


def test_sections_are_joined_with_links_that_fit(tmp_path: Path) -> None:
    output = tmp_path / "results"
    output.mkdir()
    (output / "one.md").write_text("## One\n\n![p](one.png) [w](https://a.b) [s](#one)\n")
    took = {"seconds": 1.5, "processor_seconds": 2.5, "cores": 2, "version": "9", "date": "today"}
    (output / "one.json").write_text(json.dumps(took))
    (output / "two.md").write_text("## Two\n")
    run.join_sections(output, tmp_path / "RESULTS.md", ["one", "two", "three"])
    page = (tmp_path / "RESULTS.md").read_text()
    assert "![p](results/one.png) [w](https://a.b) [s](#one)" in page
    assert "| `python experiments/run.py one` |     1.5 |       2.5 |" in page
    assert page.index("## One") < page.index("## Two")
    assert "three" not in page


def test_sections_of_several_files_of_cells_are_joined(tmp_path: Path) -> None:
    for name, command in (
        ("pancreas3", "pancreas --file pancreas3.npz --labels study cell_type"),
        ("pancreas_stand_in", "pancreas --stand-in"),
    ):
        (tmp_path / f"{name}.md").write_text(f"## {name}\n")
        (tmp_path / f"{name}.json").write_text(json.dumps({"command": command}))
    run.join_sections(tmp_path, tmp_path / "RESULTS.txt", ["pancreas", "immune"])
    page = (tmp_path / "RESULTS.txt").read_text()
    assert "`python experiments/run.py pancreas --file pancreas3.npz --labels study" in page
    assert page.index("## pancreas3") < page.index("## pancreas_stand_in")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pancreas"], "pancreas needs --file"),
        (["figure1", "immune"], "immune needs --file"),
        (["pancreas", "figure1", "--stand-in"], "for pancreas and immune only"),
        (["pancreas", "immune", "--file", "a.h5ad"], "one experiment at a time"),
        (["pancreas", "--file", "a.h5ad", "--stand-in"], "exclude each other"),
        (["pancreas", "--labels", "a", "b"], "--labels names columns of --file"),
    ],
)
def test_experiments_on_cells_need_a_file_and_others_take_none(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "run_one", lambda *_: pytest.fail("something was run"))
    with pytest.raises(SystemExit) as stopped:
        run.main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_all_leaves_out_what_needs_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[str] = []
    monkeypatch.setattr(run, "OUTPUT", tmp_path)
    monkeypatch.setattr(run, "join_sections", lambda *_: None)
    monkeypatch.setattr(run, "run_one", lambda name, _: done.append(name))
    run.main(["all"])
    assert "figure1" in done and not {"pancreas", "immune"} & set(done)
    assert "pancreas: skipped, needs --file or --stand-in" in capsys.readouterr().out


def test_a_wrong_file_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(run, "OUTPUT", tmp_path / "results")
    with pytest.raises(SystemExit) as stopped:
        run.main(["immune", "--file", str(tmp_path / "nothing.h5ad")])
    assert str(stopped.value.code).startswith("run.py: there is no file")
    assert not any((tmp_path / "results").iterdir())


def test_starts() -> None:
    X = np.random.default_rng(0).normal(size=(80, 5))
    first, again, other = common.start(X, 0), common.start(X, 0), common.start(X, 1)
    assert np.array_equal(first, again)
    assert first.shape == (80, 2)
    # Principal components of standard deviation 1e-4, and a tenth of that as noise.
    assert first[:, 0].std() == pytest.approx(1e-4, rel=0.1)
    assert (first - other).std() == pytest.approx(1e-5 * np.sqrt(2), rel=0.3)


def test_lines_go_from_no_conditioning_to_the_strongest() -> None:
    for name, grid in common.LINES.items():
        (values,) = [value for value in grid.values() if isinstance(value, list)]
        steps = np.diff(values)
        assert values[0] == (0 if "strength" in grid else 1), name
        assert (steps > 0).all() or (steps < 0).all(), name


def test_sections_have_an_order() -> None:
    names = run.experiments()
    assert names[:5] == [f"figure{number}" for number in range(1, 6)]
    assert names[5:7] == ["pancreas", "immune"]
    assert names[7:15] == [
        "real",
        "real_tables",
        "constants",
        "alignment",
        "private",
        "targets",
        "suggestion",
        "standard",
    ]
    later = ["trust", "clustering", "held_out", "reference_embedding", "columns", "numbers_out"]
    assert names[15:] == [*later, "schedule"]


def test_table() -> None:
    assert common.table(["line", "n", "±"], [["joint", 5, ".1 ± .2"], ["a", 10, "–"]]) == (
        "| line  |   n |       ± |\n"
        "| ----- | --: | ------: |\n"
        "| joint |   5 | .1 ± .2 |\n"
        "| a     |  10 |       – |"
    )
    with pytest.raises(ValueError, match="the header has 2 cells, but a row has 1"):
        common.table(["a", "b"], [["c"]])


def test_numbers() -> None:
    values = [0.5124, -0.0034, -0.0001, 12.0, np.nan]
    assert [common.number(v) for v in values] == [".512", "-.003", ".000", "12.000", "–"]
    assert common.difference(0.5, 0.4) == "+.100"
    assert common.difference(0.4, 0.5) == "-.100"
    assert common.difference(0.5, 0.5001) == ".000"
    assert common.mean_and_spread([0.1, 0.2, 0.6]) == ".300 ± .250"


def test_missing_data_say_which_variable_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CTSNE_DATA", raising=False)
    monkeypatch.delenv("CTSNE_REFERENCE", raising=False)
    with pytest.raises(FileNotFoundError, match="set CTSNE_REFERENCE"):
        common.load_paper()
    with pytest.raises(FileNotFoundError, match="set CTSNE_DATA"):
        common.load_real("ifnb", "stim", "cell_type_partial")
    with pytest.raises(ValueError, match="no dataset 'mnist'"):
        common.load("mnist")
    monkeypatch.setenv("CTSNE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        common.load_real("ifnb", "stim", "cell_type_partial")


def test_the_paper_data(reference: Path) -> None:
    data = common.load_paper()
    assert data.X.shape == (1500, 10)
    assert (data.known == "blue").sum() == 600
    assert [(data.hidden == shape).sum() for shape in np.unique(data.hidden)] == [500] * 3
    authors = common.load_authors("authors_results.csv")
    assert authors["line"].value_counts().to_dict() == {
        "original": 17,
        "revised p": 16,
        "revised r": 16,
    }


@pytest.mark.parametrize("name", ["figure2", "figure4"])
def test_a_figure_gives_its_section_again(name: str, reference: Path, tmp_path: Path) -> None:
    run.run_one(name, tmp_path)
    assert (tmp_path / f"{name}.md").read_text() == (RESULTS / f"{name}.md").read_text()


def test_the_curve_of_laplacians_is_the_score_at_each_size(small: Data) -> None:
    found = laplacian_curve(small.X[:, :2], small.known, [1, 30, 238])
    expected = [laplacian(small.X[:, :2], small.known, k=k) for k in (1, 30, 238)]
    np.testing.assert_allclose(found, expected)
