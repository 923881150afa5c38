"""Maps inside .h5ad files: a copy of the input with the map added, or a new file."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.files import file_checksum, replaced_file
from ctsne._core.messages import unknown
from ctsne._io.anndata import is_ours, obs_columns
from ctsne._io.dataset import Dataset, Names, first_difference, storable
from ctsne._io.hdf5 import opened, read_element
from ctsne._io.paths import load, suffix_of
from ctsne._io.provenance import Provenance


def check_key(target: Path, *, dataset: Dataset, key: str) -> None:
    """Refuse a key under which a map cannot be written, before any work is done."""
    if not isinstance(key, str) or not key.strip(".") or "/" in key:
        raise ValueError(f"key must be a name without slashes, got {key!r:.60}")
    if suffix_of(target) != ".h5ad" or suffix_of(dataset.path) != ".h5ad":
        return
    with opened(dataset.path) as file:
        if is_ours(file["uns"].get(key) if "uns" in file else None):
            return
        taken = [f'obsm["{key}"]'] if key in file.get("obsm", ()) else []
        taken += [f'obs["{name}"]' for name in _diagnostics_of(key) if name in file["obs"]]
        taken += [f'uns["{key}"]'] if key in file.get("uns", ()) else []
    if taken:
        what = f"{dataset.path} already has {' and '.join(taken[:3])}, not written by ctsne"
        raise ValueError(f"{what}; choose another name with --key, such as {key}_map")


def _diagnostics_of(key: str) -> list[str]:
    from ctsne.affinity.result import KEPT_DIAGNOSTICS  # imported here: loads the native core

    return [f"{key}_{name}" for name in KEPT_DIAGNOSTICS]


def write_h5ad_map(
    target: Path, positions: NDArray[np.float32], dataset: Dataset,
    diagnostics: Mapping[str, NDArray[Any]], provenance: Provenance, key: str,
) -> None:  # fmt: skip
    """Write a map into a copy of the .h5ad that it was made from, or into a new file."""
    with replaced_file(target) as temporary:
        if suffix_of(dataset.path) == ".h5ad":
            shutil.copyfile(dataset.path, temporary)
            if file_checksum(temporary) != dataset.sha256:
                what = f"{dataset.path} has changed since it was read"
                raise ValueError(f"{what}, so the map may not match it; run the command again")
        else:
            _write_data(temporary, dataset)
        with opened(temporary, "r+") as file:
            for group in ("obsm", "uns"):
                if group not in file:
                    _write(file, group, {})
            _write_columns(file, dataset.columns, diagnostics, key)
            _write(file["obsm"], key, positions)
            # AnnData can hold neither None nor lists of different things.
            params = {
                name: value if isinstance(value, bool | int | float | str) else json.dumps(value)
                for name, value in provenance.settings.items()
                if value is not None
            }
            _write(file["uns"], key, {"provenance": provenance.to_json(), "params": params})


def _write_columns(
    file: Any, columns: Mapping[str, Any], diagnostics: Mapping[str, Any], key: str
) -> None:
    """Add the columns that obs does not have; diagnostics replace those of an earlier map."""
    obs = file["obs"]
    order = [str(name) for name in obs.attrs.get("column-order", ())]
    new = {name: column for name, column in columns.items() if name not in order}
    for name in _diagnostics_of(key):
        if name in order:
            order.remove(name)
            del obs[name]
    if f"{key}_affinities" in file.get("obsp", ()):
        del file["obsp"][f"{key}_affinities"]
    before = {name: columns[name] for name in order if name in columns}
    for name, column in {**new, **diagnostics}.items():
        for place in _places(name):
            if place not in obs:  # the names of the cells are a member of obs too
                _write(obs, place, _element(column))
                order.append(place)
                break
            if place in before and first_difference(before[place], column) is None:
                break  # written by an earlier run with the same label file
    obs.attrs["column-order"] = np.array(order, dtype=load("h5py").string_dtype())


def _write(group: Any, name: str, value: Any) -> None:
    from anndata.io import write_elem

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_elem(group, name, value)


def _element(column: Any) -> Any:
    """Return a column as obs holds it; text as categories, which may be missing."""
    series = storable(column)
    if series.dtype.kind in "mM":  # AnnData cannot store dates and durations
        series = series.astype(object).where(series.notna(), None).map(str, na_action="ignore")
    if load("pandas").api.types.is_string_dtype(series.dtype):
        series = series.astype("category")
    return series.to_numpy() if isinstance(series.dtype, np.dtype) else series.array


def _places(name: str) -> Iterator[str]:
    """Yield names that HDF5 can hold and AnnData does not use itself."""
    name = name.replace("/", "_")
    return free_names(f"column {name}" if name in ("", ".", "..", "_index") else name)


def free_names(name: str) -> Iterator[str]:
    """Yield a name, and numbered ones in case it is taken."""
    yield name
    for number in count(2):
        yield f"{name}_{number}"


def _write_data(temporary: Path, dataset: Dataset) -> None:
    pandas = load("pandas")
    names = map(str, range(dataset.X.shape[0])) if dataset.names is None else dataset.names.tolist()
    indices = [pandas.Index(each, dtype=object) for each in (names, dataset.features)]
    obs, var = (pandas.DataFrame(index=index) for index in indices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # row names may appear twice
        load("anndata").AnnData(dataset.X, obs=obs, var=var).write_h5ad(temporary)


def read_h5ad_map(source: Path, key: str) -> tuple[NDArray[np.float32], dict[str, Any], Names]:
    """Return positions, columns and row names of a map in an .h5ad."""
    with opened(source) as file:
        known = sorted(file["obsm"]) if "obsm" in file else []
        if key not in known:
            text = unknown(key, known, what="map", where=f"obsm of {source}")
            raise ValueError(f"{text} (name it with --key)" if known else text)
        positions = np.asarray(read_element(file[f"obsm/{key}"]), np.float32)
        obs = read_element(file["obs"])
        return positions, obs_columns(obs), np.array(obs.index.astype(str), str)
