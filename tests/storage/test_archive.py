"""Model files: arrays come back as they were, and no damaged or hostile file gets through."""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne._core.files import WriteError
from ctsne.storage import archive as models
from ctsne.storage.archive import read_archive, write_archive
from ctsne.storage.record import labels_from, plain_labels, plain_value, value_from

ARRAYS = {
    "embedding": np.arange(12, dtype=np.float32).reshape(6, 2),
    "reference/codes": np.array([[0], [-1]], np.int32),
    "reference/0/empty": np.zeros((0, 3)),
    "parameters/1/flags": np.array([True, False, True]),
    "parameters/1/one": np.array(2.5),
}
TREE = {
    "embedding": ARRAYS["embedding"],
    "reference": {"codes": ARRAYS["reference/codes"], "0": {"empty": ARRAYS["reference/0/empty"]}},
    "parameters": [
        {"a": [1, None, "ä"]},
        {"flags": ARRAYS["parameters/1/flags"], "one": ARRAYS["parameters/1/one"]},
    ],
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.ctsne"
    write_archive(path, "model", TREE)
    return path


def refused(path: Path) -> str:
    """Read a file that must be refused, and return the message, one line with its name."""
    with pytest.raises(ValueError) as caught:
        read_archive(path, "model")
    message = str(caught.value)
    assert str(path) in message and "\n" not in message
    return message


def array_in(tree: Any, name: str) -> Any:
    for step in name.split("/"):
        tree = tree[int(step)] if isinstance(tree, list) else tree[step]
    return tree


def test_arrays_and_text_come_back(model: Path) -> None:
    tree = read_archive(model, "model")
    assert tree.keys() == TREE.keys() and tree["parameters"][0] == {"a": [1, None, "ä"]}
    for name, array in ARRAYS.items():
        found = array_in(tree, name)
        assert found.dtype == array.dtype and np.array_equal(found, array)


def test_arrays_stay_in_the_file(model: Path) -> None:
    found = read_archive(model, "model")["embedding"]
    assert not found.flags.writeable and not found.flags.owndata
    assert found.ctypes.data % 64 == 0
    model.unlink()  # the map outlives the name
    assert np.array_equal(found, ARRAYS["embedding"])


def test_every_program_for_zip_files_can_read_it(model: Path) -> None:
    with zipfile.ZipFile(model) as archive:
        assert archive.testzip() is None
        array = np.load(io.BytesIO(archive.read("embedding.npy")))
        assert json.loads(archive.read("model.json"))["format"] == "ctsne model"
    assert np.array_equal(array, ARRAYS["embedding"])


def test_equal_models_give_equal_bytes(model: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.ctsne"
    write_archive(again, "model", TREE)
    assert again.read_bytes() == model.read_bytes()


def test_a_newer_version_says_to_update(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "VERSION", 7)
    write_archive(model, "model", {})
    monkeypatch.undo()
    assert "version 7 of the format" in refused(model)
    assert "update ctsne: pip install --upgrade ctsne" in refused(model)


def test_the_disk_is_checked_before_anything_is_written(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = model.read_bytes()
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(WriteError, match="No space left"):
        write_archive(model, "model", TREE)
    assert model.read_bytes() == before
    assert [each.name for each in model.parent.iterdir()] == [model.name]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_a_file_without_its_end_is_refused(model: Path, share: float) -> None:
    whole = model.read_bytes()
    model.write_bytes(whole[: int(share * len(whole))])
    assert "is not a valid ctsne model" in refused(model)


def test_no_changed_byte_gets_through(model: Path) -> None:
    """Every single byte of a small file matters, but for a few that no reader uses."""
    whole = model.read_bytes()
    rng = np.random.default_rng(0)
    accepted = 0
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        model.write_bytes(changed)
        with contextlib.suppress(ValueError):
            found = read_archive(model, "model")
            accepted += 1
            for name, array in ARRAYS.items():
                assert np.array_equal(array_in(found, name), array), place
    # Dates, attributes, versions and padding.
    assert accepted < 0.4 * len(whole)


Members = dict[str, bytes]


def npy(array: Any, *, version: tuple[int, int] = (1, 0)) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), version, allow_pickle=True)
    return file.getvalue()


def rewritten(path: Path, members: Members, **options: Any) -> None:
    """Write members as they are, aligned as a model's."""
    with path.open("wb") as file, zipfile.ZipFile(file, "w", **options) as archive:
        for name, content in members.items():
            entry = models._new_member(name, file.tell())
            entry.compress_type = archive.compression
            with archive.open(entry, "w", force_zip64=True) as member:
                member.write(content)


def members_of(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def header(text: str) -> bytes:
    """Return an .npy header with this text."""
    padded = text + " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode()


DECLARED = "{{'descr': {!r}, 'fortran_order': {}, 'shape': {}, }}"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("extra.txt", b"x", "unknown member"),
        ("../evil.npy", npy([1]), "unknown member"),
        ("/root.npy", npy([1]), "unknown member"),
        ("a\\b.npy", npy([1]), "unknown member"),
        ("Upper.npy", npy([1]), "unknown member"),
        ("none/x.npy", npy([1.0]), "is not a valid ctsne model"),
        ("parameters/7/x.npy", npy([1.0]), "is not a valid ctsne model"),
        ("parameters/0/a.npy", npy([1.0]), "has no place"),
        ("parameters/0.npy", npy([1.0]), "has no place"),
        ("x.npy", npy(np.array([None, {}], object)), "plain numbers"),
        ("x.npy", npy(["text"]), "plain numbers"),
        ("x.npy", npy(np.array([1 + 2j])), "plain numbers"),
        ("x.npy", npy(np.array([1.0], ">f8")), "plain numbers"),
        ("x.npy", npy(np.array([(1, 2)], "i4,i4")), "plain numbers"),
        ("x.npy", npy(np.asfortranarray(np.zeros((3, 2)))), "plain numbers"),
        ("x.npy", npy([1.0], version=(2, 0)), "another version"),
        ("x.npy", npy([1.0]) + b"more", "does not fit"),
        ("x.npy", npy([1.0])[:-1], "does not fit"),
        ("x.npy", b"", "is not a valid ctsne model"),
        ("x.npy", header(DECLARED.format("<f8", False, (-1,))) + bytes(8), "does not fit"),
        ("x.npy", header(DECLARED.format("<f8", False, (2**62, 2))), "does not fit"),
        ("x.npy", header("__import__('os').abort()"), "is not a valid ctsne model"),
        ("x.npy", header(DECLARED.format("|b1", False, (2,))) + b"\x00\x02", "neither true nor"),
        ("model.json", b"[]", "does not describe a model"),
        ("model.json", b"{", "is not a valid ctsne model"),
        ("model.json", b"\xff\xfe", "is not a valid ctsne model"),
        ("model.json", b'{"format": "ctsne model", "version": NaN}', "NaN is not a number"),
        ("model.json", b'{"format": "ctsne model", "version": true}', "version"),
        ("model.json", b'{"format": "ctsne model", "version": "1"}', "version"),
        ("model.json", b'{"format": "other", "version": 1}', "does not describe a model"),
        ("model.json", b"[" * 100_000, "is not a valid ctsne model"),
    ],
)
def test_hostile_members_are_refused(model: Path, name: str, content: bytes, message: str) -> None:
    rewritten(model, members_of(model) | {name: content})
    assert message in refused(model)


