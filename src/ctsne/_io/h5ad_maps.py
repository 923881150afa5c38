"""Maps inside AnnData files: a copy of the file with the map added, or a new one."""

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

from ctsne._core.files import replaced_file
from ctsne._core.messages import unknown
from ctsne._io.columns import first_difference
from ctsne._io.data import Dataset
from ctsne._io.h5ad import obs_columns, opened, read_element
from ctsne._io.paths import file_sha256, load, suffix_of
from ctsne._io.provenance import Provenance
from ctsne._io.tables import storable

__all__ = [
    "check_key",
    "is_ours",
    "made_in_python",
    "read_h5ad_map",
    "stored_provenance",
    "write_h5ad_map",
]

# What ``uns`` says of a map: the first by the command line, the second by ``ctsne.tl``. Others who
# write there, scanpy among them, use neither.
_MARKS = ("provenance", "affinities_key")


def check_key(target: Path, *, dataset: Dataset, key: str) -> None:
    """Refuse a key under which a map cannot be written; to be called before any work.

    Parameters
    ----------
    target : Path
        The map to be written.
    dataset : Dataset
        What it is made of.
    key : str
        What it is called.

    Raises
    ------
    ValueError
        If the key cannot be a name, or the .h5ad holds something under it that is not ours.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from ctsne._io import check_key, read_data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/cells.npy", np.eye(4))
    ...     data = read_data(f"{folder}/cells.npy")
    >>> check_key(pathlib.Path("map.h5ad"), dataset=data, key="my/map")
    Traceback (most recent call last):
        ...
    ValueError: key must be a name without slashes, got 'my/map'
    """
    if not isinstance(key, str) or not key.strip(".") or "/" in key:
        raise ValueError(f"key must be a name without slashes, got {key!r:.60}")
    if suffix_of(target) != ".h5ad" or suffix_of(dataset.path) != ".h5ad":
        return
    from ctsne.affinity.result import KEPT_DIAGNOSTICS  # loads the native core

    with opened(dataset.path) as file:
        if is_ours(file["uns"].get(key) if "uns" in file else None):
            return
        taken = [f'obsm["{key}"]'] if key in file.get("obsm", ()) else []
        taken += [
            f'obs["{key}_{name}"]' for name in KEPT_DIAGNOSTICS if f"{key}_{name}" in file["obs"]
        ]
        taken += [f'uns["{key}"]'] if key in file.get("uns", ()) else []
    if taken:
        raise ValueError(
            f"{dataset.path} already holds {' and '.join(taken[:3])}, not written by ctsne, so it "
            f"is left alone; choose another name with --key, such as {key}_map"
        )


def is_ours(entry: Any) -> bool:
    """Whether an entry of ``uns`` was written with a map, in a file or in memory."""
    return hasattr(entry, "keys") and any(mark in entry for mark in _MARKS)


def write_h5ad_map(
    target: Path,
    positions: NDArray[np.float32],
    dataset: Dataset,
    diagnostics: Mapping[str, NDArray[Any]],
    provenance: Provenance,
    *,
    key: str,
) -> None:
    """Write a map into a copy of the .h5ad that it was made of, or into a new one."""
    about = {"provenance": provenance.to_json(), "params": _parameters(provenance.settings)}
    with replaced_file(target) as temporary:
        if suffix_of(dataset.path) == ".h5ad":
            shutil.copyfile(dataset.path, temporary)
            if file_sha256(temporary) != dataset.sha256:
                raise ValueError(
                    f"{dataset.path} has changed since it was read, so the map may not belong to "
                    "its cells any more; run the command again"
                )
            with opened(temporary, "r+") as file:
                _add(file, positions, dataset, diagnostics, about, key)
        else:
            _new_file(temporary, positions, dataset, diagnostics, about, key)


def _add(
    file: Any,
    positions: NDArray[np.float32],
    dataset: Dataset,
    diagnostics: Mapping[str, NDArray[Any]],
    about: dict[str, Any],
    key: str,
) -> None:
    obs = file["obs"]
    order = [str(name) for name in obs.attrs.get("column-order", ())]
    for group in ("obsm", "uns"):
        if group not in file:
            _write(file, group, {})
    # Columns of a file of labels are not in obs yet.
    new = {name: column for name, column in dataset.columns.items() if name not in order}
    _forget(file, order, key)
    _write(file["obsm"], key, positions)
    _write(file["uns"], key, about)
    before = {name: dataset.columns[name] for name in order if name in dataset.columns}
    for name, column in {**new, **diagnostics}.items():
        for place in _places(name):
            if place not in obs:  # the names of the cells are a member of obs too
                _write(obs, place, _element(column))
                order.append(place)
                break
            if place in before and first_difference(before[place], column) is None:
                break  # written by an earlier run with the same file of labels
    obs.attrs["column-order"] = np.array(order, dtype=load("h5py").string_dtype())


