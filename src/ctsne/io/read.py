"""Reading data of any format, labels from a second file, and single features to look at."""

import contextlib
import fnmatch
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.arrays import PickledError, read_array, read_npz
from ctsne._core.files import file_checksum, reading, require_room
from ctsne._core.messages import quoted, unknown
from ctsne.evaluate.places import Block, most_informative, row_blocks, variance_by_place
from ctsne.io import dataset as ds
from ctsne.io.anndata import find_h5ad_data
from ctsne.io.dataset import Dataset, Source, Texts
from ctsne.io.hdf5 import StoredMatrix, dense_columns, opened, read_element
from ctsne.io.paths import TABLE_SUFFIXES, check_input, suffix_of
from ctsne.io.selections import POINT, SELECTION, is_selection, selection_of
from ctsne.io.tables import like_missing, read_frame, read_table, row_names, table_columns

LABEL_SUFFIXES = (*TABLE_SUFFIXES, ".npy")
_ROW_NAMES = "the row names"
MOST_FEATURES = 200
# Stored values that are read together.
_TOGETHER = 2**22
_Values = NDArray[np.float32]
# NumPy files: a matrix (.npy), or a matrix with its columns (.npz); never a pickle.
_VALID = "a valid NumPy file"
_SPARSE = {"format", "shape", "data"}  # the entries of every sparse matrix that SciPy saved
# The entries with the indices of its values, by format.
_INDICES = {
    **dict.fromkeys(("csr", "csc", "bsr"), ("indices", "indptr")),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}
_NO_PICKLES = "holds Python objects (a pickle), which are not read because they can run any code"
_REMEDY = "save text with .astype(str), numbers with .astype(float)"


def read_matrix(path: Path, labels: Texts, elsewhere: Texts) -> Dataset:
    """Read the matrix of a .npy or .npz file, and the columns stored with it."""
    arrays: dict[str, Any] = {}
    pickled: list[str] = []
    if path.suffix.lower() == ".npy":
        arrays["X"] = read_npy(path)
    else:
        with reading(path, _VALID):
            arrays, pickled = read_npz(path)
            if arrays.keys() >= _SPARSE:
                arrays, pickled = {"X": _sparse_matrix(arrays, path)}, []
    for name in pickled:
        if not arrays or name == "X" or name in {*labels} - {*elsewhere}:
            raise ValueError(f"{name!r:.60} in {path} {_NO_PICKLES}; {_REMEDY}")
    key = _matrix_key(arrays, path)
    X = arrays.pop(key)
    if len(X.shape) != 2:
        raise ValueError(f"{path} must hold a matrix with a row per point, got shape {X.shape}")
    n, d = X.shape
    require_room(ds.room_for(n, d), path)
    features, names = (
        array
        if array is not None and array.shape == (length,) and array.dtype.kind == "U"
        else None
        for array, length in ((arrays.pop("features", None), d), (arrays.get("names"), n))
    )
    columns = {
        name: label_array(array)
        for name, array in arrays.items()
        if array.shape in ((n,), (n, 1)) and array.dtype.kind in "biufSUmM"
        if name != "names" or names is None
    }
    ds.check_labels(labels, [*columns], elsewhere, where=str(path))
    known = ds.numbered(key, d) if features is None else tuple(features.tolist())
    notes = (f"skipped Python objects: {quoted(pickled)} ({_REMEDY})",) if pickled else ()
    return Dataset(X, known, columns, names, Source("array", key, d), notes, path)


def read_npy(path: Path) -> NDArray[Any]:
    """Return the array of a .npy file."""
    with reading(path, _VALID), path.open("rb") as file:
        size = path.stat().st_size
        require_room(size, path)
        try:
            return read_array(file, size)
        except PickledError:
            raise ValueError(f"{path} {_NO_PICKLES}; {_REMEDY}") from None


