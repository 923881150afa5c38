"""Shards read in blocks of rows, so that memory does not depend on their size."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import is_sparse
from ctsne._core.checksums import content_checksum
from ctsne._core.guards import reading, require_room
from ctsne._core.messages import listed, unknown
from ctsne.io.anndata import DEFAULT, obs_columns
from ctsne.io.arrays import read_arrays, read_matrix
from ctsne.io.dataset import Dataset, take_rows
from ctsne.io.hdf5 import opened, read_element
from ctsne.io.paths import check_input, load, suffix_of

# Rows that are placed at a time: enough to keep the search busy, 50 MB for 100 columns.
BLOCK_ROWS = 2**16
FILE_SUFFIXES = (".parquet", ".feather", ".h5ad", ".zarr", ".npy", ".npz")
TABLES = (".parquet", ".feather")


@dataclass(frozen=True)
class Choice:
    """What to read of every shard."""

    # Columns by name; None takes a whole matrix. Empty if only labels are needed.
    features: tuple[str, ...] | None = None
    columns: tuple[str, ...] = ()  # labels
    others: bool = False  # whether all other columns are read too
    use_rep: str | None = None  # of .h5ad files
    genes: str | None = None  # checksum of the names of their columns


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a shard."""

    X: Any  # a matrix, or a data frame of named features
    columns: dict[str, Any]  # labels and, if wanted, all others
    names: Any = None  # of the rows, if there are any: a pandas index

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def take(self, rows: NDArray[np.intp]) -> Block:
        """Return some of the rows, without their names."""
        X = self.X.iloc[rows] if hasattr(self.X, "iloc") else self.X[rows]
        columns = {name: take_rows(column, rows) for name, column in self.columns.items()}
        return Block(X, columns)


@dataclass(frozen=True, eq=False)
class Part:
    """A part of an array, with the labels of its rows."""

    X: Any
    labels: tuple[Any, ...] = ()


def read_blocks(content: Any, choice: Choice, rows: int = BLOCK_ROWS) -> Iterator[Block]:
    """Yield the rows of a shard in blocks; one without rows yields nothing."""
    if isinstance(content, Part):
        yield from _of_part(content, choice, rows)
    elif isinstance(content, str):
        path = Path(content)
        with reading(path, "valid data"):
            yield from _of_file(path, choice, rows)
    else:  # a data frame
        for start in range(0, len(content), rows):
            yield _of_frame(content.iloc[start : start + rows], choice, "the data frame")


def joined(blocks: Sequence[Block]) -> Block:
    """Return several blocks as one, without the names of rows."""
    columns = {
        name: _concatenated([block.columns[name] for block in blocks]) for name in blocks[0].columns
    }
    return Block(_concatenated([block.X for block in blocks]), columns)


def _concatenated(parts: list[Any]) -> Any:
    if hasattr(parts[0], "iloc"):
        return load("pandas").concat(parts, ignore_index=True)
    if is_sparse(parts[0]):
        import scipy.sparse

        return scipy.sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


