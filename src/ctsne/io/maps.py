"""Maps as files: positions, diagnostics and the columns of the data, with a settings record."""

import contextlib
import hashlib
import io
import json
import os
import re
import warnings
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core import files
from ctsne._core.checks import is_sparse
from ctsne._core.files import check_space, reading, replaced_file
from ctsne._core.messages import label_text, load, shown, unknown
from ctsne.io import anndata as ad
from ctsne.io import paths, tables
from ctsne.io.dataset import Dataset, Names, first_difference, storable
from ctsne.io.hdf5 import opened, read_element

# Roughly, for the space that a map needs: bytes per value, values that are added to a row, and
# bytes of the settings.
_BYTES, _ADDED, _SETTINGS = 8, 8, 10_000
# Where parquet files keep the settings record of a map.
_METADATA_KEY = b"ctsne"
_COLORS_KEY = b"ctsne_colors"  # JSON: of labels by column
_MEGABYTE = 2**20
_PER_NAME = 100  # bytes that a name takes in an HDF5 file, at most, besides its text
_MADE = "made by"  # marks an .h5ad; not kept by other programs that write its content anew
# What files without a settings record hold if ctsne wrote them: pages, pictures and measures.
_MARKS = {
    paths.MODEL_SUFFIX: b'{"format": "ctsne model"',
    ".html": b'<meta name="generator" content="ctsne">',
    ".png": b"Software\0ctsne",
    ".pdf": b"/Creator (ctsne)",
    ".svg": b"<dc:title>ctsne</dc:title>",
    **dict.fromkeys((".csv", ".tsv"), b"measure,label,k,"),
}
_MOST_SEARCHED = 2**26
_BLOCK = 10**6  # values of a table that are text at a time, so that writing it needs little memory


@dataclass(frozen=True, eq=False)
class MapFile:
    """A map read from a file."""

    embedding: NDArray[np.float32]
    columns: dict[str, Any]  # diagnostics, and the columns of the data
    names: Names
    settings: str | None  # the record of how it was made; None for a table that lost its sidecar


def write_map(
    path: str | os.PathLike[str],
    embedding: ArrayLike,
    *,
    dataset: Dataset,
    diagnostics: Mapping[str, Any],
    settings: str,
    key: str = "ctsne",
    colors: Mapping[str, Mapping[Any, str]] | None = None,
) -> None:
    """Write a map, whole or not at all; equal maps give equal bytes.

    An .h5ad made from an .h5ad is a copy of it with the map added, and may replace it. A map in
    .csv or .tsv has its settings record, a JSON text, in ``PATH.json``. Names of positions
    and diagnostics begin with ``key``; an .h5ad holds the map in ``obsm["X_" + key]`` and the rest
    in ``uns[key]``. The ``colors`` of labels by column are stored there as scanpy does.
    """
    target = paths.check_output(path)
    check_key(target, dataset=dataset, key=key)
    suffix = paths.suffix_of(target)
    key = ad.map_name(key) if suffix == ".h5ad" else key
    n = dataset.X.shape[0]
    positions = np.ascontiguousarray(embedding, np.float32)
    if positions.ndim != 2 or len(positions) != n:
        wanted = f"a row for each of the {n} points"
        raise ValueError(f"embedding must have {wanted}, got shape {positions.shape}")
    added = {f"{key}_{name}": np.asarray(values) for name, values in diagnostics.items()}
    for name, values in added.items():
        if values.shape != (n,):
            wanted = f"one value for each of the {n} points"
            raise ValueError(f"the diagnostic {name} must have {wanted}, got shape {values.shape}")
    # Columns of an earlier map of this key are replaced; this one may have fewer.
    kept = {name: x for name, x in dataset.columns.items() if not tables.is_of_map(name, key)}
    if suffix == ".h5ad":
        dataset = replace(dataset, columns=kept)
        _write_h5ad(target, positions, dataset, added, settings, key, colors or {})
    else:
        axes = {f"{key}_{axis}": column for axis, column in enumerate(positions.T, start=1)}
        columns = axes | added | kept
        called = None if dataset.called in columns else dataset.called
        write_columns(target, columns, names=dataset.names, called=called, settings=settings)


