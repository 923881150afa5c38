from __future__ import annotations

from pathlib import Path

import pytest

from ctsne._files import replaced_file


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
