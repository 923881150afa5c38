"""The harness of the attackers finds what is planted, and says how to repeat it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "fuzz"

# Each number of a case has its own fault; the entropy of the generator says which it is.
PLANTED = """
import os, signal, time
import numpy as np
from checks import check_finite, check_unchanged, fingerprint
from harness import Finding, expect_typed

LIMIT = 2.0

def refuse(error):
    raise error

def attack(rng, folder):
    number = rng.bit_generator.seed_seq.entropy[1]
    if number == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 2:
        time.sleep(60)
    if number == 3:
        check_finite({"map": np.array([1.0, np.nan])}, "result")
    if number == 4:
        given = np.zeros(3)
        before = fingerprint(given)
        given[1] = 1
        check_unchanged(before, fingerprint(given), "X")
    if number in (5, 6):
        {}["missing"]
    if number == 7:
        raise Finding("a file was written", "touched file")
    if number == 8:
        return expect_typed(lambda: refuse(ValueError("k must be 1")))[0]
    if number == 9:
        return expect_typed(lambda: refuse(KeyError("k")))[0]
    if number == 10:
        return expect_typed(lambda: refuse(TypeError("k\\nmust be 1")))[0]
    if number == 11:
        np.empty(1 << 42).fill(1)
    if number == 12:
        raise Finding("other bits")
    if number == 13:
        raise SystemExit(0)
    if number == 14:
        os._exit(0)
    return "ok"
"""
FOUND = {
    "crash": 3,
    "hang": 1,
    "not finite": 1,
    "changed input": 1,
    "exception": 5,
    "touched file": 1,
    "wrong": 1,
}


@pytest.mark.parametrize("workers", [1, 2])
def test_planted_faults_are_found(fuzz: Any, tmp_path: Path, workers: int) -> None:
    attacker = tmp_path / "planted.py"
    attacker.write_text(PLANTED)
    lines: list[str] = []
    outcome = fuzz("harness").run(
        attacker, seconds=60, seed=0, workers=workers, cases=30, tell=lines.append
    )
    assert outcome.found == FOUND
    assert (outcome.cases, outcome.ok, outcome.typed) == (30, 16, 1)
    found = sorted(outcome.findings.values(), key=lambda each: -each["number"])
    numbers = {finding["kind"]: finding["number"] for finding in found}
    assert numbers | {"exception": 0} == {
        "crash": 1,
        "hang": 2,
        "not finite": 3,
        "changed input": 4,
        "exception": 0,
        "touched file": 7,
        "wrong": 12,
    }
    assert sum("KeyError" in line for line in lines) == 2  # three of them, in two places
    assert any("SIGSEGV" in line for line in lines)
    assert any("exit code 0" in line for line in lines)
    assert any("MemoryError" in line for line in lines)
    table = fuzz("run").table([outcome])
    assert table.splitlines()[1].split()[:4] == ["planted", "30", "16", "1"]


@pytest.mark.parametrize("error", ["RuntimeError('no data')", "SystemExit(print('no data'))"])
def test_an_attacker_that_cannot_start_is_a_finding(fuzz: Any, tmp_path: Path, error: str) -> None:
    attacker = tmp_path / "unable.py"
    attacker.write_text(f"LIMIT = 1.0\ndef start(folder):\n    raise {error}\n")
    outcome = fuzz("harness").run(attacker, seconds=60, seed=0, workers=1, cases=5)
    (finding,) = outcome.findings.values()
    assert finding["kind"] == "crash"
    assert "no data" in finding["text"]


def test_a_slow_start_leaves_all_the_time_for_cases(fuzz: Any, tmp_path: Path) -> None:
    slow = "import time\nLIMIT = 2.0\ndef start(folder):\n    time.sleep(6)\n"
    (tmp_path / "slow.py").write_text(f"{slow}def attack(rng, folder):\n    return 'ok'\n")
    outcome = fuzz("harness").run(tmp_path / "slow.py", seconds=5, seed=0, workers=1, cases=5)
    assert outcome.ok == 5


def test_every_public_function_is_called(fuzz: Any) -> None:
    assert fuzz("functions").public_names() == set(fuzz("calls").CALLS)


def test_measures_may_be_nan_but_maps_may_not(fuzz: Any) -> None:
    from anndata import AnnData

    functions, checks, calls = fuzz("functions"), fuzz("checks"), fuzz("calls")
    exempt = {name for name in calls.CALLS if name.startswith(functions.MAY_BE_NAN)}
    assert {name for name in exempt if name.startswith("tl.")} == {"tl.evaluate", "tl.sweep"}
    swept = calls.small_sweep()
    measured = replace(swept.maps[0], measures={"mixing": np.nan})
    checks.check_finite(replace(swept, maps=(measured,)), "sweep", nan=True)
    mapped = replace(swept.maps[0], embedding=np.full((40, 2), np.nan))
    adata = AnnData(np.ones((4, 2)), obsm={"ctsne": np.full((4, 2), np.nan)})
    for value in (replace(swept, maps=(mapped,)), adata):
        with pytest.raises(fuzz("harness").Finding, match="not finite"):
            checks.check_finite(value, "result", nan=True)


def test_a_case_depends_on_its_number_alone(fuzz: Any) -> None:
    estimator, fingerprint = fuzz("estimator"), fuzz("checks").fingerprint
    for number in (0, 7, 11):
        cases = [estimator.make_case(np.random.default_rng([5, number])) for _ in range(2)]
        first, second = (fingerprint([each.n, each.X, each.labels]) for each in cases)
        assert first == second


def test_one_case_is_repeated(fuzz: Any, tmp_path: Path) -> None:
    command = [sys.executable, FOLDER / "run.py", "estimator", "--seed", "3", "--case", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    rng = np.random.default_rng([3, 4])
    assert done.stdout.splitlines()[0] == fuzz("estimator").attack(rng, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["nobody"], "unknown attacker: nobody"), (["--case", "3"], "needs exactly one attacker")],
)
def test_wrong_usage_is_refused(arguments: list[str], says: str) -> None:
    command = [sys.executable, FOLDER / "run.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_soak_tells_growth_from_noise(
    fuzz: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    soak, kept = fuzz("soak"), []
    assert all(each > 0 for each in soak.usage())

    def grown(memory: float, threads: int, files: int) -> list[str]:
        """Return what is said to grow if all three grow steadily by this much in 40 fits."""

        def usage() -> tuple[float, int, int]:
            share = len(kept) / 40
            return 5000 + memory * share, 3 + int(threads * share), 4 + int(files * share)

        kept.clear()
        monkeypatch.setattr(soak, "usage", usage)
        flat = soak.soak("small", kept.append, 40)
        lines = capsys.readouterr().out.splitlines()
        found = [line.split()[0] for line in lines if "GROWS" in line]
        assert flat == (not found)
        return found

    assert grown(0, 0, 0) == []
    assert grown(100, 1, 1) == []  # noise, and what starts late
    assert grown(800, 0, 0) == ["memory"]
    assert grown(0, 4, 0) == ["threads"]
    assert grown(0, 0, 4) == ["open"]
