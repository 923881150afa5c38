"""Attack everything that reads a file: small valid files of every format, damaged in one place.

A case copies a specimen (``make_files.py``) into a folder, damages one of its files
(``damage.py``) and gives it to one operation: a reader of the library or a command. An error must
be one line that names the file. Nothing but the output may change: not the other files, and not
those of a folder next to it, to which planted links lead.
"""

from __future__ import annotations

import contextlib
import io
import re
import stat
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from damage import damage
from damage_text import Rng, pick
from harness import Finding, expect_typed
from label_files import LABEL, groups_of, random_labels, written_groups
from make_files import (
    MAPS,
    QUICK,
    SWEEP,
    SWEPT,
    N,
    Specimen,
    make_specimens,
    run_command,
    write_files,
)
from stores import read_store

LIMIT = 20.0

#: How often each role is attacked, in percent.
SHARES = {
    "data": 24,
    "typed labels": 10,
    "labels": 8,
    "map": 20,
    "store": 6,
    "sweep": 11,
    "model": 10,
    "placed": 2,
    "saved sweep": 3,
    "start": 6,
}
#: Words by which a message may name the cause too: the parameter that a file is for, or that it
#: sets.
_ALSO = {
    "data": ["X holds values"],
    "labels": ["the label file"],
    "store": ["the collection", "the array", "X", "partition"],
    "start": ["init"],
    "map": ["embedding holds values"],
    "model": ["cells.csv", "new.npy"],
}
_WRITTEN = 6  # times as often
_UNDAMAGED = 0.02
_LONGEST = 2000  # characters of a message
# A command may also name what it was given, where the file itself could be read: an option, a
# column, or the path of the output.
_GIVEN = re.compile(r"-k|--[a-z-]+|batch|type|.*/(new|again)[.a-z]*")

_specimens: dict[str, list[Specimen]] = {}
_outside: dict[str, bytes] = {}

# Data without columns that could be labels.
_BARE = re.compile(r"^(csr|csc|coo|bsr|dia)\.npz|\.npy")

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Command:
    """A command to run, and what it may write."""

    words: tuple[object, ...]
    writes: Callable[[str], bool] = lambda name: False  # by path in the folder of the case
    map: Path | None = None  # to be read again


Todo = Command | Callable[[], Any]


def start(folder: Path) -> None:
    """Make the specimens, and the files that planted links lead to."""
    made = make_specimens(folder / "valid")
    for each in made:
        # HDF5 files and sparse matrices have the richest structure, and few specimens.
        times = 4 if "h5ad" in each.main else 2 if _BARE.search(each.main) else 1
        _specimens.setdefault(each.role, []).extend([each] * times)
    files = {name: content for each in made for name, content in each.files.items()}
    sources = {
        "target.h5ad": "full.h5ad",
        "target.csv": "cells.csv",
        "target.json": "map.csv.json",
        "target.npz": "dense.npz",
        "target.npy": "cells.npy",
        "target.parquet": "cells.parquet",
    }
    _outside.update({name: files[source] for name, source in sources.items()})
    _outside["target.bin"] = bytes(640)
    write_files(folder / "outside", _outside)
    for module in ("matplotlib.pyplot", "anndata", "ctsne.tl", "ctsne.pl", "ctsne.report"):
        import_module(module)  # so that no case pays for it


def attack(rng: Rng, folder: Path) -> str | None:
    """Damage one file and give it to one operation."""
    role = str(rng.choice(list(SHARES), p=np.array(list(SHARES.values())) / 100))
    specimen: Specimen = pick(rng, _specimens[role])
    case, outside = folder / "case", folder / "outside"
    write_files(case, specimen.files)
    victim = specimen.hurt[0]
    if role in ("sweep", "store") or rng.random() < 0.4:
        victim = pick(rng, specimen.hurt)
    how = "undamaged"
    if rng.random() >= _UNDAMAGED:
        others = list(pick(rng, _specimens[role]).files.values())
        how = damage(rng, case / victim, outside=outside, others=others)
    operations, weights = zip(*OPERATIONS[role].items(), strict=True)
    shares = np.array(weights, float)
    if "link" in how or "outside" in how:  # what matters then is where something is written
        shares *= [_WRITTEN if each in _WRITERS else 1 for each in operations]
    operation = operations[int(rng.choice(len(shares), p=shares / shares.sum()))]
    facts = f"{specimen.name}: {victim}: {how}: {operation.__name__}"
    try:
        todo = operation(rng, case, specimen)
        names = {Path(victim).name, Path(specimen.main).name, *_ALSO.get(role, ())}
        if (case / victim).is_symlink():
            names.add((case / victim).readlink().name)
        result = run(todo, case, names)
        if how == "undamaged" and result != "ok":
            raise Finding(f"a valid {role} is refused")
    except Exception as error:
        error.add_note(facts)
        raise
    finally:
        check_outside(outside, facts)
    return result


