"""The package itself: what importing it loads, and what it offers then."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import ctsne
from ctsne import _native

HEAVY = ("sklearn", "pandas", "matplotlib", "scipy.stats", "anndata", "scanpy", "dask")


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = f"import sys, ctsne; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == []


def test_the_program_begins_without_imports() -> None:
    """Ctrl-C shows a traceback until it has begun."""
    program = "import sys; old = {*sys.modules}; import ctsne.cli.__main__; "
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"{program}print(*sorted({{*sys.modules}} - old))"],
        check=True,
        capture_output=True,
        text=True,
    )
    own = ["ctsne", "ctsne._core", "ctsne.cli", "ctsne.cli.__main__"]
    assert done.stdout.split() == own


@pytest.mark.parametrize("stage", ["neighbors", "affinity", "layout"])
def test_a_stage_needs_no_scikit_learn(stage: str) -> None:
    program = f"import sys, ctsne.{stage}; print(*(n for n in {HEAVY} if n in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == []


def test_everything_listed_is_there_at_first_use() -> None:
    program = "import ctsne; [getattr(ctsne, name) for name in ctsne.__all__]; ctsne.sweep.sweep"
    subprocess.run([sys.executable, "-P", "-c", program], check=True)
    assert sorted(ctsne.__all__) == ctsne.__all__
    assert set(ctsne.__all__) <= set(dir(ctsne))
    assert ctsne.ConditionalTSNE.__name__ == "ConditionalTSNE"
    assert ctsne.__version__.split(".")[0].isdigit()


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match="'ctsne' has no attribute 'nothing'"):
        ctsne.nothing  # noqa: B018
    with pytest.raises(ImportError):
        exec("from ctsne import nothing")


def test_an_instruction_set_can_be_chosen() -> None:
    program = "from ctsne import _native; print(_native.instruction_set())"
    for name in ["", *_native.instruction_sets(), "avx1024"]:
        done = subprocess.run(
            [sys.executable, "-P", "-c", program],
            env={**os.environ, "CTSNE_ISA": name},
            capture_output=True,
            text=True,
        )
        if name == "avx1024":
            assert "ImportError: CTSNE_ISA is 'avx1024' in the environment" in done.stderr
            assert f"supports {', '.join(_native.instruction_sets())}\n" in done.stderr
        else:
            assert done.stdout.strip() == (name or _native.instruction_sets()[-1])
