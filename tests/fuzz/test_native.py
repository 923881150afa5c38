"""The attacker of the native module knows a good call of everything that it binds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "fuzz"


@pytest.fixture
def native(fuzz: Any) -> Any:
    return fuzz("native")


def test_every_bound_name_is_called(native: Any, tmp_path: Path) -> None:
    assert native.bound_names() == set(native.CALLS)
    del native.CALLS["symmetrize"]
    with pytest.raises(RuntimeError, match="symmetrize"):
        native.start(tmp_path)


def test_good_calls_are_accepted(native: Any) -> None:
    for name, call in native.CALLS.items():
        for seed in range(10):
            world = native.World(np.random.default_rng(seed))
            owner, arguments = call(world)
            result = native._call(name, owner, arguments)
            assert name in native.NOT_FINITE or native._finite(result), (name, seed)
            world.check_fences(name)


def test_writing_outside_an_array_is_found(native: Any) -> None:
    world = native.World(np.random.default_rng(0))
    while not world.fences:
        fenced = world.give(np.zeros(3, np.float32))
    world.check_fences("nothing")
    np.lib.stride_tricks.as_strided(fenced, (4,))[3] = 1
    with pytest.raises(native.Finding, match="wrote outside"):
        world.check_fences("nothing")
