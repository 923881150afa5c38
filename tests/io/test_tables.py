from __future__ import annotations

import gzip
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ctsne.io import Dataset, read_data
from ctsne.io.maps import read_columns, write_columns
from ctsne.io.paths import TEXT_SUFFIXES, suffix_of
from ctsne.io.tables import folded, read_table_blocks
from ctsne.labels import encode_column

from .conftest import refused

WRITERS = {
    "t.csv": lambda frame, path: frame.to_csv(path),
    "t.csv.gz": lambda frame, path: frame.to_csv(path),
    "t.tsv": lambda frame, path: frame.to_csv(path, sep="\t"),
    "t.txt.gz": lambda frame, path: frame.to_csv(path, sep="\t"),
    "t.parquet": lambda frame, path: frame.to_parquet(path),
}


def read(folder: Path, text: str, **options: object) -> Dataset:
    path = folder / "t.csv"
    path.write_text(text)
    return read_data(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same(name: str, tmp_path: Path, table: pd.DataFrame) -> None:
    WRITERS[name](table, tmp_path / name)
    data = read_data(tmp_path / name, labels=["batch"])
    assert data.features == ("PC1", "PC2") and str(data.source) == "2 numeric columns"
    np.testing.assert_array_equal(data.X, table[["PC1", "PC2"]].to_numpy(np.float32))
    assert data.names is not None and data.names.tolist() == table.index.tolist()
    assert list(data.columns) == ["batch", "type"]
    assert (
        encode_column(data.labels(["batch"])).describe() == encode_column(table["batch"]).describe()
    )
    assert str(data.columns["batch"].dtype) == "Int64"
    assert data.columns["type"].isna().tolist() == table["type"].isna().tolist()
    assert data.labels(["batch", "type"])[2] == "3 | <script>alert('x')</script>"
    unnamed = suffix_of(name) in TEXT_SUFFIXES
    note = ("row names: the first column, which has no name",) if unnamed else ()
    assert data.notes == (*note, "not in the map (not numeric): 'type'")


def test_the_content_has_one_checksum(tmp_path: Path, table: pd.DataFrame) -> None:
    for name, write in WRITERS.items():
        write(table, tmp_path / name)
    read = [read_data(tmp_path / name, labels=["batch"]) for name in WRITERS]
    assert len({data.checksum(["batch", "type"]) for data in read}) == 1
    assert len({data.sha256 for data in read}) == len(read)


def test_numbers_that_are_labels_are_no_features(tmp_path: Path) -> None:
    text = "PC1,batch\n1,1\n2,2\n4,1\n"
    assert read(tmp_path, text).features == ("PC1", "batch")
    assert read(tmp_path, text, labels=["batch"]).features == ("PC1",)


def test_a_column_spoilt_by_a_few_cells_is_named_with_one_of_them(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},{i * 2}" for i in range(3, 19))
    data = read(tmp_path, f"PC1,PC3\n{rows}\n7,none so far\n8,-\n")
    assert data.features == ("PC1",)
    assert data.notes == () and tuple(map(str, data.warnings)) == (
        "column 'PC3' is left out of the map: it is mostly numeric, but contains text (row 17: "
        "'none so far')",
    )


def test_what_is_no_number_is_a_column(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "x": np.float32([0.1, 0.2, 0.3]),
            "flag": [True, False, True],
            "when": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
            "kind": pd.Categorical(["u", "t", "u"], categories=["u", "t"]),
            "list": [[1], [2, 3], None],
            "empty": [None, None, None],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    data = read_data(tmp_path / "t.parquet")
    assert data.features == ("x",) and data.X.dtype == np.float32
    assert list(data.columns) == ["flag", "when", "kind", "list", "empty"]
    assert encode_column(data.columns["kind"]).names == ("u", "t")
    assert encode_column(data.columns["list"]).names == ("[1]", "[2 3]")
    assert data.notes[1] == "not in the map (empty): 'empty'"


def test_only_consecutive_numbers_are_folded() -> None:
    names = [f"PC{i}" for i in range(10) if i != 3]
    assert folded(["age", *names]) == "age, PC0 ... PC2, PC4 ... PC9"


def test_row_names_are_named_by_the_user(tmp_path: Path) -> None:
    text = "a,cell,b\n1,007,0\n2,NA,0\n4,x,1\n"
    data = read(tmp_path, text)
    assert data.names is None and list(data.columns) == ["cell"]
    data = read(tmp_path, text, index="cell")
    assert data.names is not None and data.names.tolist() == ["007", "NA", "x"]
    assert data.called == "cell" and data.columns == {} and data.features == ("a", "b")
    assert read(tmp_path, text, index="a").features == ("b",)
    refused(r"names must be unique, but 'b' of .* repeats '0'$", read, tmp_path, text, index="b")
    refused(r"--index: no column 'cel' in .*did you mean 'cell'", read, tmp_path, text, index="cel")


def test_row_names_that_pandas_or_r_stored(tmp_path: Path) -> None:
    data = read(tmp_path, ",a\n007,1\nNA,2\n 1e3,4\n")
    assert data.names is not None and data.names.tolist() == ["007", "NA", " 1e3"]
    assert data.called is None
    data = read(tmp_path, "a,b\nx,1,2\ny,2,4\n")  # as R writes it
    assert data.names is not None and data.names.tolist() == ["x", "y"]
    data = read(tmp_path, ",id,a\n0,x,1\n1,y,2\n", index="id")  # instead of row numbers
    assert data.names is not None and data.names.tolist() == ["x", "y"]
    assert data.features == ("a",) and data.columns == {}


@pytest.mark.parametrize(
    ("header", "first", "left_out"),
    [
        ("anything", "xyz", False),
        ("anything", "123", True),  # counts the rows
        ("anything", "012", True),
        ("anything", "135", False),
        ("cell_id", "315", True),
        ("paid", "315", False),
        ("cell_id", "313", False),
    ],
)
@pytest.mark.parametrize("last", [False, True])
def test_numbers_that_identify_rows_are_no_features(
    tmp_path: Path, header: str, first: str, left_out: bool, last: bool
) -> None:
    rows = [[header, "a", "b"], *([name, str(i * i), str(i / 4)] for i, name in enumerate(first))]
    text = "".join(",".join(row[::-1] if last else row) + "\n" for row in rows)
    data = read(tmp_path, text)
    assert data.names is None and {"a", "b"} <= set(data.features)
    assert (header in data.columns) == (left_out or first == "xyz")
    if left_out:
        (warning,) = map(str, data.warnings)
        assert f"--index {header} to make it the row names" in warning
        chosen = read(tmp_path, text, features=[header, "a"])
        assert set(chosen.features) == {header, "a"} and chosen.warnings == ()
    assert read(tmp_path, text, labels=[header]).warnings == ()


@pytest.mark.parametrize("value", ["{}", "{}.5"])
def test_many_columns_are_not_taken_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    # Taking a column out of a frame costs as much as parsing thousands of its cells.
    taken = []
    take = pd.DataFrame.__getitem__
    monkeypatch.setattr(
        pd.DataFrame,
        "__getitem__",
        lambda frame, key: (taken.append(key), take(frame, key))[1],
    )
    names = [f"g{i}" for i in range(5000)]
    rows = [
        [value.format(2 + (7 * i + j) % 31) if i % 2 else str(2 + j * i % 13) for i in range(5000)]
        for j in range(1, 4)
    ]
    data = read(tmp_path, "".join(",".join(row) + "\n" for row in (names, *rows)))
    assert len(data.features) > 4900
    assert len(taken) < 100


def test_features_chosen(tmp_path: Path) -> None:
    text = "PC1,PC2,batch,age,type\n1,5,1,30,x\n2,6,2,40,x\n"
    data = read(tmp_path, text, features=["PC*"])
    assert data.features == ("PC1", "PC2")
    assert list(data.columns) == ["batch", "age", "type"] and data.notes == ()
    refused(r"no column 'PC3' in .*; did you mean 'PC", read, tmp_path, text, features=["PC3"])
    with pytest.raises(ValueError, match=r"column 'type' .* is not numeric \(row 1: 'x'\)"):
        read(tmp_path, text, features=["PC1", "type"])
    with pytest.raises(ValueError, match=r"'PC1' of .* cannot be both a label and a feature"):
        read(tmp_path, text, features=["PC1", "PC2"], labels=["PC1"])


def test_an_earlier_map_is_not_data(tmp_path: Path) -> None:
    text = (
        "a,old_1,old_2,old_12,old_perplexity,old_largest_weight,old\n1,2,3,4,5,6,7\n5,6,7,8,9,1,2\n"
    )
    data = read(tmp_path, text)
    assert data.features == ("a", "old")
    assert data.notes[0].startswith("not in the map (an earlier map): 'old_1', 'old_2', 'old_12'")
    assert read(tmp_path, "old_1,old_2,old_perplexity\n1,2,3\n4,5,7\n").X.shape == (2, 3)
    data = read(tmp_path, "a,ctsne_1,ctsne_2,ctsne_score\n1,2,3,4\n5,6,7,8\n")
    assert data.features == ("a", "ctsne_score")
    assert data.notes == ("not in the map (an earlier map): 'ctsne_1', 'ctsne_2'",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "has column names but no rows"),
        ("a,b,a\n1,2,3\n", "more than one column named 'a'"),
        ("a\tb\n1\t2\n", r"tabs in its first line.*rename it to \.tsv"),
        ("0.5,1.5\n2.5,3.5\n", "add a line with column names before it"),
        ("a,b\n1,2\n1,2,3,4,5\n", "is not a valid table separated by commas"),
        ("a,b\n1,2,3,4\n1,2,3,4\n", "more cells than there are column names"),
        ("a,b\nx,y\nx,z\n", "no numeric columns to make a map of; its columns are 'a', 'b'"),
        (",a,b\nu,1,2\nv,3,\nw,,4\n", r"missing value in row 2 \('v'\), column 'b' \(2 missing"),
        ("a,b\n1,2\n3,inf\n", "an infinite value in row 2, column 'b'"),
    ],
)
def test_refusals_in_plain_words(tmp_path: Path, text: str, message: str) -> None:
    refused(message, read, tmp_path, text)


