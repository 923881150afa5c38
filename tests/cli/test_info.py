"""``ctsne info``."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import metadata, version
from typing import Any

import pytest

from ctsne import _native
from ctsne.cli import info


def test_tells_what_is_in_use(run: Callable[..., str]) -> None:
    text = run("info")
    assert f"ctsne            {version('ctsne')}\n" in text
    assert f"instruction set  {_native.instruction_set()}\n" in text
    assert "extras" in text


def test_json(run_json: Callable[..., dict[str, Any]]) -> None:
    content = run_json("info")
    assert content["threads"] >= 1
    assert content["extras"]["plot"]["installed"] is True


def test_missing_extras_come_with_the_command(
    run: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(info, "find_spec", lambda name: None if name == "matplotlib" else object())
    assert 'missing matplotlib: pip install "ctsne[plot]"' in run("info")


def test_all_extras_for_users_are_named() -> None:
    known = set(metadata("ctsne").get_all("Provides-Extra") or ())
    assert set(info._EXTRAS) == known - {"all"}
