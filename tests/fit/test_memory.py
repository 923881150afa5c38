"""The estimate of memory: an upper bound near the measured peak, checked before any work."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import threading
from concurrent.futures.thread import BrokenThreadPool
from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.fit import memory as _memory
from ctsne.labels import encode_labels
from ctsne.placing import place as placing
from ctsne.settings import check_settings
from ctsne.sweep import sweep

GIB = 2**30
DATA = make_synthetic(300, random_state=0)

MEASURED = """
import sys
from concurrent.futures.thread import BrokenThreadPool
import numpy as np
from ctsne import ConditionalTSNE
from ctsne.fit.memory import map_memory
from ctsne.settings import check_settings
from ctsne.labels import encode_labels

def mebibytes(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))

n, d, method, metric = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
rng = np.random.default_rng(0)
X = rng.random((n, d), np.float32)
labels = np.arange(n) % 3
model = ConditionalTSNE(
    method=method, metric=metric, perplexity=50, pca=None,
    n_iter=5, early_exaggeration_iter=2, random_state=0, n_jobs=2
)
model.fit(X[:500], labels=labels[:500])  # all libraries are loaded
before = mebibytes("VmRSS")
model.fit(X, labels=labels)
settings = check_settings(model.get_params(), X, encode_labels(labels))
print(mebibytes("VmHWM") - before, map_memory(X.shape, settings).peak / 2**20)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measured as Linux tells it")
@pytest.mark.parametrize(
    ("n", "d", "method", "metric"),
    [
        (12000, 20, "joint", "euclidean"),
        (12000, 20, "revised", "euclidean"),
        (12000, 20, "original", "euclidean"),
        (8000, 800, "tsne", "euclidean"),
        (40000, 50, "revised", "cosine"),
    ],
)
def test_estimate_is_an_upper_bound_near_the_measured_peak(
    n: int, d: int, method: str, metric: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", MEASURED, str(n), str(d), method, metric],
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    measured, estimated = map(float, done.stdout.split())
    assert measured < estimated < 1.5 * measured + _memory.ANY_FIT / 2**20


def estimate(labels: Any = None, **parameters: Any) -> _memory.MapMemory:
    """Estimate the memory of 100,000 points."""
    parameters = {"perplexity": 20, "pca": None, "align": "none", **parameters}
    labels = np.arange(20_000) % 2 if labels is None else labels
    X = np.random.default_rng(0).random((len(labels), 60))
    model = ConditionalTSNE(**parameters)
    settings = check_settings(model.get_params(), X, encode_labels(labels))
    return _memory.map_memory((100_000, 60), settings)


@pytest.mark.parametrize(
    ("stage", "parameters"),
    [
        ("peak", {"perplexity": 40}),
        ("search", {"metric": "cosine"}),
        ("search", {"align": "mutual"}),
        ("layout", {"init": "spectral"}),
        ("layout", {"n_components": 3}),
        ("layout", {"mixing": 0.5}),
        ("layout", {"labels": np.arange(20_000) % 15}),  # a grid per large label
        ("lists", {"pca": 55}),
    ],
)
def test_every_part_of_a_map_counts(stage: str, parameters: dict[str, Any]) -> None:
    assert getattr(estimate(**parameters), stage) > getattr(estimate(), stage)


@pytest.fixture
def _little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "free_memory", lambda: 2**20)


@pytest.mark.usefixtures("_little_memory")
def test_too_large_a_map_is_refused_before_any_work() -> None:
    model = ConditionalTSNE(perplexity=20)
    with pytest.raises(MemoryError, match=r"about \d+ MiB .*1 MiB is free.*perplexity"):
        model.fit(DATA.X, labels=DATA.known)
    assert not hasattr(model, "embedding_") and not hasattr(model, "n_features_in_")
    with pytest.raises(MemoryError, match="n_jobs"):
        sweep(DATA.X, DATA.known, estimator=ConditionalTSNE(perplexity=20), progress=False)