def test_a_wrong_label_suggests_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no column 'bacth' in .*; did you mean 'batch'?"):
        read(tmp_path, "PC1,batch\n1,1\n2,\n", labels=["bacth"])
    data = read(tmp_path, "PC1,batch\n1,1\n2,\n", labels=["batch"])
    refused("is used as a feature, not as a label", data.labels, ["PC1"])
    refused("name at least one", data.labels, [])


def test_separators_at_the_end_of_lines_are_no_column(tmp_path: Path) -> None:
    data = read(tmp_path, "a,b,\n1,2,\n3,4,\n")
    assert data.features == ("a", "b") and data.columns == {} and data.notes == ()


def test_files_that_are_something_else(tmp_path: Path) -> None:
    for name in ("t.parquet", "t.csv.gz"):
        (tmp_path / name).write_bytes(b"this is no such file, is it?")
        refused(f"{name} is not a valid", read_data, tmp_path / name)
    (tmp_path / "t.csv").write_bytes("a,größe\n1,2\n".encode("latin-1"))
    refused("not encoded in UTF-8", read_data, tmp_path / "t.csv")
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 5000)
    (tmp_path / "t.csv.gz").write_bytes(whole[: len(whole) // 2])
    refused(r"t\.csv\.gz is not a valid table", read_data, tmp_path / "t.csv.gz")


def test_columns_named_twice_in_parquet(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    twice = pyarrow.table([pyarrow.array([1.0, 2.0])] * 2, names=["a", "a"])
    pyarrow.parquet.write_table(twice, tmp_path / "t.parquet")
    refused(r"more than one column named 'a'|is not a valid", read_data, tmp_path / "t.parquet")


def test_numbers_are_read_to_the_last_bit(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=2000) * 10.0 ** np.arange(-10, 10).repeat(100)
    data = read(tmp_path, "a,b\n" + "".join(f"{v!r},1\n" for v in values.tolist()))
    np.testing.assert_array_equal(data.X[:, 0], values)


def test_options_of_other_formats(tmp_path: Path) -> None:
    refused(r"are for \.h5ad files", read, tmp_path, "a\n1\n2\n", use_rep="X_pca")


@pytest.mark.parametrize("first", ["id,", ",", ""])
def test_text_such_as_na_is_a_label(tmp_path: Path, first: str) -> None:
    cells = ["NA", "None", "", "nan", "a", "null"]
    rows = [f"{f'n{i},' if first else ''}{i % 4},{cell},x" for i, cell in enumerate(cells)]
    data = read(tmp_path, f"{first}PC1,batch,sex\n" + "\n".join(rows) + "\n")
    found = data.columns["batch"].astype(object)
    assert found.where(found.notna(), None).tolist() == ["NA", "None", None, None, "a", "null"]
    assert data.columns["sex"].eq("x").all()
    assert data.notes[-1].startswith("column 'batch' contains 'NA', 'None', 'null', treated as")


def test_text_such_as_na_among_numbers_is_missing(tmp_path: Path) -> None:
    data = read(tmp_path, "PC1,batch\n1,1\n2,NA\n5,3\n", labels=["batch"])
    assert data.columns["batch"].isna().tolist() == [False, True, False]
    refused("missing value in row 2, column 'batch'", read, tmp_path, "PC1,batch\n1,1\n2,NA\n5,3\n")
    data = read(tmp_path, "PC1,a\n1,1\n2,NA\n5,oh\n7,4\n")
    assert len(data.warnings) == 1 and "column 'a' is left out" in str(data.warnings[0])


def test_text_with_gaps_of_a_table_as_r_writes_it(tmp_path: Path) -> None:
    data = read(tmp_path, 'PC1,"ba\ntch"\nx,1,NA\n\ny,2,\nz,4,"a\nb"\n')
    found = data.columns["ba\ntch"].astype(object)
    assert found.where(found.notna(), None).tolist() == ["NA", None, "a\nb"]
    assert data.names is not None and data.names.tolist() == ["x", "y", "z"]


def test_empty_text_is_missing_in_every_format(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"x": [1.0, 2, 3], "a": ["", "u", "v"], "b": pd.Categorical(["", "", "w"])}
    )
    frame["c"] = pd.array(["", "s", None], "string")
    for name, write in WRITERS.items():
        write(frame, tmp_path / name)
        data = read_data(tmp_path / name)
        missing = {name: column.isna().tolist() for name, column in data.columns.items()}
        assert missing == {
            "a": [True, False, False],
            "b": [True, True, False],
            "c": [True, False, True],
        }


def test_columns_probably_included_by_mistake_are_warned_of(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 6)), columns=[f"PC{i}" for i in range(1, 7)])
    frame["PC1"] *= 1e5  # may be that large
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert read_data(tmp_path / "t.csv").warnings == ()
    frame["PC1"] /= 1e5
    frame["n_counts"] = rng.integers(1000, 20000, size=40) + 0.5
    frame["umis"] = np.arange(40) * 3
    frame.to_csv(tmp_path / "t.csv", index=False)
    first, second = map(str, read_data(tmp_path / "t.csv").warnings)
    assert first.startswith("column 'n_counts' has 100 % of the variance of all features")
    assert second.startswith("whole numbers among fractions, included in the map: 'umis'")
    assert all('--features "PC*"' in each for each in (first, second))
    assert read_data(tmp_path / "t.csv", features=["PC*", "n_counts"]).warnings == ()
    assert len(read_data(tmp_path / "t.csv", labels=["umis"]).warnings) == 1


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_whole_numbers_that_look_like_clusters_are_not_features(tmp_path: Path, name: str) -> None:
    file, rows = tmp_path / name, np.arange(60)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 8))).add_prefix("gene")
    frame["gene3"] = 0  # not expressed
    frame["leiden_1"], frame["leiden_2"], frame["leiden_3"] = rows % 7, rows % 3, rows % 9
    frame["noise"] = np.where(rows % 4 == 0, -1, rows % 2)
    frame["my plate"] = np.where(rows % 5 == 0, np.nan, rows % 2)  # with gaps
    codes = [*frame.columns[8:]]
    write = frame.to_csv if name == "t.csv" else frame.to_parquet
    write(file, index=False)
    data = read_data(file)
    assert data.features == tuple(frame.columns[:8]) and [*data.columns] == codes
    assert data.column("my plate").isna().sum() == 12
    (warning,) = data.warnings
    assert "--features 'gene*' " in str(warning) and "'leiden_1'" in str(warning)
    chosen = read_data(file, features=["gene*", "noise"])
    assert chosen.features[-1] == "noise" and chosen.warnings == ()
    assert read_data(file, labels=codes).warnings == ()


