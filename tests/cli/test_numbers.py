"""Numbers to factor out on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne import ConditionalTSNE
from ctsne.cli.main import main
from ctsne.io import read_map
from ctsne.storage.record import read_record, recorded_columns

from ..drifting import drifting

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]

X, NUMBER, TYPE = drifting(120)
BATCH = np.where(np.arange(120) % 2, "one", "two")
QUICK = "--perplexity 3 --n-iter 60 --early-exaggeration-iter 20"


@pytest.fixture
def ages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=[f"f{place}" for place in range(20)])
    frame["age"], frame["batch"], frame["type"] = 20 + 60 * NUMBER, BATCH, TYPE
    frame.loc[3, "age"] = np.nan
    frame.to_csv("ages.csv", index=False)
    return "ages.csv"


def test_a_map_without_a_number(ages: str, run: Run, run_json: RunJson) -> None:
    done = run_json(f"embed {ages} --labels batch --numbers age --other type {QUICK} -o map.csv")
    assert {"mixing (batch)", "mixing (age)", "r2 (age)"} <= set(done["measures"])
    quick = {"perplexity": 3, "n_iter": 60, "early_exaggeration_iter": 20, "random_state": 0}
    frame = pd.read_csv(ages)
    model = ConditionalTSNE(**quick).fit(
        frame.filter(regex="^f").to_numpy(), labels=frame[["batch"]], numbers=frame[["age"]]
    )
    assert np.array_equal(read_map("map.csv").embedding, model.embedding_)
    assert recorded_columns(read_record("map.csv")) == (["batch"], ["age"])
    assert "age: a number from 20" in run("info map.csv")
    assert "r2" in run("evaluate map.csv -k 8")
    assert "identical to the one before" in run("rerun map.csv")


def test_models_sweeps_and_pages_know_numbers(ages: str, run: Run) -> None:
    said = run(f"embed {ages} --numbers age {QUICK} -o map.csv --model m.ctsne --page p.html")
    # The next command names the number once.
    assert re.search(r"ctsne report ages.csv --numbers age ", said)
    assert "age: 119 known, 0 new to the model, 1 missing" in run(
        f"transform m.ctsne {ages} -o n.csv"
    )
    assert '"kind":"numbers"' in Path("p.html").read_text("utf-8").replace(" ", "")
    said = run(f"report {ages} --numbers age --other type --methods joint {QUICK} -o r.html")
    assert "mixing of age" in said and "--numbers age" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--labels batch type --numbers age --combine", "--combine joins labels, not --numbers"),
        ("--numbers batch --other age", "must hold numbers, got 'one'"),
        ("--numbers agee", "agee"),
        ("--numbers age --numbers-period 0", "numbers_period must be above 0|numbers-period"),
    ],
)
def test_numbers_that_cannot_be(
    ages: str, options: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["embed", ages, *options.split(), *QUICK.split(), "-o", "map.csv"]) in (1, 2)
    error = capsys.readouterr().err
    assert re.search(message, error) and not Path("map.csv").exists()