@pytest.mark.usefixtures("_little_memory")
def test_many_columns_are_what_is_named() -> None:
    X = np.arange(1000.0)[:, None] * np.ones(3000)
    with pytest.raises(MemoryError, match="50 principal components instead of 3000"):
        ConditionalTSNE(method="tsne", perplexity=5, pca=None).fit(X)


def test_it_is_logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ConditionalTSNE(perplexity=20, n_iter=2, early_exaggeration_iter=1, verbose=1)
    with caplog.at_level(logging.INFO, "ctsne"):
        monkeypatch.setattr(_memory, "free_memory", lambda: 20 * GIB)
        model.fit(DATA.X, labels=DATA.known)
        monkeypatch.setattr(_memory, "free_memory", lambda: None)  # unknown
        model.fit(DATA.X, labels=DATA.known)
    told = [record.message for record in caplog.records if record.message.startswith("memory")]
    assert re.match(r"memory: about \d+ MiB of 20.0 GiB free", told[0])
    assert re.match(r"memory: about \d+ MiB \(", told[1])


LIMITED = """
import resource
import sys
from concurrent.futures.thread import BrokenThreadPool
import numpy as np
from ctsne import ConditionalTSNE
from ctsne.fit import memory
from ctsne.sweep import sweep

if sys.argv[1] == "unknown":
    memory.free_memory = lambda: None  # so that memory ends in the middle of the work
X, labels = np.random.default_rng(0).normal(size=(20_000, 20)), np.arange(20_000) % 3
model = ConditionalTSNE(n_iter=5, early_exaggeration_iter=2, perplexity=50, n_jobs=2)
model.fit(X[:500], labels=labels[:500])  # all libraries are loaded
lines = open("/proc/self/status").read().splitlines()
size = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmSize:"))
# A sweep ends before its first thread: one that cannot allocate its own state would hang Python.
room = 10 if sys.argv[2] == "sweep" else 60
resource.setrlimit(resource.RLIMIT_AS, (size + room * 2**20,) * 2)
try:
    if sys.argv[2] == "extend":
        model.extend(X, labels=labels, n_iter=2)
    elif sys.argv[2] == "sweep":
        sweep(X, labels, estimator=model, progress=False, n_jobs=2)
    else:
        model.fit(X, labels=labels)
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")
@pytest.mark.parametrize(
    ("free", "work", "says"),
    [
        (
            "known",
            "fit",
            r"^this needs about \d+ MiB of memory, but only \d+ MiB is free; use a smaller ",
        ),
        *(
            ("unknown", work, r"^memory ran out: this needs about \d+ MiB beside .*use a smaller ")
            for work in ("fit", "extend", "sweep")
        ),
    ],
)
def test_a_limit_on_memory_is_an_error_with_the_estimate(free: str, work: str, says: str) -> None:
    run = [sys.executable, "-c", LIMITED, free, work]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    assert re.search(says, done.stdout), done.stdout + done.stderr[-1000:]


def test_a_broken_pool_is_a_lack_of_memory() -> None:
    for error in (BrokenThreadPool(), MemoryError("std::bad_alloc")):
        says = pytest.raises(MemoryError, match=r"memory ran out: this needs about 9 MiB beside")
        with says, _memory.explained_memory(9 * 2**20, "less"):
            raise error
    with pytest.raises(RuntimeError, match="mine"), _memory.explained_memory(None, "less"):
        raise RuntimeError("mine")  # such as that of a callback


def test_trust_and_place_explain_that_no_thread_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ConditionalTSNE(perplexity=20, n_iter=2, early_exaggeration_iter=1)
    model.fit(DATA.X, labels=DATA.known)

    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("can't start new thread")

    name = "_start_new_thread" if sys.version_info < (3, 13) else "_start_joinable_thread"
    with monkeypatch.context() as patch:
        patch.setattr(threading, name, refuse)
        with pytest.raises(MemoryError, match=r"memory ran out: this needs about \d+ MiB beside"):
            model.trust()

    def end(*_: Any, **__: Any) -> None:
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr(placing, "place", end)
    with pytest.raises(MemoryError, match="memory ran out: use fewer new points at a time"):
        model.transform(DATA.X, DATA.known)
