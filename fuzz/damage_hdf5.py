"""Damage to the structure of HDF5 files: members, links, attributes, types, sparse matrices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from damage_text import Rng, hurt_json, pick

_TEXT = h5py.string_dtype()


def hurt_hdf5_file(rng: Rng, path: Path, outside: Path) -> str:
    """Change one to three things in an HDF5 file."""
    how = []
    for _ in range(int(pick(rng, (1, 1, 1, 2, 3)))):
        with h5py.File(path, "r+") as file:
            places = _places(file)
            if not places:
                break
            place = pick(rng, places)
            if rng.random() < 0.3:  # nearer to the root, where more depends on it
                place = pick(rng, [each for each in places if each.count("/") <= 1])
            ways = (_link, _replace, _change_attribute, _change_values, _remove)
            how.append(f"{place}: {pick(rng, ways)(rng, file, place, outside)}")
    return "; ".join(how)


def _places(file: Any) -> list[str]:
    """Return the paths of all members; links are members, and are not followed."""
    found: list[str] = []

    def visit(group: Any, stem: str) -> None:
        for name in group:
            found.append(f"{stem}{name}")
            hard = isinstance(group.get(name, getlink=True), h5py.HardLink)
            if hard and isinstance(group[name], h5py.Group) and len(found) < 300:
                visit(group[name], f"{stem}{name}/")

    visit(file, "")
    return found


def _is_hard(file: Any, place: str) -> bool:
    return isinstance(file.get(place, getlink=True), h5py.HardLink)


def _remove(_: Rng, file: Any, place: str, __: Path) -> str:
    del file[place]
    return "removed"


def _link(rng: Rng, file: Any, place: str, outside: Path) -> str:
    """Replace a member by a link: out of the file, to nothing, to itself or to another member."""
    del file[place]
    top, target = place.split("/")[0], outside / "target.h5ad"
    links = {
        "external link": h5py.ExternalLink(str(target), f"/{place}"),
        "external link to its top": h5py.ExternalLink(str(target), f"/{top}"),
        "external link to no file": h5py.ExternalLink(str(outside / "absent.h5ad"), "/obs"),
        "external link to a device": h5py.ExternalLink("/dev/zero", "/obs"),
        "external link to itself": h5py.ExternalLink(file.filename, f"/{place}"),
        "soft link to itself": h5py.SoftLink(f"/{place}"),
        "soft link to the root": h5py.SoftLink("/"),
        "soft link to nothing": h5py.SoftLink("/absent"),
        "soft link to obs": h5py.SoftLink("/obs"),
        "soft link to X": h5py.SoftLink("/X"),
    }
    name = pick(rng, list(links))
    file[place] = links[name]
    if rng.random() < 0.02:  # a hard link to the root: a loop that no check of links sees
        del file[place]
        file[place] = file
        return "hard link to the root"
    return name


def _replace(rng: Rng, file: Any, place: str, outside: Path) -> str:
    """Replace a member by a dataset or group that does not belong there."""
    old, keep = file.get(place, getlink=True), {}
    if isinstance(old, h5py.HardLink):
        keep = dict(file[place].attrs)
    del file[place]
    huge, target = (1 << 40, 4), str(outside / "target.bin")
    ways = {
        "number": lambda: file.create_dataset(place, data=5),
        "text": lambda: file.create_dataset(place, data="text", dtype=_TEXT),
        "vector": lambda: file.create_dataset(place, data=np.arange(40.0)),
        "short vector": lambda: file.create_dataset(place, data=np.arange(3)),
        "matrix": lambda: file.create_dataset(place, data=np.ones((40, 3))),
        "cube": lambda: file.create_dataset(place, data=np.ones((40, 3, 2))),
        "no rows": lambda: file.create_dataset(place, data=np.ones((0, 3))),
        "complex numbers": lambda: file.create_dataset(place, data=np.ones((40, 3), complex)),
        "records": lambda: file.create_dataset(place, data=np.ones(40, [("a", "f4"), ("b", "i4")])),
        "not a number": lambda: file.create_dataset(place, data=np.full((40, 4), np.nan)),
        "texts": lambda: file.create_dataset(place, data=["x"] * 40, dtype=_TEXT),
        "bytes": lambda: file.create_dataset(place, data=np.array([b"\xff\xfe"] * 40)),
        "void": lambda: file.create_dataset(place, data=np.zeros(40, "V16")),
        "empty": lambda: file.create_dataset(place, data=h5py.Empty("f4")),
        "huge": lambda: file.create_dataset(place, huge, "f4", chunks=(1024, 4)),
        "huge vector": lambda: file.create_dataset(place, (1 << 60,), "i1", chunks=(1024,)),
        "lists": lambda: file.create_dataset(place, (40,), h5py.vlen_dtype(np.int32)),
        "references": lambda: file.create_dataset(place, (40,), h5py.ref_dtype),
        "choices": lambda: file.create_dataset(place, (40,), h5py.enum_dtype({"a": 0, "b": 9})),
        "group": lambda: file.create_group(place),
        "type": lambda: file.__setitem__(place, np.dtype("f8")),
        "data in a file outside": lambda: file.create_dataset(
            place, (40, 4), "f4", external=[(target, 0, 640)]
        ),
        "virtual": lambda: file.create_virtual_dataset(place, _virtual(outside)),
    }
    name = pick(rng, list(ways))
    ways[name]()
    if rng.random() < 0.5:
        for key, value in keep.items():
            file[place].attrs[key] = value
    return f"replaced by {name}"


def _virtual(outside: Path) -> Any:
    layout = h5py.VirtualLayout((40, 4), "f4")
    layout[:] = h5py.VirtualSource(str(outside / "target.h5ad"), "X", (40, 4))
    return layout


def _change_attribute(rng: Rng, file: Any, place: str, _: Path) -> str:
    """Remove an attribute, or give it another value or type."""
    holder = file[place] if _is_hard(file, place) and rng.random() < 0.9 else file
    name = pick(rng, list(holder.attrs) or ["encoding-type"])
    values: tuple[Any, ...] = (
        "",
        "x",
        "dataframe",
        "csr_matrix",
        "csc_matrix",
        "categorical",
        "array",
        "string",
        "dict",
        "null",
        "raw",
        "string-array",
        "nullable-integer",
        "nullable-boolean",
        "rec-array",
        "awkward-array",
        "numeric-scalar",
        "anndata",
        "0.0.0",
        "99.0",
        "_index",
        "absent",
        5,
        -1,
        2.5,
        True,
        np.array([40, 4]),
        np.array([-1, 4]),
        np.array([1 << 40, 9]),
        np.array([40, 1 << 62]),
        np.array([3]),
        np.array([], int),
        np.array([40.0, 9.0]),
        np.array(["batch", "absent"], object),
        np.array(["batch", "batch"], object),
        np.array(["../obs", "/X"], object),
        h5py.Empty("S1"),
        np.ones((2, 2)),
        "é\ud800"[:1],
    )
    if rng.random() < 0.25:
        if name in holder.attrs:
            del holder.attrs[name]
        return f"attribute {name} removed"
    value = pick(rng, values)
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = np.array(value, _TEXT)
    holder.attrs[name] = value
    return f"attribute {name} changed"


def _change_values(rng: Rng, file: Any, place: str, _: Path) -> str:
    """Change values of a dataset: codes, indices and row starts out of range, text, JSON."""
    datasets = [
        each
        for each in _places(file)
        if _is_hard(file, each) and isinstance(file[each], h5py.Dataset)
    ]
    loved = [
        each
        for each in datasets
        if each.rsplit("/", 1)[-1] in ("codes", "indices", "indptr", "data", "mask", "record")
    ]
    place = pick(rng, loved if loved and rng.random() < 0.6 else datasets or [place])
    dataset = file.get(place)
    if not isinstance(dataset, h5py.Dataset) or dataset.shape is None or dataset.size > 10**6:
        return "left"
    values = dataset[()]
    if h5py.check_string_dtype(dataset.dtype) is not None and np.ndim(values) == 0:
        text = values.decode("utf-8", "replace") if isinstance(values, bytes) else str(values)
        try:
            how, text = hurt_json(rng, text)
            dataset[()] = text.replace("\0", "")
        except (json.JSONDecodeError, UnicodeEncodeError):
            return "left"
        return f"{place}: {how}"
    if np.ndim(values) == 0 or not np.size(values):
        return "left"
    if dataset.dtype.kind in "iufb":
        odd = {
            "i": (-1, -2, 127, 10**4, 2**31 - 1),
            "u": (200, 255),
            "b": (True, False),
            "f": (np.nan, np.inf, 1e300, -0.0),
        }
        flat = np.array(values).reshape(-1)
        at = rng.integers(flat.size, size=int(pick(rng, (1, 1, 5, flat.size))))
        with np.errstate(all="ignore"):
            flat[at] = np.array(pick(rng, odd[dataset.dtype.kind])).astype(dataset.dtype)
        if rng.random() < 0.2:
            flat = flat[::-1].copy()
        dataset[...] = flat.reshape(values.shape)
    else:
        dataset[0] = pick(rng, (b"", b"\xff\xff", b"x" * 10_000, "é".encode()))
    return f"{place}: values changed"
