"""Maps inside .h5ad files: a copy of the input with the map added, or a new file."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import warnings
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import is_sparse
from ctsne._core.files import replaced_file
from ctsne._core.locks import locked_folder
from ctsne._core.messages import shown, unknown
from ctsne.io.anndata import (
    find_entry,
    find_map,
    graph_fields,
    is_our_graph,
    map_keys,
    map_name,
    obs_columns,
    uns_entry,
)
from ctsne.io.dataset import Dataset, Names, first_difference, storable
from ctsne.io.hdf5 import opened, read_element
from ctsne.io.paths import load, suffix_of

_MEGABYTE = 2**20
# Bytes that a name takes in an HDF5 file, at most, besides its text.
_PER_NAME = 100


def check_key(target: Path, *, dataset: Dataset, key: str) -> None:
    """Refuse a key under which a map cannot be written, before any work is done."""
    if not isinstance(key, str) or not map_name(key).strip(".") or "/" in key:
        raise ValueError(f"key must be a name without slashes, got {shown(key)}")
    if suffix_of(target) != ".h5ad" or suffix_of(dataset.path) != ".h5ad":
        return
    with opened(dataset.path) as file:
        _refuse_links(file, dataset.path, key)
        if find_entry(file.get("uns", {}), key) is not None:
            return
        name = map_name(key)
        places = [
            *(("obsm", each) for each in map_keys(key)),
            *(("obs", each) for each in _diagnostics_of(name)),
            ("uns", name),
        ]
        taken = [f'{part}["{each}"]' for part, each in places if each in file.get(part, ())]
    if taken:
        what = f"{dataset.path} already has {' and '.join(taken[:3])}, not written by ctsne"
        raise ValueError(f"{what}; choose another name with --key, such as {key}_map")


def _refuse_links(file: Any, path: Path, key: str) -> None:
    """Refuse links where a map is written; links to other files are not even opened."""
    graphs = [graph_fields(name) for name in map_keys(key)]
    groups = {
        "obs": [each for name in map_keys(key) for each in _diagnostics_of(name)],
        "obsm": map_keys(key),
        "uns": [*map_keys(key), *(graph.entry for graph in graphs)],
        "obsp": [each for graph in graphs for each in (graph.connectivities, graph.distances)],
    }
    hard = load("h5py").HardLink
    for group, names in groups.items():
        if group not in list(file):  # unlike ``in file``, this also finds links that lead nowhere
            continue
        places = [group]
        if isinstance(file.get(group, getlink=True), hard):
            members = list(file[group])
            places += [f"{group}/{name}" for name in names if name in members]
        for place in places:
            link = file.get(place, getlink=True)
            if not isinstance(link, hard):
                what = f"{path} holds {place} as a link to {link.path}"
                how = "read it with anndata.read_h5ad and write it to a new file"
                raise ValueError(f"{what}, and nothing is written through links; {how}")


def _diagnostics_of(key: str) -> list[str]:
    from ctsne.affinity.result import (  # imported here: loads the native core
        KEPT_DIAGNOSTICS,
        PLACED_DIAGNOSTICS,
    )

    return [f"{key}_{name}" for name in (*KEPT_DIAGNOSTICS, *PLACED_DIAGNOSTICS)]


def write_h5ad_map(
    target: Path,
    positions: NDArray[np.float32],
    dataset: Dataset,
    diagnostics: Mapping[str, NDArray[Any]],
    settings: str,
    key: str,
) -> None:
    """Write a map into a copy of the .h5ad that it was made from, or into a new file.

    Another process that writes to the same file waits, and then finds that it has changed.
    """
    copied = suffix_of(dataset.path) == ".h5ad"
    with locked_folder(target.parent), replaced_file(target) as temporary:
        if copied:
            before = _state(dataset.path)
            _copy(dataset, temporary)
        else:
            _write_data(temporary, dataset)
        size = sum(each.nbytes for each in (positions, *diagnostics.values()))
        _reserve(temporary, _size_of_map(dataset, size + len(settings)))
        with _written(temporary, target) as file:
            _refuse_links(file, dataset.path, key)
            for group in ("obsm", "uns"):
                if group not in file:
                    _write(file, group, {})
            stored, name = map_keys(key)
            earlier = find_entry(file["uns"], key)
            _write_columns(file, dataset.columns, diagnostics, name if earlier is None else earlier)
            if earlier is not None:
                del file["uns"][earlier]
            if name in file["obsm"]:  # as earlier versions called it
                del file["obsm"][name]
            _write(file["obsm"], stored, positions)
            _write(file["uns"], name, uns_entry(settings))
        if copied and _state(dataset.path) != before:  # by a program that does not wait
            raise _changed(dataset.path)


def _copy(dataset: Dataset, temporary: Path) -> None:
    """Copy the input, which must be as it was when it was read."""
    digest = hashlib.sha256()
    with dataset.path.open("rb") as source, temporary.open("wb") as file:
        while block := source.read(_MEGABYTE):
            digest.update(block)
            file.write(block)
    if digest.hexdigest() != dataset.sha256:
        raise _changed(dataset.path)


def _state(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _changed(path: Path) -> ValueError:
    what = f"{path} has changed since it was read"
    return ValueError(f"{what}, so the map may not match it; run the command again")


def _reserve(path: Path, size: int) -> None:
    """Take space on the disk for what HDF5 will append: it crashes on a full disk.

    What it does not use, it gives back.
    """
    with path.open("ab") as file:
        if hasattr(os, "posix_fallocate"):  # not on macOS
            try:
                os.posix_fallocate(file.fileno(), file.tell(), size)
                return
            except OSError as error:  # some file systems, and some C libraries, cannot
                if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                    raise
        for start in range(0, size, _MEGABYTE):
            file.write(bytes(min(_MEGABYTE, size - start)))


def room_in_h5ad(dataset: Dataset, added: int) -> int:
    """Return the bytes that a map needs on the disk, ``added`` for positions and diagnostics."""
    return _data_size(dataset) + _size_of_map(dataset, added)


def _size_of_map(dataset: Dataset, added: int) -> int:
    """Return the bytes that a map, and the columns that its file does not have yet, may take."""
    present: set[str] = set()
    if suffix_of(dataset.path) == ".h5ad":
        with opened(dataset.path) as file:
            present.update(map(str, file["obs"].attrs.get("column-order", ())))
    new = [storable(each) for name, each in dataset.columns.items() if name not in present]
    sizes = [int(each.memory_usage(index=False, deep=True)) for each in new]
    return 2 * (added + sum(sizes) + _PER_NAME * sum(map(len, new))) + _MEGABYTE


def _data_size(dataset: Dataset) -> int:
    """Return the bytes of the data in an .h5ad file, as they are or as they will be."""
    if suffix_of(dataset.path) == ".h5ad":
        return dataset.path.stat().st_size
    X = dataset.X
    parts = (X.data, X.indices, X.indptr) if is_sparse(X) else (X,)
    names = [*dataset.features, *(() if dataset.names is None else dataset.names)]
    text = sum(len(name.encode("utf-8", "replace")) for name in names)
    return sum(int(part.nbytes) for part in parts) + text + _PER_NAME * int(sum(X.shape))


@contextlib.contextmanager
def _written(temporary: Path, target: Path) -> Iterator[Any]:
    """Open a file to write to, and name the target in every error."""
    try:
        with opened(temporary, "r+", checked=True) as file:
            yield file
    except (MemoryError, OSError, TypeError, ValueError):
        raise
    except Exception as error:  # of any kind, if the file is damaged
        raise ValueError(f"cannot write {target}: its input is damaged ({error})") from error


def _remove_graph(file: Any, key: str) -> None:
    """Remove the graph of an earlier map, which :func:`ctsne.tl.ctsne` stored."""
    names = graph_fields(key)
    if is_our_graph(file["uns"].get(names.entry) if "uns" in file else None):
        del file["uns"][names.entry]
        for name in (names.connectivities, names.distances):
            if name in file.get("obsp", ()):
                del file["obsp"][name]


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
    _remove_graph(file, key)
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
        series = series.astype(object).astype("category")  # anndata before 0.12.1 needs this
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
    h5py = load("h5py")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # row names may appear twice
        adata = load("anndata").AnnData(dataset.X, obs=obs, var=var)
    empty = io.BytesIO()
    h5py.File(empty, "w").close()
    temporary.write_bytes(empty.getbuffer())
    _reserve(temporary, _data_size(dataset) + _MEGABYTE)
    with h5py.File(temporary, "r+") as file:
        _write(file, "/", adata)


def read_h5ad_map(source: Path, key: str) -> tuple[NDArray[np.float32], dict[str, Any], Names]:
    """Return positions, columns and row names of a map in an .h5ad."""
    with opened(source) as file:
        known = sorted(file["obsm"]) if "obsm" in file else []
        name = find_map(known, key)
        if name is None:
            text = unknown(key, known, what="map", where=f"obsm of {source}")
            raise ValueError(f"{text} (name it with --key)" if known else text)
        positions = np.asarray(read_element(file[f"obsm/{name}"]), np.float32)
        obs = read_element(file["obs"])
        return positions, obs_columns(obs), np.array(obs.index.astype(str), str)