def run(todo: Todo, case: Path, names: Collection[str]) -> str:
    """Do it, and return "ok" or the name of a typed error; whatever else happens is a finding."""
    before = snapshot(case)
    if isinstance(todo, Command):
        result = _run_command(todo, names)
    else:
        result, found = expect_typed(todo)
        if result != "ok":
            _check_message(_text(found), names)
        elif not is_finite(found):
            raise Finding(f"{type(found).__name__} is not finite", "not finite")
    after = snapshot(case)
    part = [name for name in after if name.endswith((".part", ".new"))]
    if part:
        raise Finding(f"left behind: {re.sub('[0-9a-f]{32}', '*', part[0])}", "touched file")
    for name in sorted(before.keys() | after.keys()):
        allowed = isinstance(todo, Command) and todo.writes(name) and result == "ok"
        if before.get(name) != after.get(name) and not allowed:
            word = "made" if name not in before else "removed" if name not in after else "changed"
            kind = "changed input" if name in before else "touched file"
            raise Finding(f"{word} by {_name(todo)} that ends with {result}: {name}", kind)
    return result


def _run_command(command: Command, names: Collection[str]) -> str:
    from ctsne.cli.main import main
    from ctsne.io import read_map

    words = [str(word) for word in command.words]
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        code = main(words)
    text = errors.getvalue()
    if code == 0:
        if command.map is not None:
            result, found = expect_typed(lambda: read_map(str(command.map)))
            if result != "ok":
                raise Finding(
                    f"{words[0]} writes a map that cannot be read: {_shape(_text(found))}"
                )
            if not is_finite(found):
                raise Finding(f"{words[0]} writes a map that is not finite", "not finite")
        return "ok"
    if code == 2:
        text = next((line for line in text.splitlines() if ": error: " in line), text)
    elif code != 1:
        raise Finding(f"{words[0]} ends with exit code {code}\n{text}", "exception")
    given = {*filter(_GIVEN.fullmatch, words)}
    if "--perplexity" in given:  # there may be too few points for it
        given.add("perplexity")
    _check_message(text.strip(), {*names, *given})
    return f"exit code {code}"


def _text(error: Any) -> str:
    """Return the text of an error as the command line prints it."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.strerror}: {error.filename}"
    return str(error)


def _name(todo: Todo) -> str:
    return f"ctsne {todo.words[0]}" if isinstance(todo, Command) else "a reader"


def _check_message(text: str, names: Collection[str]) -> None:
    """Refuse a message of several lines, of endless length, or that does not name the file."""
    if len(text.splitlines()) != 1:
        raise Finding(f"message of {len(text.splitlines())} lines: {_shape(text)}\n{text}")
    if len(text) > _LONGEST:
        raise Finding(f"message of {len(text)} characters: {_shape(text)}")
    if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names):
        raise Finding(f"message that does not name the file: {_shape(text)}\n{text}")


def _shape(text: str) -> str:
    """Return the beginning of a message without what is particular to a case."""
    return re.sub(r"/\S+|'[^']*'|\"[^\"]*\"|[0-9]+", "*", text.strip().splitlines()[0])[:60]


def is_finite(found: Any) -> bool:
    """Tell whether what a reader returned has finite positions or features."""
    arrays = [getattr(found, name) for name in ("embedding", "X") if hasattr(found, name)]
    for swept in getattr(getattr(found, "result", found), "maps", ()):
        arrays += [] if swept.embedding is None else [swept.embedding]
    values = (each.data if hasattr(each, "tocsr") else each for each in arrays)
    return all(np.isfinite(np.asarray(each)).all() for each in values)


def snapshot(folder: Path) -> dict[str, object]:
    """Return everything in a folder by its path: the bytes of files, the targets of links."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content: object = stat.filemode(mode)
        if stat.S_ISLNK(mode):
            content = str(path.readlink())
        elif stat.S_ISREG(mode):
            content = path.read_bytes()
        found[str(path.relative_to(folder))] = content
    return found


def check_outside(outside: Path, facts: str) -> None:
    """Refuse any change in the folder to which links lead, and undo it."""
    after = snapshot(outside)
    if after != _outside:
        write_files(outside, _outside)
        odd = [name for name in {**after, **_outside} if after.get(name) != _outside.get(name)]
        raise Finding(f"written outside: {Path(sorted(odd)[0]).suffix}\n{facts}", "touched file")


# What is done with a file, by role. A name that is not in the file is as good as damage.