def test_whole_numbers_among_whole_numbers_and_other_numbers_are_features(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(4, size=(80, 5)), columns=[*"abcde"])  # answers, pixels
    frame[["f", "g"]] = rng.normal(size=(80, 2))
    frame.to_csv(tmp_path / "most.csv", index=False)
    assert len(read_data(tmp_path / "most.csv").features) == 7
    frame = frame[["f", "g"]].assign(difference=np.arange(80) % 5 - 2, count=np.arange(80))
    frame.iloc[::-1].to_csv(tmp_path / "other.csv", index=False)
    assert len(read_data(tmp_path / "other.csv").features) == 4


def test_a_table_of_counts_is_not_warned_of(tmp_path: Path) -> None:
    counts = np.random.default_rng(0).poisson(3, size=(40, 6))
    frame = pd.DataFrame(counts, columns=["Ins1", "Gcg", "Sst", "Ppy", "Ghrl", "Actb"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert read_data(tmp_path / "t.csv").warnings == ()


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_semicolons(tmp_path: Path, name: str, decimal: str, table: pd.DataFrame) -> None:
    table.to_csv(tmp_path / name, sep=";", decimal=decimal)
    data = read_data(tmp_path / name, labels=["batch"])
    np.testing.assert_array_equal(data.X, table[["PC1", "PC2"]].to_numpy(np.float32))
    assert data.names is not None and data.names.tolist() == table.index.tolist()
    assert data.columns["type"].isna().tolist() == table["type"].isna().tolist()
    assert data.labels(["batch", "type"])[2] == "3 | <script>alert('x')</script>"
    assert data.notes[0].startswith("columns are separated by semicolons")


def test_semicolons_within_cells_are_text(tmp_path: Path) -> None:
    data = read(tmp_path, "a,b;c\n1,x;y\n2,x;z\n")
    assert data.features == ("a",) and list(data.columns) == ["b;c"]


TABLE = b"a,b\n" + b"1.5,2\n" * 20
# The time of packing would differ between workers, which must collect the same tests.
PACKED = gzip.compress(TABLE, mtime=0)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"a\0,b\n1.5,2\n", "contains NUL bytes"),
        ("t.csv", b"a,b\n1\x005,2\n", "contains NUL bytes"),
        ("t.csv", TABLE.decode().encode("utf-16"), "contains NUL bytes, so it is not text, or not"),
        ("t.csv", TABLE + b"\xff,1\n", "is not encoded in UTF-8"),
        ("t.csv", b"x" * 10**6, "is not a valid table separated by commas: .* field larger than"),
        ("t.csv", b'a,b\n"1,2\n3,4\n', "is not a valid table .* EOF inside string"),
        ("t.csv", b'"a,b\n1,2\n3,4\n', "is not a valid table .* EOF inside string"),
        ("t.csv", b"a,b\n1e999,2\n3,4\n5,inf\n", "an infinite value in row"),
        ("t.csv", b"\n\n  \n", "is empty"),
        ("t.csv.gz", PACKED[:-12], "is not a valid table .* ended before"),
        ("t.csv.gz", PACKED + b"junk", "is not a valid table .* Not a gzipped file"),
        ("t.tsv.gz", b"\x1f\x8b\x08" + b"\xff" * 40, "is not a valid table separated by tabs"),
    ],
)
def test_hostile_text(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"{name} {message}|{name} has {message}") as caught:
        read_data(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_text_that_grows_beyond_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 2**19))
    monkeypatch.setattr("ctsne._core.files.free_memory", lambda: 2**21)
    with pytest.raises(MemoryError, match=r"t\.csv\.gz needs about 4 MiB .* only 2 MiB is free"):
        read_data(tmp_path / "t.csv.gz")


