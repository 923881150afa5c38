"""The attacker of files: every format, valid files pass, damage is repeatable, faults are found."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ctsne._core.files import COLUMNS, INDEX, SETTINGS, TABLE
from ctsne.io.paths import DATA_SUFFIXES, MAP_SUFFIXES, suffix_of
from ctsne.io.read import LABEL_SUFFIXES

FOLDER = Path(__file__).parents[2] / "fuzz"


pytest.importorskip("zarr", minversion="3")  # for the stores that are damaged


@pytest.fixture(scope="module")
def attacker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The started attacker, its harness, its damage, and the folder it works in."""
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        files = importlib.import_module("files")
        files.start(folder)
        harness, damage = (importlib.import_module(name) for name in ("harness", "damage"))
        yield SimpleNamespace(files=files, folder=folder, Finding=harness.Finding, damage=damage)
    for file in FOLDER.glob("*.py"):
        sys.modules.pop(file.stem, None)


def _specimens(attacker: Any, role: str) -> list[Any]:
    return list({each.name: each for each in attacker.files._specimens[role]}.values())


def test_every_format_and_role_has_a_file(attacker: Any) -> None:
    suffixes = {
        role: {suffix_of(each.main) for each in _specimens(attacker, role)}
        for role in ("data", "labels", "map")
    }
    assert suffixes == {
        "data": {*DATA_SUFFIXES},
        "labels": {*LABEL_SUFFIXES},
        "map": {*MAP_SUFFIXES},
    }
    (sweep,) = _specimens(attacker, "sweep")
    names = {Path(name).name for name in sweep.hurt}
    assert names >= {COLUMNS, INDEX, SETTINGS, TABLE}
    assert any(name.startswith("map-") for name in names)
    assert set(attacker.files.SHARES) == set(attacker.files.OPERATIONS)
    assert sum(attacker.files.SHARES.values()) == 100


@pytest.mark.parametrize(
    "role",
    [
        "data",
        "typed labels",
        "labels",
        "map",
        "placed",
        "sweep",
        "saved sweep",
        "model",
        "store",
        "start",
    ],
)
def test_valid_files_pass(attacker: Any, role: str) -> None:
    files, case = attacker.files, attacker.folder / "case"
    first, *more = files.OPERATIONS[role]
    specimens = _specimens(attacker, role)
    pairs = [(each, first) for each in specimens]
    pairs += [(specimens[-1], operation) for operation in more]
    for specimen, operation in pairs:
        files.write_files(case, specimen.files)
        todo = operation(np.random.default_rng(0), case, specimen)
        assert files.run(todo, case, [specimen.main]) == "ok", (specimen.name, operation)


def test_damage_is_repeatable_and_changes_files(attacker: Any) -> None:
    files, case = attacker.files, attacker.folder / "case"
    same, total = 0, 0
    for role in files.SHARES:
        for specimen in _specimens(attacker, role):
            for number in range(4):
                found = []
                for _ in range(2):
                    rng = np.random.default_rng([number, 1])
                    files.write_files(case, specimen.files)
                    attacker.damage.damage(
                        rng,
                        case / specimen.hurt[0],
                        outside=attacker.folder / "outside",
                        others=[b"other"],
                    )
                    found.append(files.snapshot(case))
                assert found[0] == found[1], (specimen.name, number)
                same += found[0] == dict(specimen.files)
                total += 1
    assert same < 0.1 * total


def _raise(error: Exception) -> Any:
    raise error


def _overwrite(path: Path) -> None:
    path.write_bytes(b"x")