def _forget(file: Any, order: list[str], key: str) -> None:
    """Remove what an earlier map of this name left beside its positions: not all maps have all."""
    from ctsne.affinity.result import KEPT_DIAGNOSTICS  # loads the native core

    for name in (f"{key}_{kept}" for kept in KEPT_DIAGNOSTICS):
        if name in order:
            order.remove(name)
            del file["obs"][name]
    if f"{key}_affinities" in file.get("obsp", ()):
        del file["obsp"][f"{key}_affinities"]


def _write(group: Any, name: str, value: Any) -> None:
    from anndata.io import write_elem

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_elem(group, name, value)


def _element(column: Any) -> Any:
    """Return a column as obs holds it; text as categories, which may be missing."""
    series = _without_dates(storable(column))
    if load("pandas").api.types.is_string_dtype(series.dtype):
        series = series.astype("category")
    return series.to_numpy() if isinstance(series.dtype, np.dtype) else series.array


def _without_dates(series: Any) -> Any:
    """Return dates and durations as text, for which AnnData has no place."""
    if series.dtype.kind not in "mM":
        return series
    return series.astype(object).where(series.notna(), None).map(str, na_action="ignore")


def _places(name: str) -> Iterator[str]:
    """Yield names that HDF5 can hold and AnnData does not use itself, for if the first is taken."""
    name = name.replace("/", "_")
    name = f"column {name}" if name in ("", ".", "..", "_index") else name
    yield name
    for number in count(2):
        yield f"{name}_{number}"


def _new_file(
    temporary: Path,
    positions: NDArray[np.float32],
    dataset: Dataset,
    diagnostics: Mapping[str, NDArray[Any]],
    about: dict[str, Any],
    key: str,
) -> None:
    pandas = load("pandas")
    anndata = load("anndata")
    n = len(positions)
    columns = {**dataset.columns, **diagnostics}
    names = [str(row) for row in range(n)] if dataset.names is None else dataset.names.tolist()
    elements: dict[str, Any] = {}
    for name, column in columns.items():
        place = next(place for place in _places(name) if place not in elements)
        elements[place] = _element(column)
    obs = pandas.DataFrame(elements, index=pandas.Index(names, dtype=object))
    var = pandas.DataFrame(index=pandas.Index(dataset.features, dtype=object))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # row names may occur twice
        adata = anndata.AnnData(dataset.X, obs=obs, var=var)
        adata.obsm[key] = positions
        adata.uns[key] = about
        adata.write_h5ad(temporary)


def _parameters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as AnnData can hold them: no None, lists as text."""
    return {
        name: value if isinstance(value, bool | int | float | str) else json.dumps(value)
        for name, value in settings.items()
        if value is not None
    }


def read_h5ad_map(
    source: Path, *, key: str
) -> tuple[NDArray[np.float32], dict[str, Any], NDArray[np.str_], Provenance | None]:
    """Return positions, columns, names and provenance of a map in an .h5ad."""
    with opened(source) as file:
        known = sorted(file["obsm"]) if "obsm" in file else []
        if key not in known:
            text = unknown(key, known, what="map", where=f"obsm of {source}")
            raise ValueError(f"{text} (name it with --key)" if known else text)
        positions = np.asarray(read_element(file[f"obsm/{key}"]), np.float32)
        obs = read_element(file["obs"])
        stored = stored_provenance(file, key)
    made = None if stored is None else Provenance.from_json(stored)
    return positions, obs_columns(obs), np.array(obs.index.astype(str), str), made


def stored_provenance(file: Any, key: str) -> str | None:
    """Return the provenance of a map in an open .h5ad, if it has one."""
    place = f"uns/{key}/provenance"
    return str(read_element(file[place])) if place in file else None


def made_in_python(file: Any, key: str) -> str | None:
    """Return the parameters of a map in an open .h5ad that ``ctsne.tl`` made, in words."""
    entry = file.get(f"uns/{key}")
    if not is_ours(entry) or "params" not in entry:
        return None
    params = read_element(entry["params"])
    return ", ".join(f"{name}={_shown(value)!r:.60}" for name, value in params.items())


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):  # a number for each label
        pairs = [_shown(value.get(part, ())) for part in ("label", "value")]
        return dict(zip(*pairs, strict=False))
    return value.tolist() if hasattr(value, "tolist") else value
