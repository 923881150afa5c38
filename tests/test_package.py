"""The package itself: what importing it loads, and what it offers then."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import ctsne
from ctsne import _native

HEAVY = ("sklearn", "pandas", "matplotlib", "scipy.stats", "anndata", "scanpy", "dask")


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_importing_the_package_and_its_stages_loads_nothing_heavy() -> None:
    stages = "ctsne.neighbors, ctsne.affinity, ctsne.layout"
    done = run(f"import sys, ctsne, {stages}; print({{*{HEAVY}}} & {{*sys.modules}})")
    assert done.stdout == "set()\n", done.stderr


def test_the_program_begins_without_imports() -> None:
    """Ctrl-C shows a traceback until it has begun."""
    done = run(
        "import sys; old = {*sys.modules}; import ctsne.cli.__main__; "
        "print(*sorted({*sys.modules} - old))"
    )
    own = ["ctsne", "ctsne._core", "ctsne.cli", "ctsne.cli.__main__"]
    assert done.stdout.split() == own


def test_everything_listed_is_there_at_first_use() -> None:
    done = run("import ctsne; [getattr(ctsne, name) for name in ctsne.__all__]; ctsne.sweep.sweep")
    assert done.returncode == 0, done.stderr
    assert sorted(ctsne.__all__) == ctsne.__all__
    assert set(ctsne.__all__) <= set(dir(ctsne))
    assert all(dir(module) == sorted(module.__all__) for module in (ctsne.pl, ctsne.tl))
    assert ctsne.ConditionalTSNE.__name__ == "ConditionalTSNE"
    assert ctsne.__version__.split(".")[0].isdigit()


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        ctsne.nothing  # noqa: B018
    with pytest.raises(ImportError):
        exec("from ctsne import nothing")


def test_an_instruction_set_can_be_chosen() -> None:
    program = "from ctsne import _native; print(_native.instruction_set())"
    for name in ["", *_native.instruction_sets(), "avx1024"]:
        done = run(program, CTSNE_ISA=name)
        if name == "avx1024":
            assert "ImportError: CTSNE_ISA is 'avx1024' in the environment" in done.stderr
            assert f"supports {', '.join(_native.instruction_sets())}\n" in done.stderr
        else:
            assert done.stdout.strip() == (name or _native.instruction_sets()[-1])
