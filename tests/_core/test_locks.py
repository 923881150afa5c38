from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from ctsne._core.files import locked_folder, replaced_files, sole_writer, write_file


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