def check_room(target: Path, *, dataset: Dataset) -> None:
    """Refuse a target that cannot hold the map or whose disk is too full, before any work."""
    n = dataset.X.shape[0]
    if paths.suffix_of(target) != ".parquet":
        texts = {name: column for name, column in dataset.columns.items() if _has_nul(column)}
        if texts or (dataset.names is not None and _has_nul(dataset.names)):
            what = f"column {next(iter(texts), dataset.called or 'of row names')!r:.60}"
            why = f"{what} contains NUL characters, which such a file cannot hold"
            raise ValueError(f"cannot write {target}: {why}; write a .parquet file")
    size = n * _BYTES * _ADDED + _SETTINGS
    if paths.suffix_of(target) == ".h5ad":
        check_space(target, _data_size(dataset) + _size_of_map(dataset, size))
    else:
        check_space(target, size + n * _BYTES * len(dataset.columns))


def _has_nul(column: Any) -> bool:
    values = np.asarray(column, object).tolist()  # pandas takes texts that NUL follows for equal
    return any("\0" in text for text in {value for value in values if isinstance(value, str)})


def write_columns(
    target: Path,
    columns: Mapping[str, Any],
    *,
    names: Any = None,
    called: str | None = None,
    settings: str | None = None,
) -> None:
    """Write columns and row names to a table; parquet keeps their types."""
    pandas = load("pandas")
    frame = pandas.DataFrame({name: storable(column) for name, column in columns.items()})
    index = names is not None
    if index:
        frame.index = pandas.Index(names, dtype=object, name=called)
    suffix = paths.suffix_of(target)
    if suffix in paths.TEXT_SUFFIXES:
        pair = replaced_file(target) if settings is None else _with_settings(target, settings)
        with pair as temporary:
            _write_text(temporary, frame, target, index=index)
        return
    table = load("pyarrow").Table.from_pandas(frame, preserve_index=index)
    added = {} if settings is None else {_METADATA_KEY: settings.encode()}
    colors = {
        name: column.attrs[ad.STORED_COLORS]
        for name, column in columns.items()
        if ad.STORED_COLORS in getattr(column, "attrs", ())
    }
    added |= {_COLORS_KEY: json.dumps(colors).encode()} if colors else {}
    if added:
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), **added})
    content = io.BytesIO()
    load("pyarrow.parquet").write_table(table, content)
    files.write_file(target, content.getbuffer())


@contextlib.contextmanager
def _with_settings(target: Path, settings: str) -> Iterator[Path]:
    """Give a new file that replaces a map at the end, together with its settings."""
    with files.replaced_files(target, paths.new_sidecar_of(target)) as (temporary, sidecar):
        yield temporary
        sidecar.write_text(f"{json.dumps(json.loads(settings), indent=1)}\n", "ascii")


