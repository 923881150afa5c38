"""Checks of input: every public function refuses bad input here, before any work starts."""

import os
from itertools import chain
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ctsne._core.jobs import threads_for, workers_for
from ctsne._core.messages import did_you_mean, shown
from ctsne._core.stores import in_memory

LARGEST_VALUE = float(np.float32(1e30))  # a limit that rounding to single precision does not exceed
MOST_POINTS = 2**31 - 1  # points are numbered with 32 bits
# Rows from which the usual step between values of a column is taken, and numbers rounded at a time.
_SAMPLED_ROWS = 500
_NUMBERS_AT_ONCE = 2**20
_MOST_ROUNDING = 1e-3  # rounding that changes nothing, as a share of that step


def is_sparse(X: Any) -> bool:
    """Return whether this is a matrix or array of scipy.sparse."""
    return bool(sp.issparse(X))


def check_features(X: ArrayLike, *, argument: str = "X", least: int = 2) -> NDArray[np.floating]:
    """Return dense, finite float32 or float64 features of at least two points, C-contiguous."""
    if is_sparse(X):
        how = "sklearn.decomposition.PCA(50, svd_solver='arpack') (ConditionalTSNE does so itself)"
        raise TypeError(f"{argument} is a sparse matrix; reduce it first, for example with {how}")
    return np.asarray(check_matrix(X, argument=argument, least=least))


def check_matrix(X: Any, *, argument: str = "X", least: int = 2) -> Any:
    """Return finite float32 or float64 values of some points, C-contiguous or CSR."""
    if hasattr(X, "obsm") and hasattr(X, "obs"):
        raise TypeError(
            f"{argument} is an AnnData object; use ctsne.tl, for example ctsne.tl.ctsne(adata, "
            '"batch"), or pass adata.obsm["X_pca"] with labels=adata.obs["batch"]'
        )
    if hasattr(X, "embedding") and hasattr(X, "measures"):
        raise TypeError(f"{argument} is a map of a sweep; pass its .embedding")
    n = X.shape[0] if (isinstance(X, np.ndarray) or is_sparse(X)) and X.ndim else 0
    if n > MOST_POINTS:  # before anything is copied
        raise ValueError(f"{argument} has {n} rows, at most {MOST_POINTS} work; take a sample")
    matrix = as_numbers(X, argument=argument)
    _check_shape(matrix.shape, argument, least)
    check_finite(matrix, argument=argument, columns=_names_of(X))
    _check_scale(matrix, argument)
    return matrix


def check_data(X: Any, *, argument: str = "X") -> Any:
    """Return the values of data to make a map of, in single precision if that loses nothing."""
    return single_precision(check_matrix(X, argument=argument))


