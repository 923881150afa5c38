"""Tables: text separated by commas, tabs or semicolons, and parquet."""

import contextlib
import csv
import gzip
import io
import itertools
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core import messages
from ctsne._core.files import reading, require_room
from ctsne._core.messages import CtsneWarning, FeaturesWarning, load, quoted, unknown
from ctsne.io import dataset as ds
from ctsne.io.dataset import Dataset, Names, Source, Texts
from ctsne.io.paths import TEXT_SUFFIXES, suffix_of
from ctsne.labels import Column
from ctsne.labels.candidates import label_columns, number_columns

# Names of columns that identify rows.
IDENTIFIER = re.compile(
    r"(^|[\W_])(ids?|index|names?|barcodes?|cell|sample|row|rownames)$", re.IGNORECASE
)
_WHOLE = re.compile(r"-?[1-9]\d*|0")
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
_OF_MAP = re.compile(r"(.+)_(\d+|perplexity|other_share|matched|largest_weight|distance|far)")
# A table with all of these holds a map, whatever its key.
_COMPANIONS = ("1", "perplexity", "largest_weight")
# Text that many programs write for missing values; in a column of text it is an ordinary label.
_LIKE_MISSING = {"#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "None", "n/a", "null"}
_SHOWN = 12
# Text is checked this many bytes at a time, and read in memory of about this many times its size.
_BLOCK, _PARSED = 2**24, 2
_RUN = 3  # from this many on, numbered names (PC1, PC2, ...) belong together
# With fewer columns, one may well hold most of the variance.
_FEWEST_DOUBTED = 5
_MOST_VARIANCE = 0.5
_SOME_ROWS, _COLUMNS = 100, 1000  # looked at together
_MOSTLY = 0.5  # a text column in which this share of cells are numbers was meant to be numeric
_VALUE = 8  # bytes of a value of a parquet file in memory; the file may be far smaller
# Kinds of NumPy and pandas types that are numbers.
_NUMERIC = "iuf"
_SEPARATORS = {";": "semicolons", "\t": "tabs", ",": "commas"}
_REMEDIES = {";": "save it with commas", "\t": "rename it to .tsv", ",": "rename it to .csv"}


def read_table(
    path: Path,
    labels: Texts,
    elsewhere: Texts,
    features: Texts | None,
    index: str | None,
    numbers: Texts = (),
) -> Dataset:
    """Read the numeric columns as the matrix, all others as columns."""
    frame = read_frame(path, index=index)
    ds.check_labels(labels, [*frame.columns], elsewhere, where=str(path))
    chosen = None if features is None else _named(frame, labels, features, path)
    data = frame_data(frame, features=chosen, labels=labels, where=path)
    names, called = row_names(frame)
    columns = table_columns(frame.drop(columns=list(data.features)), path, labels, numbers)
    notes = [*data.notes, *like_missing(columns)]
    if names is not None and called is None and suffix_of(path) in TEXT_SUFFIXES:
        notes.insert(0, "row names: the first column, which has no name")
    if _has_semicolons(path):
        notes.insert(0, "columns are separated by semicolons; decimal commas are recognized")
    doubts = data.warnings
    if features is None and np.isfinite(data.X).all():  # features that were named were meant
        doubts = (*doubts, *_doubtful_features(data.X, data.features))
    data = replace(data, columns=columns, names=names, called=called)
    return replace(data, notes=tuple(notes), path=path, warnings=doubts)


def _numbers(frame: Any, features: Texts) -> Any:
    """Return columns of a table as a matrix, in single precision if all of them are."""
    part = frame[list(features)]
    single = len(features) and all(dtype == np.float32 for dtype in part.dtypes)
    values = part.to_numpy(np.float32 if single else np.float64, na_value=np.nan)
    return np.ascontiguousarray(values)


def read_table_blocks(
    path: Path, rows: int, *, features: Texts | None, labels: Texts, others: bool
) -> Iterator[Dataset]:
    """Yield some rows of a parquet file at a time; without ``others``, only the columns named."""
    parquet, pyarrow = load("pyarrow.parquet"), load("pyarrow")
    with reading(path, "a valid parquet file"):
        file = parquet.ParquetFile(path)
        known = file.schema_arrow.names
        needed = None
        if features is not None and not others:
            needed = [name for name in known if name in {*features, *labels}]
        for batch in file.iter_batches(rows, columns=needed):
            table = pyarrow.Table.from_batches([batch])
            table.validate(full=True)  # damaged buffers would crash the interpreter
            if len(table):
                frame = _as_frame(table)
                ds.check_labels(labels, [*map(str, frame.columns)], (), where=str(path))
                block = frame_data(frame, features=features, labels=labels, where=path)
                columns = {name: ds.empty_as_na(column) for name, column in block.columns.items()}
                features = block.features  # chosen from the first rows
                yield replace(block, columns=columns, path=path)


def frame_data(
    frame: Any, *, features: Texts | None, labels: Collection[str], where: object
) -> Dataset:
    """Return a table as data; by default, its numeric columns except labels are features."""
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    known = list(frame.columns)
    notes: list[str] = []
    doubts: list[CtsneWarning] = []
    if features is None:
        features = numeric_columns(frame, labels, notes, doubts)
        if not features:
            found = "; ".join([f"its columns are {quoted(known)}", *map(str, doubts)])
            raise ValueError(f"{where} has no numeric columns to make a map of; {found}")
    ds.check_labels(features, known, (), where=str(where))
    unnamed = isinstance(frame.index, load("pandas").RangeIndex)
    names, called = None if unnamed else frame.index.to_numpy(), frame.index.name
    X, frame = _numbers(frame, features), frame.reset_index(drop=True)
    left_out = {*known} - ({*features} - {*labels})
    columns = {name: frame[name] for name in known if name in left_out}
    source = Source("table", None, len(features))
    more = {"notes": tuple(notes), "called": called, "warnings": tuple(doubts)}
    return Dataset(X, tuple(features), columns, names, source, **more)


def read_frame(
    path: Path, *, index: str | None = None, as_text: Collection[str] = (), own: str | None = None
) -> Any:
    """Return a table as a data frame; its index holds the row names, if there are any."""
    # By default these are a stored index or a first column without a name. ``own`` is the first
    # column after the row names of a map written by ctsne, where text such as "NA" is a label.
    is_text = suffix_of(path) in TEXT_SUFFIXES
    frame = _read_text(path, {index, *as_text}, own) if is_text else _read_parquet(path)
    frame.columns = [str(name) for name in frame.columns]
    if frame.index.nlevels > 1:
        what = "rows with more cells than there are column names, or with several row names"
        raise ValueError(f"{path} has {what}; in pandas, frame.reset_index() makes them columns")
    _check_unique(frame.columns, path)
    if not len(frame):
        raise ValueError(f"{path} has column names but no rows")
    if len(frame.columns) > 1 and frame.columns[0] in ("", "Unnamed: 0"):
        frame = frame.set_index(frame.columns[0]).rename_axis(index=None)
    if index not in (None, frame.index.name):
        if index not in frame.columns:
            text = unknown(index, list(frame.columns), what="column", where=str(path))
            raise ValueError(f"--index: {text}")
        frame = frame.set_index(index)
    if index is not None and not frame.index.is_unique:
        twice = str(frame.index[frame.index.duplicated()][0])
        what = f"{index!r:.60} of {path} repeats {twice!r:.60}"
        raise ValueError(f"--index: names must be unique, but {what}")
    return frame


def row_names(frame: Any) -> tuple[Names, str | None]:
    """Return the row names of a data frame from :func:`read_frame`, and what they are called."""
    if isinstance(frame.index, load("pandas").RangeIndex):
        return None, None
    called = None if frame.index.name is None else str(frame.index.name)
    return np.array(frame.index.astype(str), str), called


def separator_of(path: Path) -> str:
    """Return the separator of columns in a file of this name."""
    return "," if suffix_of(path).startswith(".csv") else "\t"


def _bytes_of(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb")


def _has_semicolons(path: Path) -> bool:
    """Recognize a .csv of spreadsheets that use decimal commas by its header."""
    if not suffix_of(path).startswith(".csv"):
        return False
    with _bytes_of(path) as file:
        header: bytes = file.readline()
    return b";" in header and b"," not in header and b"\t" not in header


def _check_bytes(path: Path) -> None:
    """Refuse text that does not fit in memory, or whose numbers pandas would cut at NUL bytes."""
    size = 0
    with _bytes_of(path) as file:
        while block := file.read(_BLOCK):
            size += len(block)
            require_room(_PARSED * size, path)
            if b"\0" in block:
                what = f"{path} contains NUL bytes, so it is not text, or not in UTF-8"
                raise ValueError(f"{what}; save it as text in UTF-8")


def _header(path: Path, separator: str) -> list[str]:
    with _bytes_of(path) as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        for cells in csv.reader(text, delimiter=separator):
            if len(cells) > 1 or "".join(cells).strip():
                return cells
    raise ValueError(f"{path} is empty")


def _read_text(path: Path, as_text: Collection[str | None], own: str | None) -> Any:
    """Return a text table as a data frame; refuse files that pandas would misread."""
    pandas = load("pandas")
    separator = separator_of(path)
    with reading(path, f"a valid table separated by {_SEPARATORS[separator]}"):
        _check_bytes(path)
        if own is None and _has_semicolons(path):
            separator = ";"
        try:
            header = _header(path, separator)
            _check_header(header, separator, path)
            # Identifiers stay as they are written: 007, NA.
            texts = {*as_text} & {*header}
            if not header[0] or own in header[1:2]:
                texts.add(header[0] or "Unnamed: 0")
            options = _text_options(path, separator, own)
            options |= {"converters": dict.fromkeys(texts, str), "low_memory": False}
            if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):
                # Slower, but gives exactly the numbers that were written, as later versions do.
                options["float_precision"] = "round_trip"
            frames = []
            for decimal in ".," if separator == ";" else ".":
                frame = pandas.read_csv(path, decimal=decimal, **options)
                frames.append(frame if own else _with_gaps(frame, decimal, texts))
            return max(frames, key=lambda frame: frame.select_dtypes("number").shape[1])
        except UnicodeDecodeError as error:
            where = f"{error.reason} at byte {error.start}"
            raise ValueError(f"{path} is not encoded in UTF-8 ({where}); convert it") from error


def _text_options(path: Path, separator: str, own: str | None = None) -> dict[str, Any]:
    """Return how pandas reads a text file. In text, "NA" or "None" may well be a label."""
    return {
        "sep": separator,
        "encoding": "utf-8",
        "keep_default_na": False,
        "na_values": [""] if own else ["", "NaN", "nan"],
        "compression": "gzip" if path.name.lower().endswith(".gz") else None,
    }


def _with_gaps(frame: Any, decimal: str, texts: Collection[str | None]) -> Any:
    """Return the table with "NA" and the like as missing in columns that are otherwise numeric."""
    for place in np.flatnonzero([dtype.kind == "O" for dtype in frame.dtypes]):
        column = frame.iloc[:, place]
        marked = column.isin(_LIKE_MISSING).to_numpy()
        if column.name not in texts and marked.any() and not marked.all():
            cells = column.mask(marked, "nan").map(str)
            with contextlib.suppress(ValueError):
                frame.isetitem(place, cells.map(lambda text: float(text.replace(decimal, "."))))
    return frame


def _check_header(header: list[str], separator: str, path: Path) -> None:
    if len(header) == 1:
        for other, word in _SEPARATORS.items():
            if other != separator and other in header[0]:
                what = f"{path} has only one column, but {word} in its first line"
                how = f"separated by {_SEPARATORS[separator]}: {_REMEDIES[other]}"
                raise ValueError(f"{what}; columns in a file of this name are {how}")
    named = [name for name in header if name]
    _check_unique(named, path)
    if all(map(_NUMBER.fullmatch, named)) and any(set(name) & set(".eE") for name in named):
        what = f"the first line of {path} holds numbers ({quoted(named, most=3)})"
        raise ValueError(f"{what}; add a line with column names before it")


def _check_unique(names: Texts, path: Path) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise ValueError(f"{path} has more than one column named {quoted(twice)}; rename them")


def _example_of_text(column: Any) -> tuple[int, str] | None:
    """Return row (from 1) and text of the first cell that keeps a column from being numeric."""
    if column.dtype.kind != "O" or hasattr(column, "cat"):
        return None
    present = column.notna()
    wrong = (present & load("pandas").to_numeric(column, errors="coerce").isna()).to_numpy()
    if not wrong.any() or wrong.sum() > _MOSTLY * present.sum():
        return None
    row = int(wrong.argmax())
    return row + 1, str(column.iloc[row])


def _named(frame: Any, labels: Texts, features: Texts, path: Path) -> list[str]:
    """Return the columns that match ``features``; refuse labels and text among them."""
    for name in set(labels) & set(features):
        what = f"{name!r:.60} of {path} cannot be both a label and a feature"
        raise ValueError(f"{what}; name it once")
    known = [name for name in frame.columns if name not in labels]
    chosen = ds.matching(features, known, where=str(path))
    for name in chosen:
        if frame[name].dtype.kind not in _NUMERIC:
            row, value = _example_of_text(frame[name]) or (1, str(frame[name].iloc[0]))
            what = f"column {name!r:.60} of {path} is not numeric (row {row}: {value!r:.40})"
            raise ValueError(f"{what}; leave it out of --features or correct the file")
    return chosen


def numeric_columns(
    frame: Any, kept: Collection[str], notes: list[str], doubts: list[CtsneWarning]
) -> list[str]:
    """Return the columns that are features; add notes and warnings about the others."""
    chosen: list[str] = []
    left: dict[str, list[str]] = {"not numeric": [], "empty": [], "an earlier map": []}
    owners = {match[0]: match[1] for match in map(_OF_MAP.fullmatch, frame.columns) if match}
    maps = {x for x in owners.values() if {f"{x}_{part}" for part in _COMPANIONS} <= owners.keys()}
    identifiers = _identifiers(frame)
    empty = frame.isna().all().to_dict()
    for name, dtype in frame.dtypes.items():
        doubt = ""
        if name in kept:
            continue
        if owners.get(name) in {"ctsne", *maps}:
            left["an earlier map"].append(name)
        elif empty[name]:
            left["empty"].extend([] if name.startswith("Unnamed: ") else [name])
        elif dtype.kind in _NUMERIC:
            doubt = identifiers.get(name, "")
            chosen += [] if doubt else [name]
        elif found := _example_of_text(frame[name]):
            doubt = f"it is mostly numeric, but contains text (row {found[0]}: {found[1]!r:.40})"
        else:
            left["not numeric"].append(name)
        if doubt:
            text = f"column {name!r:.60} is left out of the map: {doubt}"
            doubts.append(CtsneWarning(text))
    if codes := _like_labels(frame, chosen):
        chosen = [name for name in chosen if name not in codes]
        rest = shlex.join([main_features(chosen) or "NAME", *codes[:3]])
        why = "whole numbers with few values look like labels"
        how = f"To include them, name all features: --features {rest}"
        doubts.append(CtsneWarning(f"left out of the map: {quoted(codes)}; {why}. {how}"))
    notes += [f"not in the map ({why}): {quoted(names)}" for why, names in left.items() if names]
    return chosen


def _identifiers(frame: Any) -> dict[str, str]:
    """Say why columns of whole numbers look like row numbers or identifiers; leave out others."""
    names = [name for name, dtype in frame.dtypes.items() if dtype.kind in "iu"]
    # The first rows of all columns at once: taken one by one, many columns take many seconds.
    start = frame.head(3)[names].to_numpy(np.float64, na_value=np.nan)
    found = {}
    for name, first, *then in zip(names, *start, strict=True) if len(start) == 3 else ():
        counts = first in (0, 1) and then == [first + 1, first + 2]
        if counts and (np.diff(frame[name].to_numpy(np.float64, na_value=np.nan)) == 1).all():
            what = "counts the rows"
        elif IDENTIFIER.search(name) and frame[name].is_unique:
            what = "looks like an identifier"
        else:
            continue
        how = f"Use --index {name} to make it the row names, or --features to include it"
        found[name] = f"it {what}. {how}"
    return found


def _like_labels(frame: Any, names: Texts) -> list[str]:
    """Return columns that look like numbered batches or clusters, where features are fractions."""
    # A look at some rows of all columns is far faster than one at all rows column by column.
    some = frame.head(_SOME_ROWS)[list(names)].to_numpy(np.float64, na_value=0)
    places = np.flatnonzero((np.trunc(some) == some).all(axis=0)).tolist()
    whole: list[str] = []
    for start in range(0, len(places), _COLUMNS):
        part = [names[place] for place in places[start : start + _COLUMNS]]
        values = frame[part].to_numpy(np.float64, na_value=0)
        good = (np.trunc(values) == values) & (np.abs(values) < 2**53)
        whole += itertools.compress(part, good.all(axis=0))
        if 2 * len(whole) > len(names):  # counts, pixels or answers
            return []
    stems = Counter(map(_stem, {*names} - {*whole}))
    rare = [name for name in whole if stems[_stem(name)] < _RUN]
    columns = {name: frame[name].dropna().to_numpy(np.int64) for name in rare}
    return [name for name in label_columns(columns) if columns[name].min() >= -1]


def _stem(name: str) -> str:
    return name.rstrip("0123456789")


def main_features(features: Texts) -> str | None:
    """Return the pattern of the largest group of numbered names, such as ``"PC*"``, if any."""
    stem, count = Counter(map(_stem, features)).most_common(1)[0]
    return f"{stem}*" if stem and count >= _RUN else None


def _doubtful_features(X: Any, features: Texts) -> Iterator[FeaturesWarning]:
    """Warn of unnumbered columns that are probably a mistake: dominant, or counts."""
    if len(features) < _FEWEST_DOUBTED:
        return
    stems = Counter(map(_stem, features))
    single = [stems[_stem(name)] < _RUN for name in features]
    pattern = main_features(features)
    how = "--features NAME NAME ..." if pattern is None else f'--features "{pattern}"'
    variance = X.var(axis=0, dtype=np.float64)
    first = int(variance.argmax())
    if single[first] and variance[first] > _MOST_VARIANCE * variance.sum():
        share = f"{100 * variance[first] / variance.sum():.0f} % of the variance of all features"
        what = f"column {features[first]!r:.60} has {share}, so it dominates the map"
        text = f"{what}; choose the features with {how}, or scale the columns"
        yield messages.DominantFeatureWarning(text)
    whole = (np.mod(X, 1) == 0).all(axis=0)
    counts = [name for name, odd in zip(features, single & whole, strict=True) if odd]
    if counts and 2 * whole.sum() < len(features):
        what = f"whole numbers among fractions, included in the map: {quoted(counts)}"
        text = f"{what}; if these are labels or counts, choose the features with {how}"
        yield FeaturesWarning(text)


def folded(names: Texts) -> str:
    """Write names as a short list, runs of consecutive numbers by their ends."""
    parts: list[str] = []
    stems = [_stem(name) for name in names]
    ends = [int(name[len(stem) :][-9:] or 0) for name, stem in zip(names, stems, strict=True)]
    for _, places in itertools.groupby(range(len(names)), lambda i: (stems[i], ends[i] - i)):
        run = [names[i] for i in places]
        parts += run if len(run) < _RUN else [f"{run[0]} ... {run[-1]}"]
    shown = [part if len(part) <= 60 else f"{part[:57]}..." for part in parts[:_SHOWN]]
    if len(parts) > _SHOWN:
        shown.append(f"... ({len(names)} in all)")
    return ", ".join(shown)


def is_of_map(name: str, key: str) -> bool:
    """Tell whether a column is named like positions or diagnostics of a map of this key."""
    match = _OF_MAP.fullmatch(name)
    return match is not None and match[1] == key


def has_map(path: Path) -> bool:
    """Tell whether a text table is a map of any key, not another table beside its record."""
    with reading(path, "a table"):
        return any(name.endswith("_perplexity") for name in _header(path, separator_of(path)))


def candidates(
    columns: Mapping[str, Any], key: str = "ctsne", *, numbers: bool = False
) -> dict[str, Column]:
    """Return the columns that could be labels, or numbers if asked, and are not part of a map."""
    left = {name: x for name, x in columns.items() if not is_of_map(name, key)}
    found = label_columns(left)
    rest = {name: x for name, x in left.items() if numbers and name not in found}
    return found | number_columns(rest)


def table_columns(
    frame: Any, path: Path, labels: Collection[str] = (), numbers: Collection[str] = ()
) -> dict[str, Any]:
    """Return columns of a file by name; labels that differ in the file are different here too."""
    columns = {}
    written = _as_written(frame.drop(columns=[*numbers], errors="ignore"), path, labels)
    for name in frame.columns:
        column = written[name] if name in written else frame[name].reset_index(drop=True)
        if name.startswith("Unnamed: ") and column.isna().all():
            continue  # a separator at the end of each line
        if column.dtype.kind == "f" and column.isna().any():
            values = column.dropna().to_numpy()
            if len(values) and (np.abs(values) < 2**53).all() and (values % 1 == 0).all():
                column = column.astype("Int64")
        elif load("pandas").api.types.infer_dtype(column) == "mixed":
            column = ds.storable(column)
        columns[str(name)] = ds.empty_as_na(column)
    return columns


def _as_written(frame: Any, path: Path, labels: Collection[str]) -> dict[str, Any]:
    """Return the columns of a text file of which pandas changed what tells their values apart."""
    # Whole numbers and other numbers that repeat: 001 and 1, or 0.1 and 0.10, may be two labels.
    names = [
        name
        for name, column in frame.items()
        if column.dtype.kind in "iub"
        or (column.dtype.kind == "f" and (name in labels or 2 * column.nunique() <= len(column)))
        if not name.startswith("Unnamed: ")
    ]
    if suffix_of(path) not in TEXT_SUFFIXES or not names:
        return {}
    separator = ";" if _has_semicolons(path) else separator_of(path)
    options = _text_options(path, separator) | {"usecols": names, "dtype": str}
    with reading(path, "a valid table"):
        texts = load("pandas").read_csv(path, **options)
    found = {name: _exact(texts[name], frame[name].to_numpy(), name in labels) for name in names}
    return {name: column for name, column in found.items() if column is not None}


def _exact(column: Any, parsed: NDArray[Any], label: bool) -> Any:
    """Return a column as whole numbers of any size or as text; None if the parsed one is exact."""
    pandas = load("pandas")
    missing = column.isna() | column.isin(_LIKE_MISSING) if len(parsed) == len(column) else True
    codes, texts = pandas.factorize(column.mask(missing))
    whole = all(map(_WHOLE.fullmatch, texts))
    if whole and parsed.dtype.kind == "f":
        for kind in (np.int64, np.uint64):
            with contextlib.suppress(OverflowError):
                values = np.array([*map(int, texts), 0], kind)[codes]
                return pandas.Series(pandas.arrays.IntegerArray(values, codes < 0))
    usual = {*texts} <= {"True", "False"} if parsed.dtype.kind == "b" else whole
    if parsed.dtype.kind == "f":
        written = {text.replace(",", ".") for text in texts}
        numbers = {str(float(text)) for text in written}
        usual = len(numbers) == len(texts) and (written == numbers or not label)
    if usual or not len(texts):
        return None
    return pandas.Series(np.array([*texts, None], object)[codes])


def like_missing(columns: Mapping[str, Any]) -> Iterator[str]:
    """Report labels of tables that may have been meant as missing."""
    for name, column in columns.items():
        plain = column.dtype.kind != "O" or not hasattr(column, "unique")
        found = () if plain else _LIKE_MISSING.intersection(column.unique().tolist())
        if found:
            how = "treated as an ordinary label; leave cells empty where the label is missing"
            yield f"column {name!r:.60} contains {quoted(sorted(found))}, {how}"


def _read_parquet(path: Path) -> Any:
    """Return a parquet file as a data frame, if it fits in memory by what its parts say."""
    parquet = load("pyarrow.parquet")
    with reading(path, "a valid parquet file"):
        found = parquet.read_metadata(path)
        sizes = (found.row_group(place).total_byte_size for place in range(found.num_row_groups))
        # A column of equal values takes no space in the file.
        require_room(max(_VALUE * found.num_rows * found.num_columns, sum(sizes)), path)
        table = parquet.read_table(path)
        table.validate(full=True)  # damaged buffers would crash the interpreter
        return _as_frame(table)


def _as_frame(table: Any) -> Any:
    """Return a table as a data frame; whole numbers with gaps stay whole, whatever their size."""
    frame, pandas = table.to_pandas(), load("pandas")
    for name, column in zip(table.column_names, table.columns, strict=True):
        whole = {"int64": pandas.Int64Dtype(), "uint64": pandas.UInt64Dtype()}.get(str(column.type))
        if whole is not None and column.null_count and name in frame:
            frame[name] = column.to_pandas(types_mapper=lambda _, kind=whole: kind).array
    return frame


def read_schema(path: Path) -> Any:
    """Return the names and types of the columns of a parquet file."""
    return load("pyarrow.parquet").read_schema(path)