def test_other_archives_and_files_are_refused(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, members = model.read_bytes(), members_of(model)
    with monkeypatch.context() as patched:
        patched.setattr(models, "_MOST_TEXT", 50)
        assert "more than 50 bytes" in refused(model)
        with pytest.raises(ValueError, match="too long"):
            write_archive(model, "model", {"a": "x" * 50})
    with pytest.raises(ValueError, match=r"sweep\.json"):
        read_archive(model, "sweep")
    rewritten(model, members, compression=zipfile.ZIP_DEFLATED)
    assert "compressed or encrypted" in refused(model)
    del members["model.json"]
    rewritten(model, members)
    assert "its members must be model.json and arrays" in refused(model)
    for content in (b"#!/bin/sh\n" + bytes(54) + whole, b""):
        model.write_bytes(content)
        refused(model)
    with pytest.raises(ValueError, match="is a folder"):
        read_archive(tmp_path, "model")
    with pytest.raises(FileNotFoundError):
        read_archive(tmp_path / "none.ctsne", "model")


Entries = list[bytearray]


def _packed(number: int, place: int, kind: str, *values: int) -> Callable[[Entries], None]:
    return lambda entries: struct.pack_into(kind, entries[number], place, *values)


@pytest.mark.parametrize(
    "change",
    [
        lambda entries: entries.append(entries[-1]),
        lambda entries: entries.pop(2),
        lambda entries: entries.insert(1, entries.pop(2)),
        lambda entries: entries[2].__setitem__(slice(42, 46), entries[1][42:46]),  # one place
        _packed(-1, 42, "<L", 2**31),  # beyond the end
        _packed(1, 20, "<LL", 2**20, 2**20),  # larger
        _packed(1, 8, "<H", 1),  # encrypted
    ],
)
def test_a_directory_that_lies_is_refused(model: Path, change: Callable[[Entries], None]) -> None:
    whole = model.read_bytes()
    with zipfile.ZipFile(model) as archive:
        start = archive.start_dir
    end = whole.rindex(b"PK\5\6")
    entries = [bytearray(b"PK\1\2" + entry) for entry in whole[start:end].split(b"PK\1\2")[1:]]
    change(entries)
    body, tail = b"".join(entries), bytearray(whole[end:])
    struct.pack_into("<HHL", tail, 8, len(entries), len(entries), len(body))
    model.write_bytes(whole[:start] + body + bytes(tail))
    refused(model)


# Labels and parameters

LABELS = ["text", "", "ä\n\ud800", 3, -(10**30), True, 0.1]


def test_labels_keep_value_and_type_or_become_text() -> None:
    found = labels_from(json.loads(json.dumps(plain_labels(LABELS), allow_nan=False)))
    assert list(found) == LABELS
    assert [type(label) for label in found] == [type(label) for label in LABELS]
    names = [np.float32(0.5), np.int8(3), np.str_("a"), np.True_]
    assert [type(label) for label in labels_from(plain_labels(names))] == [float, int, str, bool]
    interval, day = pd.Interval(0, 1), datetime.date(2020, 2, 29)
    found = labels_from(plain_labels([interval, ("a", 1), day, float("inf")]))
    assert found == ("(0, 1]", "('a', 1)", "2020-02-29", "inf")
    with pytest.raises(ValueError, match="cannot be told apart"):
        plain_labels([interval, "(0, 1]"])


@pytest.mark.parametrize(
    "plain",
    [
        "text",
        None,
        [None],
        [[1]],
        [{}],
        ["a", "a"],
        [1, True],
        [{"a": 1, "b": 2}],
    ],
)
def test_what_is_not_a_label_is_refused(plain: Any) -> None:
    with pytest.raises(ValueError):
        labels_from(plain)


@given(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.dictionaries(st.text() | st.integers(), st.floats(0, 1), max_size=5),
    )
)
def test_parameters_come_back(value: Any) -> None:
    found = value_from(json.loads(json.dumps(plain_value(value), allow_nan=False)))
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "plain", [[], {}, {"x": 1}, {"per label": 1}, {"per label": [[1]]}, {"per label": [["a", "b"]]}]
)
def test_what_is_not_a_parameter_is_refused(plain: Any) -> None:
    with pytest.raises(ValueError, match="is not a parameter"):
        value_from(plain)


def test_numbers_of_numpy_are_parameters_and_labels_and_objects_are_not() -> None:
    for kind in (np.float16, np.float64, np.longdouble, np.int8, np.bool_):
        assert value_from(json.loads(json.dumps(plain_value(kind(1))))) == 1
        assert labels_from(json.loads(json.dumps(plain_labels([kind(1)])))) == (1,)
    with pytest.raises(TypeError, match="cannot hold"):
        plain_value(object())
