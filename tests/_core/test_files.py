"""Files: written whole or not at all, read only if they are regular, locked while they change."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import socket
import struct
import time
from pathlib import Path
from typing import Any

import pytest

from ctsne._core.files import (
    WriteError,
    check_regular,
    check_space,
    locked_folder,
    read_text,
    reading,
    replaced_file,
    replaced_files,
    require_room,
    sole_writer,
    write_file,
)


def test_a_target_is_replaced_at_the_end_unless_there_is_an_error(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def write_half() -> None:
        with replaced_file(target) as temporary:
            temporary.write_text("half")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        write_half()
    assert target.read_text() == "old" and list(tmp_path.iterdir()) == [target]
    with replaced_file(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new" and list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_replaced_and_not_followed(tmp_path: Path, exists: bool) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "a.txt"
    if exists:
        target.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    write_file(link, b"new")
    assert not link.is_symlink() and link.read_text() == "new"
    assert [path.read_text() for path in target.parent.iterdir()] == ["old"] * exists


def test_only_files_are_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")  # never to a real device: root could replace it
    for name in ("pipe", "link"):
        with pytest.raises(ValueError, match=f"cannot write .*{name}: it is not a regular file"):
            write_file(tmp_path / name, b"new")
    with pytest.raises(ValueError, match="it is a folder; name a file in it"):
        write_file(tmp_path, b"new")
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "link"}


def test_errors_name_the_target(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(WriteError, match=f"^cannot write {target}: File too large$"):
            write_file(target, bytes(1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert target.read_text() == "old" and list(tmp_path.iterdir()) == [target]
    with pytest.raises(WriteError, match=r"^cannot write .*none/a\.txt: No such file"):
        write_file(tmp_path / "none" / "a.txt", b"")
    with pytest.raises(FileNotFoundError, match="input"), replaced_file(target):
        (tmp_path / "input").read_bytes()


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127, "a\nb", "\udcff"])
def test_any_name_that_the_system_takes(tmp_path: Path, name: str) -> None:
    write_file(tmp_path / name, b"new")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_space_is_checked_before_the_work(tmp_path: Path) -> None:
    check_space(tmp_path / "a.txt", 1000)
    check_space(tmp_path, 1000)
    with pytest.raises(WriteError, match=r"a\.txt: No space left on device \(about 1000000.* MB"):
        check_space(tmp_path / "a.txt", 10**18)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("at", range(5))
def test_files_that_belong_together_are_never_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, at: int
) -> None:
    """A signal at any change of a file, or an error of the system there."""
    targets = [tmp_path / "a", tmp_path / "a.json"]
    for target in targets:
        target.write_text("old")
    calls = 0

    def disturbed(name: str) -> None:
        real = getattr(os, name)

        def change(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at + 1:
                signal.raise_signal(number)
            return real(*arguments, **options)

        monkeypatch.setattr(os, name, change)

    def write() -> None:
        with replaced_files(*targets) as parts:
            for part in parts:
                part.write_text("new")
            for name in ("rename", "replace", "unlink"):
                disturbed(name)

    class Ended(BaseException): ...

    def end(*_: object) -> None:
        raise Ended

    before = signal.signal(number, end)
    try:
        with pytest.raises(Ended):
            write()
    finally:
        signal.signal(number, before)
    monkeypatch.undo()
    assert calls >= 4
    assert sorted(tmp_path.iterdir()) == targets
    assert [target.read_text() for target in targets] == ["new", "new"]


def test_all_old_files_come_back_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = [tmp_path / "a", tmp_path / "a.json"]
    for target in targets:
        target.write_text("old")

    def fail() -> None:
        with replaced_files(*targets) as parts:
            parts[0].write_text("new")
            monkeypatch.setattr("ctsne._core.files.os.replace", full)

    def full(*_: object) -> None:
        raise OSError("full")

    with pytest.raises(WriteError, match="full"):
        fail()
    assert [target.read_text() for target in targets] == ["old", "old"]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o400])
def test_a_file_keeps_who_may_read_it(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(mode)
    with replaced_file(target) as temporary:
        assert temporary.stat().st_mode & 0o777 == mode | 0o200
        temporary.write_text("new")
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == mode


class Odd(Exception):
    """An exception of some library."""


@pytest.mark.parametrize(
    "error",
    [
        EOFError("a\nb"),
        IndexError(3),
        NotImplementedError(),
        OSError("odd"),
        RecursionError("deep"),
        StopIteration(),
        ValueError("a" * 9999),
        UnicodeDecodeError("utf-8", b"", 0, 1, "r"),
        struct.error("s"),
        Odd("o"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_is_raised_is_one_line_with_the_name(error: Exception, tmp_path: Path) -> None:
    path = tmp_path / "a.x"
    path.touch()
    with pytest.raises(ValueError, match=r"a\.x is not text: .") as found, reading(path, "text"):
        raise error
    assert "\n" not in str(found.value) and len(str(found.value)) < 600
    assert found.value.__cause__ is error


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
        for path in (pipe, place, Path("/dev/zero"), tmp_path):
            with pytest.raises(ValueError, match=f"{path} is a .*, not a file"):
                check_regular(path)
            with pytest.raises(ValueError, match=f"{path} is a"):
                read_text(path, "settings")


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


def test_one_sweep_at_a_time(tmp_path: Path) -> None:
    with sole_writer(tmp_path):
        with locked_folder(tmp_path):  # other files may be written
            write_file(tmp_path / "a.txt", b"new")
        with pytest.raises(ValueError, match="another sweep is writing to"), sole_writer(tmp_path):
            pass
    with sole_writer(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("kind", ["link", "loose link", "folder", "pipe"])
def test_a_lock_that_is_not_ours(tmp_path: Path, kind: str) -> None:
    lock = tmp_path / ".lock"
    if kind == "folder":
        lock.mkdir()
    elif kind == "pipe":
        os.mkfifo(lock)
    else:
        lock.symlink_to("mine")
        (tmp_path / ("mine" if kind == "link" else "other")).touch()
    before = sorted(tmp_path.iterdir())
    message = f"^{lock} is not a file of ctsne; remove it$"
    with pytest.raises(ValueError, match=message), sole_writer(tmp_path):
        pass
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("kind", [fcntl.LOCK_SH, fcntl.LOCK_EX])
def test_no_writer_waits_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: int
) -> None:
    monkeypatch.setattr("ctsne._core.files._PATIENCE", 0.2)
    descriptor = os.open(tmp_path, os.O_RDONLY)  # as another program has it
    try:
        fcntl.flock(descriptor, kind)
        begin = time.monotonic()
        with replaced_files(tmp_path / "a", tmp_path / "a.json") as parts:
            for part in parts:
                part.write_text("new")
        assert time.monotonic() - begin >= 0.2
        write_file(tmp_path / "b", b"new")  # a single file needs no lock
    finally:
        os.close(descriptor)
    assert {path.name for path in tmp_path.iterdir()} == {"a", "a.json", "b"}