def test_many_columns_take_seconds(tmp_path: Path) -> None:
    names = ",".join(f"g{i}" for i in range(5000))
    begin = time.perf_counter()
    data = read(tmp_path, f"{names}\n" + f"{','.join(['1.5'] * 5000)}\n" * 3)
    assert data.X.shape == (3, 5000) and time.perf_counter() - begin < 20
    refused("more than one column named '1'", read, tmp_path, "1," * 10**6)


def test_line_ends_of_all_kinds(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfa,b\r\n1,2.5\n3,4\r5,6\r\n")
    data = read_data(tmp_path / "t.csv")
    assert data.features == ("a", "b") and data.X.tolist() == [[1, 2.5], [3, 4], [5, 6]]


def test_tables_longer_than_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"a": pyarrow.nulls(2**22)}), path)
    assert path.stat().st_size < 2**14
    monkeypatch.setattr("ctsne._core.files.free_memory", lambda: 2**21)
    monkeypatch.delattr(pyarrow.parquet, "read_table")  # before it is decompressed
    refused(r"t\.parquet needs about", read_data, path, error=MemoryError)


def test_metadata_of_pandas_that_lie(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    for text in (b"{", b"[]", b'{"index_columns": [3]}', b'{"columns": 1}', b"[" * 10**5, b"\xff"):
        hostile = table.replace_schema_metadata({b"pandas": text})
        pyarrow.parquet.write_table(hostile, tmp_path / "t.parquet")
        refused(r"t\.parquet is not a valid parquet file: .", read_data, tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["9007199254740993", "9007199254740992", "", "7"], (7, 2**53, 2**53 + 1)),
        (["18446744073709551615", "18446744073709551614", "2", "7"], (2, 7, 2**64 - 2, 2**64 - 1)),
        (["18446744073709551615", "", "7", "7"], ("7", "18446744073709551615")),
        (["001", "01", "1", "1"], ("001", "01", "1")),
        (["007", "010", "9", "NA"], ("007", "9", "010")),
        (["7", "9", "NA", "7"], (7, 9)),
        (["0.10", "0.1", "1", "10"], ("0.1", "0.10", "1", "10")),
        (["0.5", "1.0", "", "0.5"], (0.5, 1.0)),
        (["1.0", "2.0", "", "1.0"], (1, 2)),
        ([f"{-(2**63)}", "5", "", "5"], (-(2**63), 5)),
        ([f"{-(2**63)}", "5", "NA", "5"], (-(2**63), 5)),
        (["True", "TRUE", "False", "True"], ("False", "TRUE", "True")),
        (["True", "", "False", "True"], (False, True)),
        (["2024-01-01", "2024-1-1", "", "2024-01-01"], ("2024-01-01", "2024-1-1")),
    ],
)
@pytest.mark.parametrize("style", ["csv", "tsv", "named rows", "label file"])
def test_labels_of_text_files_keep_their_identity(
    cells: list[str], labels: tuple[Any, ...], style: str, tmp_path: Path
) -> None:
    cells = 2 * cells
    path = tmp_path / ("data.tsv" if style == "tsv" else "data.csv")
    between = "\t" if style == "tsv" else ","
    rows = [[f"{0.5 + place}", f"{place**2}.25", cell] for place, cell in enumerate(cells)]
    if style == "named rows":  # as R writes them: without a name of their own
        rows = [[f"r{place}", *row] for place, row in enumerate(rows)]
    lines = [between.join(row) for row in [["PC1", "PC2", "batch"], *rows]]
    path.write_text("\n".join(lines) + "\n")
    more: dict[str, Any] = {}
    if style == "label file":
        path.write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
        more["label_file"] = tmp_path / "labels.csv"
        more["label_file"].write_text("\n".join(["batch,other", *(f"{x},a" for x in cells)]) + "\n")
    found = read_data(path, labels=["batch"], **more)
    column = encode_column(found.columns["batch"])
    assert column.names == labels and found.features == ("PC1", "PC2")
    # A table of the same columns has the same labels again.
    write_columns(tmp_path / "again.csv", found.columns)
    again = read_columns(tmp_path / "again.csv")[0]["batch"]
    assert encode_column(again).codes.tolist() == column.codes.tolist()


