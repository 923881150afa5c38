"""Small valid files of every format and every role, as bytes: what the attacker of files damages.

A specimen is a folder with all that an operation needs: the file that is named to it, those it
refers to, and which of them may be damaged.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from label_files import FORMATS, LABELS, make_labels, write_labels
from stores import store_files

from ctsne.cli.main import main

N = 40
QUICK = ["--perplexity", "4", "--n-iter", "6", "--early-exaggeration-iter", "3", "--jobs", "1"]
SWEPT = ["--methods", "joint", "--strengths", "0.5", "-k", "5", "--show", "PC1", *QUICK]
# Not a word of any message, so that a message with it names the folder.
SWEEP = "swept17"
TEXTS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")
MAPS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".h5ad")


@dataclass(frozen=True)
class Specimen:
    """A folder of valid files."""

    name: str
    role: str  # data, typed labels, labels, start, map, placed, sweep, saved sweep, model or store
    main: str  # the file or folder that an operation is given
    files: dict[str, bytes]  # by path relative to the folder
    hurt: tuple[str, ...]  # those that may be damaged, the usual victim first


def make_specimens(folder: Path) -> list[Specimen]:
    """Make all specimens with ctsne itself and with the libraries that users have."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = [*_data(folder), *_labels(folder), *_maps(folder), *_sweeps(folder), *_models(folder)]
    made += [*_typed_labels(folder), *_stores(folder)]
    start = _bytes(np.save, np.random.default_rng(1).normal(0, 1e-4, (N, 2)))
    cells = (folder / "cells.csv").read_bytes()
    beside = {"cells.csv": cells}
    made.append(
        Specimen("start.npy", "start", "start.npy", {"start.npy": start, **beside}, ("start.npy",))
    )
    return made