def _sparse_matrix(arrays: Mapping[str, Any], path: Path) -> Any:
    import scipy.sparse as sp

    kind = arrays["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    for name in ("shape", *_INDICES[kind]):
        if arrays[name].ndim != 1 or arrays[name].dtype.kind not in "iu":
            found = f"{arrays[name].dtype} of shape {arrays[name].shape}"
            raise ValueError(f"{name} must be a list of whole numbers, got {found}")
    n, d = arrays["shape"].tolist()
    require_room(ds.room_for(n, d), path)
    data, first, *more = (arrays[name] for name in ("data", *_INDICES[kind]))
    parts = (data, (first, *more)) if kind == "coo" else (data, first, *more)
    wrapper = getattr(sp, f"{kind}_{'array' if '_is_array' in arrays else 'matrix'}")
    return ds.checked_sparse(wrapper(parts, shape=(n, d)), path)


def _matrix_key(arrays: dict[str, Any], path: Path) -> str:
    if "X" in arrays:
        return "X"
    flat = [name for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "iuf"]
    wide = [name for name in flat if arrays[name].shape[1] > 1] or flat
    if len(wide) != 1:
        found = quoted(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"{path} must hold a matrix named X, or one matrix only; it holds {found}")
    return wide[0]


def label_array(array: NDArray[Any]) -> NDArray[Any]:
    """Return a stored array as a column; empty text is missing."""
    array = array.reshape(-1)
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind == "U" and "" in array:
        array = array.astype(object)
        array[array == ""] = None
    return array


def read_data(
    path: str | os.PathLike[str],
    *,
    labels: Texts = (),
    numbers: Texts = (),
    label_file: str | os.PathLike[str] | None = None,
    use_rep: str | None = None,
    layer: str | None = None,
    features: Texts | None = None,
    index: str | None = None,
    fewest: int = 2,
) -> Dataset:
    """Read data from a file; its suffix says which format it has.

    In a table, numeric columns that are not ``labels`` are the features, and ``index`` is the
    column with the row names. An .npz holds the matrix as ``X``, with an array for each column.
    ``numbers`` are those of ``labels`` that are numbers; other labels in text files are text unless
    their values are written as Python writes numbers, so that ``001`` and ``1`` are different.
    Rows of ``label_file`` are matched by name where both files have names, else by their order.
    Data with fewer than ``fewest`` rows are refused: a map needs two, placing points in it one.
    """
    source = check_input(path)
    suffix = suffix_of(source)
    if layer is not None and use_rep is not None:
        raise ValueError(f"give --use-rep or --layer, not both: {use_rep!r:.60}, {layer!r:.60}")
    if suffix != ".h5ad" and (use_rep is not None or layer is not None):
        raise ValueError(f"--use-rep and --layer are for .h5ad files; {source} is not one")
    if suffix not in TABLE_SUFFIXES and index is not None:
        own = "obs_names" if suffix == ".h5ad" else "the array 'names', if there is one"
        raise ValueError(f"--index is for tables; the row names of {source} are {own}")
    # Before reading: a file replaced meanwhile must not pass for the one that was read.
    sha256 = file_checksum(source)
    read = (labels, numbers, index)
    extra = None if label_file is None else _read_label_file(label_file, *read)
    elsewhere = () if extra is None else tuple(extra.columns)
    with reading(source, "valid data"):
        if suffix in TABLE_SUFFIXES:
            data = read_table(source, labels, elsewhere, features, index, numbers)
        elif suffix == ".h5ad":
            chosen: dict[str, Any] = {"use_rep": use_rep, "layer": layer}
            with opened(source) as file:
                data = find_h5ad_data(file, source, labels, elsewhere, **chosen).select(features)
        else:
            data = read_matrix(source, labels, elsewhere).select(features)
        data = replace(ds.check_numbers(data, fewest=fewest), sha256=sha256)
    return data if extra is None else _joined(data, extra)


def _read_label_file(
    path: str | os.PathLike[str], labels: Texts, numbers: Texts, index: str | None
) -> Dataset:
    """Read the columns of a table; an .npy is the column of the only label."""
    source = check_input(path, LABEL_SUFFIXES)
    sha256 = file_checksum(source)
    with reading(source, "a valid file of labels"):
        if suffix_of(source) == ".npy":
            array = read_npy(source)
            if (array.ndim != 1 and array.shape[1:] != (1,)) or array.dtype.kind not in "biufSUmM":
                got = f"{array.dtype} of shape {array.shape}"
                raise ValueError(f"{source} must hold one label per point, got {got}")
            name = labels[0] if len(labels) == 1 else source.stem
            columns, names, n = {name: label_array(array)}, None, len(array)
        else:
            frame = read_frame(source, as_text=(index or POINT, POINT, SELECTION))
            columns = table_columns(frame, source, labels, numbers)
            names, n = row_names(frame)[0], len(frame)
    if not columns:
        raise ValueError(f"{source} holds no column of labels")
    return Dataset(np.empty((n, 0)), (), columns, names, path=source, sha256=sha256)


def _joined(data: Dataset, extra: Dataset) -> Dataset:
    if is_selection(extra.columns):
        found = selection_of(extra.columns, data.names, data.X.shape[0], extra.path, data.path)
        notes = (*data.notes, f"points in selections of {extra.path}: {extra.X.shape[0]:,}")
        data = replace(data, columns=data.columns | {SELECTION: found}, notes=notes)
        return replace(data, label_path=extra.path, label_sha256=extra.sha256)
    rows, key, how = _matching_rows(data, extra)
    # Columns that both files have stay as the data have them, with the order of their categories.
    new: dict[str, Any] = {}
    for name, column in extra.columns.items():
        taken = ds.take_rows(column, rows)
        if name not in data.columns and name not in data.features:
            new |= {} if name == key else {name: taken}
            continue
        known = data.column(name)
        row = ds.first_difference(known, taken)
        if row is not None:
            one, other = (np.asarray(values, object)[row] for values in (known, taken))
            files = f"{data.path} and {extra.path} both have a column {name!r:.60}"
            where = f"point {row + 1}: {one!r:.40} and {other!r:.40}"
            remedy = f"rename or remove one of them; if it names the points, use --index {name}"
            raise ValueError(f"{files}, and they differ ({where}); {remedy}")
    notes = (*data.notes, f"labels of {extra.path} joined by {how}", *like_missing(new))
    data = replace(data, columns=data.columns | new, notes=notes)
    return replace(data, label_path=extra.path, label_sha256=extra.sha256)


def _matching_rows(data: Dataset, extra: Dataset) -> tuple[NDArray[np.intp], str, str]:
    """Return the row of the label file for each point, its column used, and how in words."""
    n, length = data.X.shape[0], extra.X.shape[0]
    for here, wanted in _names(data, "OU").items():
        alone = len({*wanted} - {None}) == n
        for there, found in _names(extra, "iuOU").items():
            row_of = {name: row for row, name in enumerate(found) if name is not None}
            once = len(row_of) == length - found.count(None)
            absent = [name for name in wanted if name not in row_of]
            same = here == there == _ROW_NAMES or 2 * len(absent) < n
            if not same or not (alone or (once and here == there)):
                continue
            one, two = (f"{'' if x == _ROW_NAMES else 'column '}{x:.60}" for x in (here, there))
            what = f"{two} of {extra.path}"
            if absent:
                rows = f"{len(absent)} of the {n} rows of {data.path}"
                raise ValueError(f"{rows} have no match in {what}: {quoted(absent, most=3)}")
            if not once:
                twice = next(name for name, row in row_of.items() if found.index(name) != row)
                raise ValueError(f"{what} must be unique to join by, but repeats {twice!r:.60}")
            how = one if here == there else f"{one} of {data.path} and {what}"
            return np.array([row_of[str(name)] for name in wanted], np.intp), there, how
    if length != n:
        header = "; its first line is read as column names" if length == n - 1 else ""
        how = "to join by name, it needs a column with the row names of the data (--index COLUMN)"
        raise ValueError(f"{extra.path} has {length} rows but {data.path} has {n}{header}; {how}")
    return np.arange(n), "", "order, which must be the same in both files"


def _names(data: Dataset, kinds: str) -> dict[str, list[str | None]]:
    """Return what may name the rows: row names that do not only count, and columns by name."""
    columns = {name: column for name, column in data.columns.items() if column.dtype.kind in kinds}
    keys = {name: ds.label_texts(column).tolist() for name, column in columns.items()}
    names = [] if data.names is None else data.names.tolist()
    if not any(names == [str(row) for row in range(k, k + len(names))] for k in (0, 1)):
        return {_ROW_NAMES: names, **keys}
    return keys


@dataclass(frozen=True)
class _Source:
    """Features with the same origin, and the matrix that holds them, read when it is needed."""

    words: str
    names: tuple[str, ...]
    matrix: Callable[[], Any]

    def read(self, places: list[int]) -> _Values:
        """Return one column for each place."""
        matrix = self.matrix()
        return (
            matrix.columns(places) if hasattr(matrix, "columns") else dense_columns(matrix, places)
        )

    def blocks(self) -> Iterator[Block]:
        """Yield the matrix in parts."""
        matrix = self.matrix()
        if not getattr(matrix, "by_column", False):
            yield from row_blocks(matrix)
            return
        d = matrix.shape[1]
        step = max(1, _TOGETHER * d // max(1, matrix.nnz))
        for start in range(0, d, step):
            stop = min(d, start + step)
            yield slice(None), slice(start, stop), matrix.column_part(start, stop)


@contextlib.contextmanager
def _sources(dataset: Dataset, layer: str | None) -> Iterator[list[_Source]]:
    """Open where features are looked for: genes of an .h5ad first, then what the map is made of."""
    own = _Source(str(dataset.source), dataset.features, lambda: dataset.X)
    if suffix_of(dataset.path) != ".h5ad":
        yield [own]
        return
    with opened(dataset.path) as file, reading(dataset.path, "a valid .h5ad file"):
        # Genes are those of ``layer``, or of ``X``; those that it lacks are taken from ``raw``.
        main = "X" if layer is None else f"layers/{layer}"
        n = dataset.X.shape[0]
        yield [*_genes(file, main, "var", n), *_genes(file, "raw/X", "raw/var", n), own]


def read_features(
    dataset: Dataset, patterns: Texts | None, *, layer: str | None = None
) -> tuple[dict[str, _Values], list[str]]:
    """Return the features that match names or patterns, and where they were taken from."""
    # Names of other columns are skipped, because every page shows those.
    wanted = [pattern for pattern in patterns or () if pattern not in dataset.columns]
    if not wanted:
        return {}, []
    with _sources(dataset, layer) as sources:
        return _chosen(dataset, wanted, sources)


def read_informative(
    dataset: Dataset,
    embedding: NDArray[Any],
    *,
    most: int,
    rows: NDArray[np.intp] | None = None,
    layer: str | None = None,
    known: Collection[str] = (),
) -> tuple[dict[str, _Values], str]:
    """Return the features that the place in a map explains best, and where they are from.

    The map may be of some ``rows`` only. The matrix is read twice, in parts: to score all features,
    and for the values of the best. Features that are ``known`` already are left out.
    """
    with _sources(dataset, layer) as (source, *_):
        names = source.names
        scores = variance_by_place(embedding, source.blocks(), len(names), rows)
        scores[[place for place, name in enumerate(names) if name in known]] = -np.inf
        places = most_informative(scores, most).tolist()
        if not places:
            return {}, f"none of the features of {source.words}, which are constant,"
        values = source.read(places)[slice(None) if rows is None else rows]
    how = f"{len(places)} of {len(names):,} features from {source.words}"
    return {names[place]: values[:, at] for at, place in enumerate(places)}, how


def _chosen(
    dataset: Dataset, patterns: Texts, sources: Sequence[_Source]
) -> tuple[dict[str, _Values], list[str]]:
    chosen: dict[str, int] = {}  # the source of each name, in the order of the command
    for pattern in patterns:
        for number, source in enumerate(sources):
            exact = pattern in source.names
            found = [pattern] if exact else fnmatch.filter(source.names, pattern)
            if found:
                chosen |= {name: number for name in found if name not in chosen}
                break
        else:
            known = list(dict.fromkeys(name for source in sources for name in source.names))
            # Few names are searched for a close one: first those that begin alike.
            known.sort(key=lambda name: name[:2].casefold() != pattern[:2].casefold())
            message = unknown(pattern, known, what="feature", where=str(dataset.path))
            raise ValueError(f"--show: {message}")
    if len(chosen) > MOST_FEATURES:
        what = f"--show matches {len(chosen)} features of {dataset.path}"
        raise ValueError(f"{what}; a page shows at most {MOST_FEATURES}")
    values: dict[str, _Values] = {}
    words = []
    for number, source in enumerate(sources):
        names = [name for name in chosen if chosen[name] == number]
        for name in names:
            if (count := source.names.count(name)) > 1:
                what = f"--show: {count} features of {dataset.path} are called {name!r:.60}"
                raise ValueError(f"{what}; make names unique, in Python: var_names_make_unique")
        if names:
            places = [source.names.index(name) for name in names]
            values |= dict(zip(names, source.read(places).T, strict=True))
            words.append(f"{quoted(names)} from {source.words}")
    return {name: values[name] for name in chosen}, words


def _genes(file: Any, matrix: str, var: str, n: int) -> list[_Source]:
    """Return the genes of a matrix in an .h5ad; none if it is missing or empty."""
    if matrix not in file or var not in file or getattr(file[matrix], "shape", ()) is None:
        return []
    names = tuple(map(str, read_element(file[var]).index))

    def read() -> StoredMatrix:
        stored = StoredMatrix(file[matrix])
        if stored.shape != (n, len(names)):
            shapes = f"{stored.shape}, but obs and var have {(n, len(names))}"
            raise ValueError(f"{file[matrix].name} has the shape {shapes}")
        return stored

    return [_Source(matrix.replace("/", "."), names, read)]
