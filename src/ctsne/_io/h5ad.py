"""AnnData files (.h5ad): only the parts that are needed are read."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.checks import is_sparse
from ctsne._core.messages import unknown
from ctsne._io.column_names import matching
from ctsne._io.parts import Parts, check_labels, check_numbers, numbered, selected
from ctsne._io.paths import load
from ctsne._io.tables import no_empty_text, storable

__all__ = ["h5ad_parts", "obs_columns", "opened", "read_element"]

DEFAULT = "X_pca"


def h5ad_parts(
    path: Path,
    *,
    labels: Sequence[str],
    elsewhere: Sequence[str],
    use_rep: str | None,
    layer: str | None,
    features: Sequence[str] | None,
) -> Parts:
    """Return a representation (or X, or a layer) as the matrix, and the columns of obs."""
    if layer is not None and use_rep is not None:
        raise ValueError(
            f"give --use-rep or --layer, not both (got {use_rep!r:.60} and {layer!r:.60})"
        )
    with opened(path) as file:
        obs = read_element(file["obs"])
        check_labels(labels, [*map(str, obs.columns), *elsewhere], where=f"obs of {path}")
        X, known, source = _matrix(file, path, use_rep=use_rep, layer=layer)
    names = np.array(obs.index.astype(str), str)
    chosen: Sequence[str] = known
    if features is not None:
        chosen = matching(features, known, where=f"{source} of {path}")
    X = check_numbers(selected(X, known, chosen), chosen, names, path=path)
    if X.shape[0] != len(obs):
        raise ValueError(f"{path} is damaged: {source} has {X.shape[0]} rows, obs has {len(obs)}")
    columns = obs_columns(obs)
    what = "genes" if source.startswith(("X", "layers")) else "columns"
    return Parts(X, tuple(chosen), columns, names, f"{source} ({len(chosen)} {what})")


def obs_columns(obs: Any) -> dict[str, Any]:
    """Return the columns of ``obs`` by name; complex numbers, which are no labels, as text."""
    columns = {str(name): obs[name].reset_index(drop=True) for name in obs.columns}
    return {
        name: storable(column) if column.dtype.kind == "c" else no_empty_text(column)
        for name, column in columns.items()
    }


@contextlib.contextmanager
def opened(path: Path, mode: str = "r") -> Iterator[Any]:
    """Open an .h5ad file with h5py; refuse other files."""
    h5py = load("h5py")
    load("anndata")
    try:
        file = h5py.File(path, mode)
    except BlockingIOError as error:
        raise ValueError(f"{path} is open in another program; close it there first") from error
    except OSError as error:
        raise ValueError(f"{path} is no HDF5 file, so not an .h5ad, or damaged: {error}") from error
    with file:
        if "obs" not in file:
            raise ValueError(
                f"{path} is an HDF5 file but has no obs, so it is not an .h5ad file of AnnData"
            )
        if not hasattr(file["obs"], "keys"):
            raise ValueError(
                f"{path} was written by anndata before version 0.7; read it with "
                "anndata.read_h5ad and write it again"
            )
        yield file


def read_element(element: Any) -> Any:
    """Return a part of the file as AnnData holds it."""
    from anndata.io import read_elem

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # files of older versions are read all the same
        return read_elem(element)


def _matrix(
    file: Any, path: Path, *, use_rep: str | None, layer: str | None
) -> tuple[Any, tuple[str, ...], str]:
    """Return the matrix, the names of its columns, and where it comes from."""
    obsm = sorted(file["obsm"]) if "obsm" in file else []
    if layer is not None:
        layers = sorted(file["layers"]) if "layers" in file else []
        if layer not in layers:
            raise ValueError(unknown(layer, layers, what="layer", where=str(path)))
        return _of_genes(file, f"layers/{layer}", f'layers["{layer}"]', path)
    if use_rep is None:
        use_rep = DEFAULT if DEFAULT in obsm else "X"
    if use_rep in obsm:
        return _representation(read_element(file[f"obsm/{use_rep}"]), use_rep)
    if use_rep != "X":
        where = f"obsm of {path}"
        raise ValueError(unknown(use_rep, [*obsm, "X"], what="representation", where=where))
    if "X" not in file or getattr(file["X"], "shape", ()) is None:
        raise ValueError(
            f"{path} has no X; choose a representation with --use-rep: {', '.join(obsm) or 'none'}"
        )
    return _of_genes(file, "X", "X", path)


def _representation(values: Any, key: str) -> tuple[Any, tuple[str, ...], str]:
    source = f'obsm["{key}"]'
    if hasattr(values, "columns"):  # a data frame
        features = tuple(str(name) for name in values.columns)
        with contextlib.suppress(TypeError, ValueError):  # text is refused later, by name
            values = values.astype(np.float64)
        return values.to_numpy(), features, source
    values = values if is_sparse(values) else np.asarray(values)
    stem = key.removeprefix("X_")
    return values, numbered("PC" if stem == "pca" else stem, values.shape[1]), source


def _of_genes(file: Any, place: str, source: str, path: Path) -> tuple[Any, tuple[str, ...], str]:
    values = read_element(file[place])
    var = file["var"]
    if hasattr(var, "keys") and "_index" in var.attrs:
        genes = read_element(var[var.attrs["_index"]])
    else:
        genes = numbered("gene", values.shape[1])
    if len(genes) != values.shape[1]:
        raise ValueError(
            f"{path} is damaged: {source} has {values.shape[1]} columns, var has {len(genes)}"
        )
    values = values if is_sparse(values) else np.asarray(values)
    return values, tuple(str(gene) for gene in genes), source