def _read_data(rng: Rng, case: Path, specimen: Specimen) -> Todo:
    from ctsne.io import read_data

    more: dict[str, Any] = {}
    if "h5ad" in specimen.main:
        reps: list[dict[str, Any]] = [{}, {}, {"use_rep": "X"}]
        if "full" in specimen.main:
            reps += [{"layer": "log"}, {"layer": "full"}, {"use_rep": "X_frame"}]
        more = pick(rng, reps)
    named = not _BARE.search(specimen.main) and rng.random() < 0.7
    # A column of numbers with gaps that is not named as a label is a feature, and refused.
    labels = ["batch"] if named or specimen.role == "typed labels" else []
    return partial(read_data, case / specimen.main, labels=labels, **more)


def _keep_labels(rng: Rng, case: Path, specimen: Specimen) -> Todo:
    """Write labels of any type, and read them from the file, and now and then from its map."""
    from ctsne.io import read_data, read_map

    X = np.random.default_rng(0).normal(size=(N, 4)).astype(np.float32)
    path, kind, column = random_labels(rng, case, X)
    mapped = kind != "missing" and rng.random() < 0.1
    suffix = pick(rng, MAPS)

    def read() -> Any:
        name, found = expect_typed(lambda: read_data(path, labels=[LABEL]))
        if name != "ok":
            raise Finding(f"labels of type {kind} in {path.suffix} are refused\n{found}")
        _check_kept(column, found.columns[LABEL], f"{kind} in {path.suffix}")
        if mapped:
            with tempfile.TemporaryDirectory() as folder:
                output = Path(folder, f"new{suffix}")
                run_command("embed", path, "--labels", LABEL, "-o", output, *QUICK)
                again = read_map(output).columns[LABEL]
            _check_kept(column, again, f"{kind} in {path.suffix}, in a map in {suffix}")
        return found

    return read


def _check_kept(column: Any, found: Any, what: str) -> None:
    """Report labels that were different and are not, or the other way round."""
    before, after = written_groups(column), groups_of(found)
    if before != after:
        rows = [row for row in range(len(before)) if before[row] != after[row]][:3]
        pairs = [(column.iloc[row], list(found)[row]) for row in rows]
        raise Finding(f"labels are not kept: {what}\n{pairs}")


def _read_store(rng: Rng, case: Path, specimen: Specimen) -> Todo:
    return partial(read_store, case / specimen.main, specimen.files, rng)


def _embed(rng: Rng, case: Path, specimen: Specimen) -> Todo:
    output = f"new{pick(rng, MAPS)}"
    if "h5ad" in specimen.main and rng.random() < 0.6:
        output = specimen.main
    labels = ["--method", "tsne"]
    if not _BARE.search(specimen.main):
        labels = ["--labels", "batch"]
    words = ("embed", case / specimen.main, *labels, "-o", case / output, *QUICK, "-q")
    return Command(words, lambda name: name in (output, f"{output}.json"), case / output)


def _tl(_: Rng, case: Path, specimen: Specimen) -> Todo:
    def embed() -> Any:
        from anndata import read_h5ad

        from ctsne import tl

        try:
            adata = read_h5ad(case / specimen.main)
        except Exception as error:  # not ours
            raise ValueError(f"{specimen.main}: anndata raises {type(error).__name__}") from None
        try:
            tl.ctsne(adata, "batch", perplexity=4, n_iter=3, n_jobs=1)
        except (ValueError, TypeError) as error:  # of an object, which has no file to name
            raise type(error)(f"{specimen.main}: {error}") from None
        if not np.isfinite(adata.obsm["X_ctsne"]).all():
            raise Finding("tl.ctsne makes a map that is not finite", "not finite")
        return adata

    return embed if specimen.main.endswith("h5ad") else _read_data(_, case, specimen)


def _read_labels(rng: Rng, case: Path, specimen: Specimen) -> Todo:
    from ctsne.io import read_data

    named = [["batch"], ["batch", "type"], []]
    labels = ["batch"] if specimen.main.endswith(".npy") else pick(rng, named)
    return partial(read_data, case / "X.npy", labels=labels, label_file=case / specimen.main)


def _embed_labels(_: Rng, case: Path, specimen: Specimen) -> Todo:
    labels = ("--label-file", case / specimen.main, "--labels", "batch")
    words = ("embed", case / "X.npy", *labels, "-o", case / "new.csv", *QUICK, "-q")
    return Command(words, lambda name: name in ("new.csv", "new.csv.json"), case / "new.csv")


def _embed_from(_: Rng, case: Path, specimen: Specimen) -> Todo:
    words = ("embed", case / "cells.csv", "--labels", "batch", "--init", case / specimen.main)
    return Command(
        (*words, "-o", case / "new.csv", *QUICK, "-q"),
        lambda name: name in ("new.csv", "new.csv.json"),
        case / "new.csv",
    )


def _read_map(_: Rng, case: Path, specimen: Specimen) -> Todo:
    from ctsne.io import read_map

    return partial(read_map, case / specimen.main)