@contextlib.contextmanager
def named(shard: str) -> Iterator[None]:
    """Add the name of a shard to errors in its data."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if shard in str(error):
            raise
        raise ValueError(f"{shard}: {error}") from error


def check_file(path: Path) -> None:
    """Refuse a file that does not exist or is not of a known format."""
    if suffix_of(path) == ".zarr" and path.is_dir():
        return
    check_input(path, FILE_SUFFIXES)


def _of_part(part: Part, choice: Choice, rows: int) -> Iterator[Block]:
    X: Any = part.X.tocsr() if is_sparse(part.X) else np.asarray(part.X)
    if X.ndim != 2:
        raise ValueError(f"X must be a 2D array, got shape {X.shape}")
    for name, column in zip(choice.columns, part.labels, strict=True):
        if len(column) != X.shape[0]:
            raise ValueError(f"{name} has {len(column)} entries, but X has {X.shape[0]} rows")
    named = dict(zip(choice.columns, part.labels, strict=True))
    yield from _slices(X, named, None, rows)


def _slices(X: Any, columns: dict[str, Any], names: Any, rows: int) -> Iterator[Block]:
    for start in range(0, X.shape[0], rows):
        taken = np.arange(start, min(start + rows, X.shape[0]))
        own = {name: take_rows(column, taken) for name, column in columns.items()}
        yield Block(X[start : start + rows], own, None if names is None else names[taken])


def _of_frame(frame: Any, choice: Choice, where: str) -> Block:
    pandas = load("pandas")
    frame.columns = [str(name) for name in frame.columns]
    assert choice.features is not None
    for name in (*choice.features, *choice.columns):
        if name not in frame.columns:
            raise ValueError(unknown(name, list(frame.columns), what="column", where=where))
    kept = [name for name in frame.columns if choice.others and name not in choice.features]
    names = None if isinstance(frame.index, pandas.RangeIndex) else frame.index
    frame = frame.reset_index(drop=True)
    columns = {name: frame[name] for name in dict.fromkeys((*choice.columns, *kept))}
    return Block(frame[list(choice.features)], columns, names)


def _of_file(path: Path, choice: Choice, rows: int) -> Iterator[Block]:
    suffix = suffix_of(path)
    if suffix in TABLES:
        assert choice.features is not None
        needed = None if choice.others else {*choice.features, *choice.columns}
        for frame in read_frames(path, needed, rows):
            if len(frame):
                yield _of_frame(frame, choice, str(path))
    elif suffix == ".h5ad":
        yield from _of_h5ad(path, choice, rows)
    elif suffix == ".npy":
        array = np.lib.format.open_memmap(path, "r")  # refuses pickles
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            what = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"{path} must hold a matrix of numbers, got {what}")
        yield from _slices(array, {}, None, rows)
    else:
        data: Dataset = read_matrix(path, choice.columns, ())
        wanted = data.columns if choice.others else {}
        columns = {name: data.columns[name] for name in choice.columns} | wanted
        names = None if data.names is None else load("pandas").Index(data.names)
        X = data.X.tocsr() if is_sparse(data.X) else data.X
        yield from _slices(X, columns, names, rows)


def read_frames(path: Path, needed: Collection[str] | None, rows: int) -> Iterator[Any]:
    """Yield the rows of a table as data frames, with the columns needed; by default all."""
    pyarrow = load("pyarrow")
    if suffix_of(path) == ".parquet":
        file = load("pyarrow.parquet").ParquetFile(path)
        known = file.schema_arrow.names
        columns = None if needed is None else [name for name in known if name in needed]
        batches = file.iter_batches(rows, columns=columns)
    else:
        batches = _feather_batches(path, rows)
    for batch in batches:
        table = pyarrow.Table.from_batches([batch])
        table.validate(full=True)  # damaged buffers would crash the interpreter
        yield table.to_pandas()


def _feather_batches(path: Path, rows: int) -> Iterator[Any]:
    with load("pyarrow").OSFile(str(path)) as source:
        file = load("pyarrow.ipc").open_file(source)
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)


def _of_h5ad(path: Path, choice: Choice, rows: int) -> Iterator[Block]:
    with opened(path) as file:
        obs = read_element(file["obs"])
        matrix = matrix_in(file, choice.use_rep, path)
        if choice.genes is not None and choice.genes != genes_of(file, choice.use_rep):
            what = f"{path} has other genes than the first file, or in another order"
            raise ValueError(f"{what}; a model needs the same columns everywhere")
        places = _places(file, choice.features, path) if choice.features else None
        if matrix.shape[0] != len(obs):
            what = f"{matrix.shape[0]} rows, obs has {len(obs)}"
            raise ValueError(f"{path} is damaged: its matrix has {what}")
        columns = obs_columns(obs)
        for name in choice.columns:
            if name not in columns:
                where = f"obs of {path}"
                raise ValueError(unknown(name, list(columns), what="column", where=where))
        if not choice.others:
            columns = {name: columns[name] for name in choice.columns}
        require_room(min(rows, matrix.shape[0]) * matrix.shape[1], path)
        if choice.features == ():
            matrix = np.empty((len(obs), 0))
        for block in _slices(matrix, columns, obs.index.astype(str), rows):
            yield block if places is None else replace(block, X=block.X[:, places])


def _places(file: Any, genes: Sequence[str], path: Path) -> NDArray[np.intp]:
    """Return where the columns of a model are in an open .h5ad file."""
    index = read_element(file["var"]).index.astype(str)
    places: NDArray[np.intp] = index.get_indexer(genes) if index.is_unique else np.array([-1])
    if (places < 0).any():
        missing = [gene for gene in genes if gene not in index]
        what = f"lacks {len(missing)} of the {len(genes)} genes" if missing else "repeats genes"
        raise ValueError(f"{path} {what} that the model was made from: {listed(missing, most=5)}")
    return places


def columns_in(path: Path) -> list[str]:
    """Return the names of the columns that a file has; those of an .npy none."""
    suffix = suffix_of(path)
    with reading(path, "valid data") if path.is_file() else contextlib.nullcontext():
        if suffix == ".parquet":
            return list(load("pyarrow.parquet").read_schema(path).names)
        if suffix == ".feather":
            with load("pyarrow").OSFile(str(path)) as file:
                return list(load("pyarrow.ipc").open_file(file).schema.names)
        if suffix == ".h5ad":
            with opened(path) as file:
                return [str(name) for name in file["obs"]]
        if suffix == ".npz":
            return list(read_arrays(path)[0])
        if suffix == ".zarr":
            store = load("zarr", extra="dask").open(str(path), mode="r")
            return list(getattr(store, "array_keys", list)())
    return []


def matrix_in(file: Any, use_rep: str | None, path: Path) -> Any:
    """Return the matrix of an open .h5ad file, whose rows are read by slices."""
    obsm = file.get("obsm", {})
    key = key_in(file, use_rep)
    if key != "X" and key not in obsm:
        known = [*sorted(obsm), "X"]
        raise ValueError(unknown(key, known, what="representation", where=str(path)))
    node = file.get("X") if key == "X" else obsm[key]
    if node is None:
        raise ValueError(f"{path} has no X; choose a representation with use_rep")
    if hasattr(node, "keys"):  # sparse
        if node.attrs.get("encoding-type") != "csr_matrix":
            how = "write it as a CSR matrix or a dense array, which are read by rows"
            raise ValueError(f"{key} of {path} cannot be read by rows; {how}")
        return load("anndata").io.sparse_dataset(node)
    if len(node.shape) != 2:
        raise ValueError(f"{key} of {path} must be a matrix, got shape {node.shape}")
    return node


def key_in(file: Any, use_rep: str | None) -> str:
    """Return the representation: the one named, else X_pca if present, else X with all genes."""
    return use_rep if use_rep is not None else DEFAULT if DEFAULT in file.get("obsm", {}) else "X"


def genes_of(file: Any, use_rep: str | None) -> str | None:
    """Return a checksum of the names of the columns; None if they have none."""
    if key_in(file, use_rep) != "X" or "var" not in file:
        return None
    return content_checksum(np.asarray(read_element(file["var"]).index.astype(str), object))