def single_precision(X: Any) -> Any:
    """Return features in single precision, unless rounding could change differences of points."""
    # So the same data give the same map in either precision. Rounding must be far smaller than the
    # usual step between values of a column; it is not if these are far from zero compared with it.
    values = X.data[:, None] if is_sparse(X) else X
    if X.dtype == np.float32 or not values.size:
        return X
    rounding = np.zeros(values.shape[1])
    rows = max(1, _NUMBERS_AT_ONCE // values.shape[1])
    for begin in range(0, len(values), rows):
        part = values[begin : begin + rows].astype(np.float64)
        with np.errstate(over="ignore"):
            rounding = np.maximum(rounding, np.abs(part - part.astype(np.float32)).max(axis=0))
    some = np.sort(values[:: max(1, len(values) // _SAMPLED_ROWS)].astype(np.float64), axis=0)
    steps = np.diff(some, axis=0, prepend=some[:1])
    steps = np.sort(np.where(steps > 0, steps, np.inf), axis=0)
    middle = np.isfinite(steps).sum(axis=0) // 2  # infinite if all values are the same
    usual = np.take_along_axis(steps, middle[None], axis=0)[0]
    return X.astype(np.float32) if (rounding <= _MOST_ROUNDING * usual).all() else X


def as_numbers(values: Any, *, argument: str) -> Any:
    """Return float32 or float64 values, C-contiguous or CSR; missing entries become NaN."""
    values = in_memory(values, argument)
    columns = _names_of(values)
    if hasattr(values, "get_columns") and any(str(d).endswith("Int128") for d in values.dtypes):
        values = np.array([c.to_list() for c in values.get_columns()], object).T  # NumPy has none
    if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "biufO":
        values = np.where(np.ma.getmaskarray(values), np.nan, np.ma.getdata(values))
    check_sparse(values, argument=f"the sparse matrix {argument}")
    try:
        array: Any = values if is_sparse(values) else np.asarray(values)
    except ValueError as error:
        what = f"{argument} must be a table of numbers with rows of equal length"
        raise ValueError(f"{what}: {error}") from error
    kind = array.dtype.kind
    if kind == "c":
        what = f"Complex data not supported: {argument} must hold real numbers, got {array.dtype}"
        raise ValueError(f"{what}; take its absolute value or its real part")
    if kind in "OSTU":
        array = _from_objects(np.asarray(values, object), argument, columns)
    elif kind not in "biuf":
        raise TypeError(f"{argument} must hold numbers only, got {array.dtype}; convert them first")
    dtype = np.float32 if array.dtype == np.float32 else np.float64
    if is_sparse(array):
        return _as_csr(array, dtype, argument)
    return np.require(array, dtype, ["C", "ALIGNED"])


def _as_csr(matrix: Any, dtype: type[np.floating], argument: str) -> Any:
    """Return checked values as CSR, sorted and without duplicates; the given matrix is kept."""
    try:
        # Duplicates are added, so the values must be floats first; a list of lists has none.
        values = matrix if matrix.format == "lil" else matrix.astype(dtype, copy=False)
        given = values.tocsr()
        data = given.data.astype(dtype, copy=False)
    except (TypeError, ValueError, OverflowError) as error:  # values that are not numbers
        raise TypeError(f"{argument} must hold numbers only: {error}") from error
    # SciPy notes in the matrix itself that it is sorted, and sorts it in place if it is not.
    rows = type(given)((data, given.indices, given.indptr), shape=given.shape)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def check_sparse(matrix: Any, *, argument: str) -> None:
    """Refuse a sparse matrix with invalid indices: SciPy would follow them out of its arrays."""
    if not is_sparse(matrix):
        return
    shape = matrix.shape
    if len(shape) != 2:
        raise ValueError(f"{argument} must be a 2D array, got a {len(shape)}D one of shape {shape}")
    try:
        _check_indices(matrix, *shape)
    except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{argument} is invalid: {error}") from None


def _check_indices(matrix: Any, n_rows: int, n_columns: int) -> None:
    match matrix.format:
        case "csr" | "csc" | "bsr":
            blocks = matrix.format == "bsr"
            height, width = matrix.data.shape[1:] if blocks else (1, 1)
            if n_rows % height or n_columns % width:
                raise ValueError(f"blocks of {height} x {width} do not fill {matrix.shape}")
            lines, across = n_rows // height, n_columns // width
            if matrix.format == "csc":
                lines, across = across, lines
            starts, stored = matrix.indptr, len(matrix.indices)
            _check_range(starts, 0, stored, "row starts (indptr)")
            if len(starts) != lines + 1 or starts[0] != 0 or (starts[1:] < starts[:-1]).any():
                raise ValueError(f"row starts (indptr) must be {lines + 1} numbers rising from 0")
            _check_range(matrix.indices, 0, across - 1, "indices")
            _check_values(matrix.data, stored, 3 if blocks else 1)
        case "coo":
            for places, length in ((matrix.row, n_rows), (matrix.col, n_columns)):
                _check_range(places, 0, length - 1, "indices")
                _check_values(matrix.data, len(places), 1)
        case "dia":
            _check_range(matrix.offsets, 1 - n_rows, n_columns - 1, "diagonals (offsets)")
            _check_values(matrix.data, len(matrix.offsets), 2)
        case "lil":
            rows, data = matrix.rows, matrix.data
            if not all(type(row) is list for row in (*rows, *data)):
                raise ValueError("indices and values must be lists")
            if len(rows) != n_rows or [*map(len, rows)] != [*map(len, data)]:
                raise ValueError("the numbers of values and indices differ")
            _check_range(np.array([*chain.from_iterable(rows)]), 0, n_columns - 1, "indices")
        case "dok":
            places = np.array([*matrix.keys()]).reshape(-1, 2)
            _check_range(places[:, 0], 0, n_rows - 1, "indices")
            _check_range(places[:, 1], 0, n_columns - 1, "indices")


def _check_range(places: NDArray[Any], low: int, high: int, what: str) -> None:
    if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
        raise ValueError(f"{what} must be whole numbers, got {places.ndim}D {places.dtype}")
    if places.size and not low <= places.min() <= places.max() <= high:
        found = f"{places.min()} to {places.max()}"
        raise ValueError(f"{what} must be from {low} to {high}, got {found}")


def _check_values(data: NDArray[Any], count: int, ndim: int) -> None:
    if data.ndim != ndim or len(data) != count:
        raise ValueError(f"values of shape {data.shape} do not fit {count} indices")


def _from_objects(array: NDArray[Any], argument: str, columns: Any) -> NDArray[np.float64]:
    numbers = np.empty(array.size)
    for position, value in enumerate(array.flat):
        try:
            if isinstance(value, str | bytes):
                raise TypeError("this is text (cannot convert string to number)")
            missing = value is None or type(value).__name__ == "NAType"  # pandas.NA, not imported
            numbers[position] = np.nan if missing else float(value)
        except (TypeError, ValueError, OverflowError) as error:
            place = _place(position, array.shape, columns)
            what = f"{argument} must hold numbers only, but {place} holds {shown(value)}: {error}"
            raise TypeError(f"{what}. Drop such columns or convert them to numbers") from error
    return numbers.reshape(array.shape)


def _place(position: int, shape: tuple[int, ...], columns: Any) -> str:
    place = [int(i) for i in np.unravel_index(position, shape)]
    if len(place) != 2:
        return f"position {', '.join(map(str, place))}" if place else "it"
    row, column = place
    return f"row {row}, column {column if columns is None else repr(columns[column])}"


def _check_shape(shape: tuple[int, ...], argument: str, least_rows: int) -> None:
    if len(shape) != 2:
        hint = f"{argument}.reshape(len({argument}), -1)" if len(shape) else "a row for each point"
        wanted = "a 2D array with a row for each point and a column for each feature"
        got = f"a {len(shape)}D array of shape {shape}"
        raise ValueError(f"{argument} must be {wanted}, got {got}. Reshape your data: {hint}")
    for count, what, least in ((shape[0], "sample(s)", least_rows), (shape[1], "feature(s)", 1)):
        if count < least:
            raise ValueError(
                f"{argument} has {count} {what} (shape={shape}) while a minimum of {least} is "
                "required. Rows are samples (points, cells), columns are features"
            )


def check_finite(matrix: Any, *, argument: str, columns: Any = None) -> None:
    """Refuse NaN and infinite values, with their number and the position of the first."""
    values = matrix.data if is_sparse(matrix) else matrix
    if not values.size or np.isfinite([values.min(), values.max()]).all():  # the usual case
        return
    bad = ~np.isfinite(values)
    count = int(bad.sum())
    position = first = int(bad.argmax())
    if is_sparse(matrix):
        row = int((matrix.indptr <= first).sum()) - 1
        position = row * matrix.shape[1] + int(matrix.indices[first])
    raise ValueError(
        f"{argument} contains {count} NaN or infinite value{'s' if count > 1 else ''}; the first "
        f"is {values.flat[first]} at {_place(position, matrix.shape, columns)}. Remove those rows "
        "or columns, or impute the values."
    )


def _check_scale(matrix: Any, argument: str) -> None:
    """Refuse values whose distances single precision cannot represent."""
    largest = max(float(matrix.max()), -float(matrix.min()))
    if largest > LARGEST_VALUE or 0 < largest < 1 / LARGEST_VALUE:
        span = f"{1 / LARGEST_VALUE:g} to {LARGEST_VALUE:g}"
        what = f"{argument} holds values up to {largest:g}, outside the range {span}"
        raise ValueError(f"{what}; rescale them: {argument} / {largest:g} gives the same map")


def check_directions(X: Any, *, argument: str = "X") -> None:
    """Refuse rows of zeros, which have no angle to others."""
    directed = np.diff(X.indptr) if is_sparse(X) else X.any(axis=1)
    zero = np.flatnonzero(directed == 0)
    if len(zero):
        what = f"{len(zero)} rows of {argument} are all zeros (the first is row {zero[0]})"
        how = 'remove them or use metric="euclidean"'
        raise ValueError(f'metric="cosine" needs a direction, but {what}; {how}')


def check_jobs(n_jobs: object) -> int:
    """Return the number of threads for ``n_jobs``; inside a worker, -1 is its share."""
    return threads_for(_check_jobs(n_jobs))


def check_workers(n_jobs: object) -> int:
    """Return the number of joblib workers for ``n_jobs``, perhaps on a cluster."""
    return workers_for(_check_jobs(n_jobs))


def _check_jobs(n_jobs: object) -> int | None:
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise TypeError(f"n_jobs must be a whole number, -1 for all cores; got {shown(n_jobs)}")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; use -1 for all cores or 1 for one")
    return int(n_jobs)


def check_number(
    value: object,
    argument: str,
    *,
    low: float,
    high: float = np.inf,
    open_low: bool = False,
    hint: str = "",
) -> float:
    """Return a finite number in [low, high] (or (low, high]), or refuse it."""
    if np.isfinite(high):
        bounds = f"above {low:g} and at most {high:g}" if open_low else f"from {low:g} to {high:g}"
    else:
        bounds = f"above {low:g}" if open_low else f"of at least {low:g}"
    message = f"{argument} must be a number {bounds}, got {shown(value)}{hint and '; ' + hint}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(message)
    try:
        number = float(value)
    except OverflowError:  # an integer too large for a float
        raise ValueError(message) from None
    if not np.isfinite(number) or number > high or number < low or (open_low and number == low):
        raise ValueError(message)
    return number


def check_count(
    value: object, argument: str, *, low: int, high: int | None = None, or_else: str = ""
) -> int:
    """Return a whole number of at least ``low`` (and at most ``high``), or refuse it."""
    bounds = f"of at least {low}" if high is None else f"from {low} to {high}"
    message = f"{argument} must be a whole number {bounds}{or_else}, got {shown(value)}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(message)
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(message)
    return number


def check_choice(value: object, argument: str, choices: tuple[str, ...]) -> str:
    """Return one of the choices, or refuse it with all of them named."""
    if not isinstance(value, str) or value not in choices:
        hint = did_you_mean(value, choices) if isinstance(value, str) else ""
        what = f"{argument} must be one of {', '.join(map(repr, choices))}"
        raise ValueError(f"{what}; got {shown(value)}{hint}")
    return value


def check_seed(random_state: Any) -> np.random.RandomState:
    """Return the generator of a seed, or refuse it."""
    from sklearn.utils import check_random_state

    try:
        state: np.random.RandomState = check_random_state(random_state)
    except Exception as error:
        wanted = "a whole number from 0 up, a numpy.random.RandomState or None"
        raise ValueError(f"random_state must be {wanted}, got {shown(random_state)}") from error
    return state


def check_kind(value: object, kind: type, argument: str) -> None:
    """Refuse anything but an object of a class."""
    if not isinstance(value, kind):
        got = shown(value) if value is None else type(value).__name__
        raise TypeError(f"{argument} must be a {kind.__name__} object, got {got}")


def check_path(value: object, argument: str) -> Path:
    """Return a path, or refuse what cannot be one."""
    if not isinstance(value, str | os.PathLike) or "\0" in str(value):
        raise TypeError(f"{argument} must be the path of a file or folder, got {shown(value)}")
    return Path(value)


def check_perplexity(value: object, n: int) -> float:
    """Return a perplexity that works for ``n`` points, or refuse it with the largest one."""
    number = check_number(value, "perplexity", low=1, hint="it is roughly a number of neighbours")
    if number > n - 1:
        raise ValueError(
            f"perplexity={shown(value)} is too large for {n} points (n_samples={n}); the largest "
            f"that works is {n - 1}, at most a third of the points ({max(1, n // 3)}) is advisable"
        )
    return number


def check_rows(rows: Any, n: int, *, argument: str = "rows") -> NDArray[np.integer]:
    """Return numbers of points, or refuse them."""
    points = np.asarray(rows)
    if points.ndim != 1 or points.dtype.kind not in "iu" or not len(points):
        raise TypeError(f"{argument} must be a list of whole numbers, got {shown(rows)}")
    if points.min() < 0 or points.max() >= n:
        found = f"{points.min()} to {points.max()}"
        raise ValueError(f"{argument} must be numbers from 0 to {n - 1}, got {found}")
    return points


def check_same_rows(X: Any, labels: Any, *, argument: str = "labels") -> None:
    """Refuse a column whose row names differ from those of X, or come in another order."""
    rows: Any = getattr(X, "index", None)
    labelled: Any = getattr(labels, "index", None)
    named = hasattr(rows, "equals") and hasattr(labelled, "equals")
    if named and len(rows) == len(labelled) and not rows.equals(labelled):
        how = f"{argument}.loc[X.index], or pass {argument}.to_numpy() if the order is the same"
        raise ValueError(f"{argument} and X have different row names (index); reorder with {how}")


def all_identical(X: Any) -> bool:
    """Return whether all rows of X are equal."""
    if is_sparse(X):
        return not (X.max(axis=0) - X.min(axis=0)).toarray().any()
    return bool((X[1] == X[0]).all() and (X[0] == X).all())


def check_names(X: Any, *, argument: str = "X") -> None:
    """Refuse a data frame in which two columns have the same name."""
    names = _names_of(X) or []
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{argument} has several columns named {shown(twice)}; rename them")


def _names_of(X: Any) -> list[Any] | None:
    """Return the names of the columns of a data frame or an Arrow table."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None else list(names)
