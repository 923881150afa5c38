from __future__ import annotations

import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest

from ctsne._core.files import WriteError, check_space, replaced_file, replaced_files, write_file


def test_takes_the_place_of_the_target(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with replaced_file(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_leaves_the_target_alone(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def write_half() -> None:
        with replaced_file(target) as temporary:
            temporary.write_text("half")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


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
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a": "new",
        "a.json": "new",
    }


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