def _read_record(_: Rng, case: Path, specimen: Specimen) -> Todo:
    from ctsne.storage.record import read_record

    return partial(read_record, case / specimen.main)


def _evaluate(_: Rng, case: Path, specimen: Specimen) -> Todo:
    words = ("evaluate", case / specimen.main, "-k", "5", "--jobs", "1", "-q")
    return Command((*words, "-o", case / "new.csv"), lambda name: name == "new.csv")


def _plot(_: Rng, case: Path, specimen: Specimen) -> Todo:
    words = ("plot", case / specimen.main, "-o", case / "new.svg", "-q")
    return Command(words, lambda name: name == "new.svg")


def _rerun(_: Rng, case: Path, specimen: Specimen) -> Todo:
    suffix = Path(specimen.main).suffix
    words = ("rerun", case / specimen.main, "-o", case / f"again{suffix}", "--jobs", "1", "-q")
    return Command(words, lambda name: name.startswith("again"))


def _embed_over(_: Rng, case: Path, specimen: Specimen) -> Todo:
    """Replace a damaged map by a new one."""
    main = specimen.main
    if "cells.csv" not in specimen.files:
        return _read_map(_, case, specimen)
    words = ("embed", case / "cells.csv", "--labels", "batch", "-o", case / main, *QUICK, "-q")
    return Command(words, lambda name: name in (main, f"{main}.json"), case / main)


def _load_sweep(_: Rng, case: Path, specimen: Specimen) -> Todo:
    from ctsne.sweep import load_sweep

    return partial(load_sweep, case / specimen.main)


def _read_folder(_: Rng, case: Path, specimen: Specimen) -> Todo:
    from ctsne.cli.sweep import read_folder

    return partial(read_folder, case / specimen.main)


def _resume(_: Rng, case: Path, specimen: Specimen) -> Todo:
    words = ("sweep", case / "cells.csv", "--labels", "batch", "--other", "type")
    return Command(
        (*words, "-o", case / SWEEP, *SWEPT, "-q"), lambda name: name.startswith(f"{SWEEP}/")
    )


def _report(_: Rng, case: Path, specimen: Specimen) -> Todo:
    words = ("report", case / SWEEP, "-o", case / "new.html", "-q")
    return Command(words, lambda name: name == "new.html")


def _load_model(_: Rng, case: Path, specimen: Specimen) -> Todo:
    """Load a model and place points with it; what is loaded must work, or be refused."""

    def load() -> Any:
        import ctsne

        model = ctsne.load(case / specimen.main)
        X, labels = np.load(case / "new.npy"), np.array(["a", "b", "new", None] * 10, object)
        try:
            placed = model.place(X, labels)
        except (ValueError, TypeError) as error:  # of a model, which has no file to name
            raise type(error)(f"{specimen.main}: {error}") from None
        if not np.isfinite(placed.embedding).all():
            raise Finding("a loaded model places points at infinity", "not finite")
        return model

    return load


def _transform(_: Rng, case: Path, specimen: Specimen) -> Todo:
    data = "cells.csv" if specimen.main == "made.ctsne" else "new.npy"
    words = ("transform", case / specimen.main, case / data, "-o", case / "new.csv", "-q")
    return Command(words, lambda name: name in ("new.csv", "new.csv.json"), case / "new.csv")


def _info(_: Rng, case: Path, specimen: Specimen) -> Todo:
    return Command(("info", case / specimen.main, "-q"))


def _cite(_: Rng, case: Path, specimen: Specimen) -> Todo:
    return Command(("cite", case / specimen.main, "-q"))


#: The operations of each role and how often each is chosen. Readers are a hundred times as fast as
#: commands, which mostly repeat what a reader does.
OPERATIONS: dict[str, dict[Callable[[Rng, Path, Specimen], Todo], int]] = {
    "data": {_read_data: 95, _embed: 4, _tl: 1},
    "typed labels": {_read_data: 60, _keep_labels: 37, _embed: 3},
    "labels": {_read_labels: 96, _embed_labels: 4},
    "store": {_read_store: 1},
    "map": {
        _read_map: 59,
        _read_record: 31,
        _evaluate: 3,
        _rerun: 2,
        _embed_over: 3,
        _plot: 1,
        _cite: 1,
    },
    "sweep": {
        _load_sweep: 44,
        _read_folder: 30,
        _read_record: 13,
        _resume: 9,
        _report: 4,
    },
    "model": {_load_model: 94, _transform: 4, _info: 1, _cite: 1},
    "placed": {_read_map: 60, _read_record: 30, _rerun: 5, _plot: 1},
    "saved sweep": {_load_sweep: 1},
    "start": {_embed_from: 1},
}
_WRITERS = (_embed, _embed_over, _resume, _transform)