def frame() -> pd.DataFrame:
    """Return features, text labels with gaps, whole and missing numbers, and names."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4)).astype(np.float32) + 3 * rng.integers(2, size=(N, 1))
    table = pd.DataFrame(X, columns=["PC1", "PC2", "PC3", "PC4"])
    table.insert(0, "cell", [f"c{row}" for row in range(N)])
    table["batch"] = np.where(np.arange(N) % 3 == 0, "a", "b")
    table["type"] = [None if row % 7 == 0 else f"té{row % 3}" for row in range(N)]
    return table


def _bytes(write: Any, *parts: Any, **more: Any) -> bytes:
    stream = io.BytesIO()
    write(stream, *parts, **more)
    return stream.getvalue()


def _data(folder: Path) -> Iterator[Specimen]:
    table = frame()
    for name, content in _tables(table).items():
        yield _one(folder, f"cells{name}", content, "data")
    X, names = table.filter(like="PC").to_numpy(), table["cell"].to_numpy(str)
    sparse = sp.random(N, 9, 0.4, "csr", np.float32, np.random.default_rng(2))
    extra = {"batch": table["batch"].to_numpy(str), "names": names, "depth": np.arange(N) / 7}
    arrays = {
        "cells.npy": _bytes(np.save, X),
        "dense.npz": _bytes(np.savez_compressed, X=X, **extra),
        "stored.npz": _bytes(np.savez, X=X.astype(np.float64), **extra),
        **{f"{kind}.npz": _bytes(sp.save_npz, sparse.asformat(kind)) for kind in _SPARSE},
    }
    for name, content in arrays.items():
        yield _one(folder, name, content, "data")
    for name, adata in _h5ads(table, X, sparse).items():
        adata.write_h5ad(folder / name, **({"compression": "gzip"} if "dense" in name else {}))
        yield _one(folder, name, (folder / name).read_bytes(), "data")


_SPARSE = ("csr", "csc", "coo", "bsr", "dia")


def _one(folder: Path, name: str, content: bytes, role: str) -> Specimen:
    (folder / name).write_bytes(content)
    return Specimen(name, role, name, {name: content}, (name,))


def _tables(table: pd.DataFrame) -> dict[str, bytes]:
    """Return a table in every format, the last name a .csv with semicolons."""
    made = {}
    for suffix in TEXTS:
        separator = "," if suffix.startswith(".csv") else "\t"
        packed: Any = {"method": "gzip", "mtime": 0} if suffix.endswith(".gz") else None
        made[suffix] = _bytes(table.to_csv, index=False, sep=separator, compression=packed)
    named = table.set_index("cell")
    made[".parquet"] = _bytes(named.to_parquet)
    made["-plain.parquet"] = _bytes(table.to_parquet, compression="gzip", use_dictionary=False)
    made["-semicolons.csv"] = _bytes(table.to_csv, index=False, sep=";", decimal=",")
    return made


def _h5ads(table: pd.DataFrame, X: Any, sparse: Any) -> dict[str, Any]:
    from anndata import AnnData

    obs = table.set_index("cell")[["batch", "type"]].astype("category")
    obs["plate"] = pd.array([None if row % 9 == 0 else row % 4 for row in range(N)], "Int64")
    obs["good"] = pd.array([None if row % 8 == 0 else row % 2 == 0 for row in range(N)], "boolean")
    obs["depth"] = np.arange(N) / 7
    obs["note"] = [f"n{row}" for row in range(N)]
    chosen = pd.DataFrame({"highly_variable": np.arange(9) % 2 == 0})
    chosen.index = [f"gene{gene}" for gene in range(9)]
    dense = AnnData(X, obs=obs)
    csr = AnnData(sparse, obs=obs, var=chosen)
    csc = AnnData(sparse.tocsc(), obs=obs)
    full = AnnData(
        sparse,
        obs=obs,
        var=chosen,
        layers={"log": sparse.log1p(), "full": X[:, :1] + 0 * sparse.toarray()},
    )
    full.obsm["X_pca"], full.obsm["X_frame"] = X, table.set_index("cell").filter(like="PC")
    full.obsp["connectivities"] = sp.identity(N, format="csr")
    full.uns = {"batch_colors": np.array(["#ff0000", "#00ff00"]), "pca": {"params": {"n": 4}}}
    full.raw = full.copy()
    return {"dense.h5ad": dense, "csr.h5ad": csr, "csc.h5ad": csc, "full.h5ad": full}


def _labels(folder: Path) -> Iterator[Specimen]:
    table = frame()
    data = {"X.npy": (folder / "cells.npy").read_bytes()}
    made = {
        f"labels{name}": content
        for name, content in _tables(table[["cell", "batch", "type"]]).items()
    }
    made["labels.npy"] = _bytes(np.save, table["batch"].fillna("").to_numpy(str))
    for name, content in made.items():
        yield Specimen(name, "labels", name, {name: content, **data}, (name,))


def _typed_labels(folder: Path) -> Iterator[Specimen]:
    """Yield data with a label column of every type in every format that holds it."""
    X = np.load(folder / "cells.npy")
    for kind, suffix in itertools.product(LABELS, FORMATS):
        path = folder / f"{kind.replace(' ', '-')}{suffix}"
        if write_labels(path, X, make_labels(np.random.default_rng(0), kind, N)):
            yield _one(folder, path.name, path.read_bytes(), "typed labels")


def _stores(folder: Path) -> Iterator[Specimen]:
    for name, files in store_files(folder, np.load(folder / "cells.npy")):
        yield Specimen(name, "store", name, files, tuple(files))


def _maps(folder: Path) -> Iterator[Specimen]:
    for suffix in MAPS:
        source, name = "cells.csv", f"map{suffix}"
        run_command("embed", folder / source, "--labels", "batch", "-o", folder / name, *QUICK)
        yield _with_map(folder, name, source)
    # A map in a copy of its input, and one of data whose labels and start are files of their own.
    run_command(
        "embed", folder / "full.h5ad", "--labels", "batch", "-o", folder / "added.h5ad", *QUICK
    )
    yield _with_map(folder, "added.h5ad", "full.h5ad")
    np.save(folder / "begin.npy", np.random.default_rng(3).normal(size=(N, 2)))
    table = frame()[["cell", "batch"]]
    table.to_csv(folder / "known.csv", index=False)
    more = ["--label-file", folder / "known.csv", "--init", folder / "begin.npy", *QUICK]
    words = ["embed", folder / "cells.npy", "--labels", "batch", *more]
    run_command(*words, "-o", folder / "joined.csv")
    yield _with_map(folder, "joined.csv", "cells.npy", "known.csv", "begin.npy")


def _with_map(folder: Path, name: str, *sources: str) -> Specimen:
    names = [name, f"{name}.json", *sources]
    files = {each: (folder / each).read_bytes() for each in names if (folder / each).exists()}
    return Specimen(name, "map", name, files, tuple(files))


def _sweeps(folder: Path) -> Iterator[Specimen]:
    from ctsne.sweep import load_sweep

    words = ["sweep", folder / "cells.csv", "--labels", "batch", "--other", "type", *SWEPT]
    run_command(*words, "-o", folder / SWEEP)
    paths = sorted((folder / SWEEP).iterdir())
    files = {f"{SWEEP}/{path.name}": path.read_bytes() for path in paths}
    files["cells.csv"] = (folder / "cells.csv").read_bytes()
    yield Specimen(SWEEP, "sweep", SWEEP, files, tuple(files))
    load_sweep(folder / SWEEP).save(folder / "saved.npz")
    yield _one(folder, "saved.npz", (folder / "saved.npz").read_bytes(), "saved sweep")


#: Small models of every kind, by name.
MODELS: dict[str, dict[str, Any]] = {
    "joint": {},
    "mutual": {"method": "balanced", "align": "mutual"},
    "local": {"method": "revised", "align": "local"},
    "original": {"method": "original"},
    "line": {"n_components": 1, "odds": 3.0},
    "plain": {"method": "tsne", "n_components": 3},
    "cosine": {"metric": "cosine", "align": "mean", "dof": 0.7},
    "reduced": {"pca": 2},
    "distances": {"metric": "precomputed", "init": "random"},
}


def _models(folder: Path) -> Iterator[Specimen]:
    from ctsne import ConditionalTSNE

    table = frame()
    X = table.filter(like="PC").to_numpy(np.float64)
    beside = {"new.npy": _bytes(np.save, X + 0.1), "cells.csv": (folder / "cells.csv").read_bytes()}
    for name, given in MODELS.items():
        model = ConditionalTSNE(perplexity=4, n_iter=6, n_jobs=1, random_state=0, **given)
        apart = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
        data = apart if name == "distances" else X
        model.fit(data, labels=table["batch"])
        model.save(folder / f"{name}.ctsne")
        files = {f"{name}.ctsne": (folder / f"{name}.ctsne").read_bytes(), **beside}
        files["new.npy"] = _bytes(np.save, data + 0.1)
        yield Specimen(f"{name}.ctsne", "model", f"{name}.ctsne", files, (f"{name}.ctsne",))
    words = ["embed", folder / "cells.csv", "--labels", "batch", "-o", folder / "map.csv", *QUICK]
    run_command(*words, "--model", folder / "made.ctsne")
    files = {"made.ctsne": (folder / "made.ctsne").read_bytes(), **beside}
    yield Specimen("made.ctsne", "model", "made.ctsne", files, ("made.ctsne",))
    run_command(
        "transform", folder / "made.ctsne", folder / "cells.csv", "-o", folder / "placed.csv"
    )
    yield replace(_with_map(folder, "placed.csv", "cells.csv", "made.ctsne"), role="placed")


def run_command(*words: object) -> None:
    """Run a command that must succeed."""
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        code = main([str(word) for word in (*words, "-q")])
    if code:
        raise RuntimeError(f"{words} failed: {errors.getvalue()}")


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Give a folder these files and no others."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