PLANTED = {
    "touched file": lambda case: _overwrite(case.parent / "outside" / "target.csv"),
    "changed input": lambda case: _overwrite(case / "start.npy"),
    "not finite": lambda case: SimpleNamespace(X=np.array([[1.0, np.nan]])),
    "exception": lambda case: _raise(ValueError("start.npy\nis damaged")),
    "wrong": lambda case: _raise(ValueError("is damaged")),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_planted_faults_are_found(
    attacker: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def operation(_: Any, case: Path, __: Any) -> Any:
        return lambda: PLANTED[kind](case)

    monkeypatch.setattr(attacker.files, "SHARES", {"start": 100})
    monkeypatch.setattr(attacker.files, "OPERATIONS", {"start": {operation: 1}})
    monkeypatch.setattr(attacker.files, "damage", lambda *_, **__: "nothing")
    with pytest.raises(attacker.Finding) as found:
        attacker.files.attack(np.random.default_rng(1), attacker.folder)
    assert found.value.kind == kind


def test_labels_that_are_not_kept_are_found(attacker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctsne import io

    def read_data(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(columns={"batch": np.zeros(40)})

    files, case = attacker.files, attacker.folder / "case"
    files.write_files(case, {"x": b""})
    monkeypatch.setattr(io, "read_data", read_data)
    with pytest.raises(attacker.Finding, match="labels are not kept"):
        files.run(files._keep_labels(np.random.default_rng(0), case, None), case, ["x"])


def test_stores_read_without_their_chunks_are_found(
    attacker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, case = attacker.files, attacker.folder / "case"
    specimen = _specimens(attacker, "store")[0]
    files.write_files(case, specimen.files)
    (case / specimen.hurt[-1]).unlink()
    assert files.run(files._read_store(_Drawn(), case, specimen), case, [specimen.main]) != "ok"
    monkeypatch.setattr("ctsne.distributed.collection.with_checked_stores", lambda array: array)
    with pytest.raises(attacker.Finding, match="chunks that are not files"):
        files.run(files._read_store(_Drawn(), case, specimen), case, [specimen.main])


class _Drawn:
    """Draws the largest share and the first choice."""

    def random(self) -> float:
        return 1.0

    def integers(self, _: int) -> int:
        return 0


def test_a_map_of_tl_that_is_not_finite_is_found(
    attacker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ctsne import tl

    def ctsne(adata: Any, *_: Any, **__: Any) -> None:
        adata.obsm["X_ctsne"] = np.full((adata.n_obs, 2), np.nan)

    files, case = attacker.files, attacker.folder / "case"
    (specimen,) = (each for each in _specimens(attacker, "data") if each.main == "full.h5ad")
    files.write_files(case, specimen.files)
    monkeypatch.setattr(tl, "ctsne", ctsne)
    with pytest.raises(attacker.Finding) as found:
        files.run(files._tl(np.random.default_rng(0), case, specimen), case, [specimen.main])
    assert found.value.kind == "not finite"


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("x.csv: line 3 has 5 values", True),
        ("--perplexity must be below 10, got 30", True),
        ("column 'batch' has one value only", True),
        ("cannot write /y/new.csv: no space is left", True),
        ("values must be numbers", False),
        ("X contains 3 NaN", False),
        ("perplexity=30 is too large for 10 points", True),
        ("--strength must be from 0 to 1", False),
        ("max.csv: line 3 has 5 values", False),
        ("the batches differ", False),
    ],
)
def test_messages_name_the_cause(
    attacker: Any, monkeypatch: pytest.MonkeyPatch, text: str, fine: bool
) -> None:
    def main(_: Any) -> int:
        print(f"ctsne: error: {text}", file=sys.stderr)
        return 1

    files, case = attacker.files, attacker.folder / "case"
    monkeypatch.setattr("ctsne.cli.main.main", main)
    words = ("embed", "/y/x.csv", "--labels", "batch", "--perplexity", "30", "-o", "/y/new.csv")
    if fine:
        assert files.run(files.Command(words), case, ["x.csv"]) == "exit code 1"
    else:
        with pytest.raises(attacker.Finding, match="does not name the file"):
            files.run(files.Command(words), case, ["x.csv"])


def test_faults_of_commands_are_found(attacker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctsne.cli import main as program

    files, case = attacker.files, attacker.folder / "case"
    command = files.Command(("plot", "x"), lambda name: name == "new.svg")

    def planted(code: int, text: str, *paths: str) -> str:
        def main(_: Any) -> int:
            for path in paths:
                (case / path).write_bytes(b"x")
            print(text, file=sys.stderr)
            return code

        files.write_files(case, {"x": b"data"})
        monkeypatch.setattr(program, "main", main)
        return str(files.run(command, case, ["x"]))

    assert planted(0, "", "new.svg") == "ok"
    assert planted(1, "ctsne: error: x is damaged") == "exit code 1"
    for code, text, path in [
        (0, "", "other"),
        (0, "", ".new.svg.1.part"),
        (1, "ctsne: error: x", "new.svg"),
        (1, "ctsne: error: y", "x"),
        (130, "x", "x"),
        (1, "x\nTraceback", "x"),
    ]:
        with pytest.raises(attacker.Finding):
            planted(code, text, path)