def test_numbers_of_text_files_stay_numbers(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("PC1,PC2,age,score\n0.5,1.5,30.10,1.50\n2.5,0.5,30.1,2.0\n1.5,2.5,,1.5\n")
    found = read_data(path, labels=["age"], numbers=["age"], features=["PC1", "PC2"]).columns
    assert found["age"].dtype == found["score"].dtype == np.float64
    ages = tmp_path / "ages.csv"
    ages.write_text("age,score\n30.10,1.50\n30.1,2.0\n,1.5\n")
    path.write_text("PC1,PC2\n0.5,1.5\n2.5,0.5\n1.5,2.5\n")
    joined = read_data(path, labels=["age"], numbers=["age"], label_file=ages).columns
    assert joined["age"].dtype == np.float64


def test_labels_of_parquet_files_keep_their_identity(tmp_path: Path) -> None:
    large = pa.array([2**53 + 1, 2**53, None, 7])
    unsigned = pa.array([2**64 - 1, None, 2**64 - 2, 1], pa.uint64())
    exact = pa.array([Decimal("0.10"), Decimal("0.20"), None, Decimal("0.10")])
    matrix = {name: pa.array([0.5, 1.5, 3.5, 2.0]) for name in ("PC1", "PC2")}
    columns = {"large": large, "unsigned": unsigned, "exact": exact}
    pq.write_table(pa.table(matrix | columns), tmp_path / "data.parquet")
    for data in (
        read_data(tmp_path / "data.parquet", labels=list(columns)),
        *read_table_blocks(
            tmp_path / "data.parquet", 4, features=None, labels=list(columns), others=True
        ),
    ):
        names = {name: encode_column(data.columns[name]).names for name in columns}
        assert names["large"] == (7, 2**53, 2**53 + 1)
        assert names["unsigned"] == (1, 2**64 - 2, 2**64 - 1)
        assert names["exact"] == (Decimal("0.10"), Decimal("0.20"))