def _write_text(file: Path, frame: Any, target: Path, *, index: bool) -> None:
    sep, end = tables.separator_of(target), _line_end(frame)
    options = {"sep": sep, "index": index, "lineterminator": end}
    rows = max(1, _BLOCK // frame.shape[1])
    packer = zlib.compressobj(9, wbits=31) if paths.suffix_of(target).endswith(".gz") else None
    with file.open("wb") as out:
        for start in range(0, len(frame), rows):
            text = frame[start : start + rows].to_csv(header=start == 0, **options)
            block = text.encode("utf-8", "surrogatepass")
            out.write(block if packer is None else packer.compress(block))
        if packer is not None:
            out.write(packer.flush())


def _line_end(frame: Any) -> str:
    """Return the end of every line: a carriage return is not quoted unless it is part of it."""
    texts = [frame.columns, frame.index.names, frame.index]
    texts += [column for _, column in frame.items() if column.dtype.kind == "O"]
    return "\r\n" if any("\r" in str(text) for part in texts for text in part) else "\n"


def read_map(path: str | os.PathLike[str], *, key: str = "ctsne") -> MapFile:
    """Read a map that `write_map` wrote; raise ValueError for other files."""
    source = paths.check_input(path, paths.MAP_SUFFIXES)
    with reading(source, "a map written by ctsne"):
        read = _read_h5ad if paths.suffix_of(source) == ".h5ad" else _read_table
        positions, columns, names = read(source, key)
        if positions.ndim != 2 or not np.isfinite(positions).all():
            what = f"positions of shape {positions.shape}, or infinite or missing ones"
            raise ValueError(f"{source} is damaged: it holds {what}")
        return MapFile(positions, columns, names, read_settings(source, key))


def is_output(path: Path) -> bool:
    """Tell whether ctsne made a file: it holds a settings record, a mark or a table of ours."""
    suffix = paths.suffix_of(path)
    try:
        if suffix == ".h5ad":
            with opened(path) as file:
                return _MADE in file.attrs
        recorded = suffix in paths.MAP_SUFFIXES and read_settings(path, "ctsne") is not None
        if recorded and (suffix == ".parquet" or tables.has_map(path)):
            return True
        with path.open("rb") as file:
            content = file.read(_MOST_SEARCHED)
    except (OSError, ValueError, TypeError):
        return False
    return suffix in _MARKS and _MARKS[suffix] in content.replace(b"\t", b",")


def read_settings(source: Path, key: str) -> str | None:
    """Return the settings record of a map or a sweep folder as text; None if it has none."""
    suffix = "" if source.is_dir() else paths.suffix_of(source)
    if suffix == ".h5ad":
        with opened(source) as file:
            name = ad.find_entry(file.get("uns", {}), key)
            return None if name is None else str(read_element(file["uns"][name][ad.RECORD]))
    if suffix == ".parquet":
        with reading(source, "a valid parquet file"):
            stored = (tables.read_schema(source).metadata or {}).get(_METADATA_KEY)
            return None if stored is None else stored.decode("utf-8")
    file = source / files.SETTINGS if source.is_dir() else paths.sidecar_of(source)
    return files.read_text(file, "a settings record") if file.exists() else None


def _read_table(source: Path, key: str) -> tuple[NDArray[np.float32], dict[str, Any], Names]:
    first = f"{key}_1"
    frame = tables.read_frame(source, own=first)
    is_text = paths.suffix_of(source) in paths.TEXT_SUFFIXES
    if is_text and first in frame.columns[1:2]:  # row names before it
        frame = frame.set_index(frame.columns[0])
    axes = [name for name in frame.columns if re.fullmatch(rf"{re.escape(key)}_\d+", name)]
    if not axes:
        raise ValueError(f"{source} is not a map written by ctsne: it has no column {first}")
    positions = np.ascontiguousarray(frame[axes].to_numpy(np.float32))
    columns = _table_columns(frame.drop(columns=axes), source)
    return positions, columns, tables.row_names(frame)[0]


def _table_columns(frame: Any, source: Path) -> dict[str, Any]:
    columns = tables.table_columns(frame, source)
    if paths.suffix_of(source) == ".parquet":
        stored = json.loads((tables.read_schema(source).metadata or {}).get(_COLORS_KEY, b"{}"))
        for name, column in columns.items():
            if isinstance(stored, dict) and hasattr(column, "attrs"):
                ad.give_colors(column, stored.get(name))
    return columns


def read_columns(path: Path) -> tuple[dict[str, Any], Names]:
    """Read the columns that `write_columns` wrote, and the row names."""
    with reading(path, "a valid table of columns"):
        frame = tables.read_frame(path)
        return _table_columns(frame, path), tables.row_names(frame)[0]


def check_key(target: Path, *, dataset: Dataset, key: str) -> None:
    """Refuse a key under which a map cannot be written, before any work is done."""
    if not isinstance(key, str) or not ad.map_name(key).strip(".") or "/" in key:
        raise ValueError(f"key must be a name without slashes, got {shown(key)}")
    if paths.suffix_of(target) != ".h5ad" or paths.suffix_of(dataset.path) != ".h5ad":
        return
    with opened(dataset.path) as file:
        _refuse_links(file, dataset.path, key)
        if ad.find_entry(file.get("uns", {}), key) is not None:
            return
        fields = ad.map_fields(key)
        places = [(part, name) for part in ("obsm", "obs") for name in fields[part]]
        places.append(("uns", ad.map_name(key)))
        taken = [f'{part}["{name}"]' for part, name in places if name in file.get(part, ())]
    if taken:
        what = f"{dataset.path} already has {' and '.join(taken[:3])}, not written by ctsne"
        raise ValueError(f"{what}; choose another name with --key, such as {key}_map")


def _refuse_links(file: Any, path: Path, key: str) -> None:
    """Refuse links where a map is written; links to other files are not even opened."""
    hard = load("h5py").HardLink
    for group, names in ad.map_fields(key).items():
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


def _write_h5ad(
    target: Path,
    positions: NDArray[np.float32],
    dataset: Dataset,
    diagnostics: Mapping[str, NDArray[Any]],
    settings: str,
    key: str,
    colors: Mapping[str, Mapping[Any, str]],
) -> None:
    """Write a map into a copy of the .h5ad that it was made from, or into a new file."""
    # Another process that writes to the same file waits, and then finds that it has changed.
    copied = paths.suffix_of(dataset.path) == ".h5ad"
    with files.locked_folder(target.parent), replaced_file(target) as temporary:
        if copied:
            before = _state(dataset.path)
            _copy(dataset, temporary)
        else:
            _write_data(temporary, dataset)
        size = sum(values.nbytes for values in (positions, *diagnostics.values()))
        _reserve(temporary, _size_of_map(dataset, size + len(settings)))
        with _written(temporary, target) as file:
            _refuse_links(file, dataset.path, key)
            for group in ("obsm", "uns"):
                if group not in file:
                    _write(file, group, {})
            _write_columns(file, dataset.columns, diagnostics, key)
            _write_colors(file, colors)
            ad.remove_graph(file["uns"], file.get("obsp", {}), key)
            earlier = ad.find_entry(file["uns"], key)
            if earlier is not None:
                del file["uns"][earlier]
            _write(file["obsm"], ad.map_fields(key)["obsm"][0], positions)
            _write(file["uns"], ad.map_name(key), ad.uns_entry(settings))
            if not (target.exists() and target.samefile(dataset.path)):
                file.attrs[_MADE] = "ctsne"
        if copied and _state(dataset.path) != before:  # by a program that does not wait
            raise _changed(dataset.path)


def _copy(dataset: Dataset, temporary: Path) -> None:
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
    """Take space on the disk for what HDF5 will append: it crashes on a full disk."""
    # What it does not use, it gives back.
    with path.open("ab") as file:
        for start in range(0, size, _MEGABYTE):
            file.write(bytes(min(_MEGABYTE, size - start)))


def _size_of_map(dataset: Dataset, added: int) -> int:
    """Return the bytes that a map, and the columns that its file does not have yet, may take."""
    present: set[str] = set()
    if paths.suffix_of(dataset.path) == ".h5ad":
        with opened(dataset.path) as file:
            present.update(map(str, file["obs"].attrs.get("column-order", ())))
    new = [storable(column) for name, column in dataset.columns.items() if name not in present]
    sizes = [int(column.memory_usage(index=False, deep=True)) for column in new]
    return 2 * (added + sum(sizes) + _PER_NAME * sum(map(len, new))) + _MEGABYTE


def _data_size(dataset: Dataset) -> int:
    """Return the bytes of the data in an .h5ad file, as they are or as they will be."""
    if paths.suffix_of(dataset.path) == ".h5ad":
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


def _write_columns(
    file: Any, columns: Mapping[str, Any], diagnostics: Mapping[str, Any], key: str
) -> None:
    """Add the columns that obs does not have; diagnostics replace those of an earlier map."""
    obs = file["obs"]
    order = [str(name) for name in obs.attrs.get("column-order", ())]
    new = {name: column for name, column in columns.items() if name not in order}
    for name in ad.map_fields(key)["obs"]:
        if name in order:
            order.remove(name)
            del obs[name]
    for name, column in {**new, **diagnostics}.items():
        place = name.replace("/", "_")
        place = f"column {place}" if place in ("", ".", "..") else place
        while place in obs:  # the names of the cells are a member of obs too
            known = None if place in new else columns.get(place)
            if known is not None and first_difference(known, column) is None:
                break  # written by an earlier run with the same label file
            place += "_2"
        else:
            _write(obs, place, _element(column))
            order.append(place)
    obs.attrs["column-order"] = np.array(order, dtype=load("h5py").string_dtype())


def _write_colors(file: Any, colors: Mapping[str, Mapping[Any, str]]) -> None:
    """Store the colours of columns with categories that have none yet."""
    for name, color_of in colors.items():
        place = f"{name}_colors"
        if "/" in place or place in file["uns"] or "categories" not in file["obs"].get(name, ()):
            continue
        by_text = {label_text(label): color for label, color in color_of.items()}
        texts = [label_text(label) for label in read_element(file["obs"][name]["categories"])]
        if by_text.keys() >= set(texts):
            _write(file["uns"], place, np.array([by_text[text] for text in texts], object))


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


def _write_data(temporary: Path, dataset: Dataset) -> None:
    pandas = load("pandas")
    names = map(str, range(dataset.X.shape[0])) if dataset.names is None else dataset.names.tolist()
    indices = [pandas.Index(texts, dtype=object) for texts in (names, dataset.features)]
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


def _read_h5ad(source: Path, key: str) -> tuple[NDArray[np.float32], dict[str, Any], Names]:
    with opened(source) as file:
        known = sorted(file["obsm"]) if "obsm" in file else []
        name = ad.find_map(known, key)
        if name is None:
            text = unknown(key, known, what="map", where=f"obsm of {source}")
            raise ValueError(f"{text} (name it with --key)" if known else text)
        positions = np.asarray(read_element(file[f"obsm/{name}"]), np.float32)
        obs = read_element(file["obs"])
        return positions, ad.obs_columns(obs, file.get("uns")), np.array(obs.index.astype(str), str)
