"""Files from outside: what is read at all, and what is said about damaged ones."""

from __future__ import annotations

import os
import socket
import struct
import zlib
from pathlib import Path

import pytest

from ctsne._core.files import check_regular, read_text, reading, require_room


class Odd(Exception):
    """An exception of some library."""


@pytest.mark.parametrize(
    "error",
    [
        AssertionError(),
        AttributeError("a"),
        EOFError("a\nb"),
        IndexError(3),
        KeyError("x"),
        NotImplementedError(),
        OSError("odd"),
        OverflowError("a"),
        RecursionError("deep"),
        StopIteration(),
        SystemError("a"),
        TypeError("a"),
        ValueError("a" * 9999),
        UnicodeDecodeError("utf-8", b"", 0, 1, "r"),
        struct.error("s"),
        zlib.error("z"),
        Odd("o"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_is_raised_is_one_line_with_the_name(error: Exception, tmp_path: Path) -> None:
    path = tmp_path / "a.x"
    path.touch()
    with (
        pytest.raises(ValueError, match=r"a\.x is not text: .") as caught,
        reading(path, "text"),
    ):
        raise error
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
    assert caught.value.__cause__ is error


def test_errors_that_name_the_file_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.x"
    path.touch()
    for error in (ValueError(f"{path} is odd"), MemoryError(f"{path} is large"), ImportError("p")):
        with pytest.raises(type(error)) as caught, reading(path, "text"):
            raise error
        assert caught.value is error
    with (
        pytest.raises(MemoryError, match=r"a\.x does not fit .*: no room"),
        reading(path, ""),
    ):
        raise MemoryError("no room")
    with pytest.raises(FileNotFoundError), reading(tmp_path / "none", "text"):
        pass
    with pytest.raises(KeyboardInterrupt), reading(path, "text"):
        raise KeyboardInterrupt


def test_only_files_are_read(tmp_path: Path) -> None:
    pipe, place = tmp_path / "pipe", tmp_path / "socket"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        kinds = {
            pipe: "a pipe",
            place: "a socket",
            Path("/dev/zero"): "a device",
            tmp_path: "a folder",
        }
        for path, kind in kinds.items():
            with pytest.raises(ValueError, match=f"{path} is {kind}, not a file"):
                check_regular(path)
            with pytest.raises(ValueError, match=f"{path} is {kind}"):
                read_text(path, "settings")
    with pytest.raises(ValueError, match=r"to a file first; <\(\.\.\.\) and /dev/stdin are not"):
        check_regular(pipe)


def test_small_files_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("größe", "utf-8")
    assert read_text(path, "settings") == "größe"
    monkeypatch.setattr("ctsne._core.files._MOST_TEXT", 3)
    with pytest.raises(ValueError, match=r"a\.json is not settings: it has more than 3 bytes"):
        read_text(path, "settings")


def test_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctsne._core.files.free_memory", lambda: 2**30)
    require_room(2**30, "a.x")
    with pytest.raises(MemoryError, match=r"a\.x needs about 2\.0 GiB .* only 1\.0 GiB"):
        require_room(2**31, "a.x")
    monkeypatch.setattr("ctsne._core.files.free_memory", lambda: None)  # unknown
    require_room(10**30, "a.x")
