"""Runs that are watched, stopped, continued and logged."""

import logging
import pickle
import signal
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

from ctsne.datasets import Synthetic, make_synthetic
from ctsne.layout import Layout

from .. import reference as formulas
from .helpers import WAYS, make, name


def test_callback(data: Synthetic) -> None:
    calls: list[tuple[int, float, Any]] = []
    model = make(method="revised", n_iter=50, callback=lambda *call: calls.append(call))
    model.set_params(callback_every=10)
    model.set_params(learning_rate=200)  # short steps, so that one changes the loss by little
    model.fit(data.X, labels=data.known)
    assert [iteration for iteration, _, _ in calls] == [10, 20, 30, 40, 50]
    P = model.affinities_.toarray()
    for _, loss, embedding in calls:
        assert embedding.shape == (300, 2)
        # The loss is that of one step before.
        assert loss == pytest.approx(formulas.kl_divergence(P, embedding), rel=0.05)
    np.testing.assert_array_equal(calls[-1][2], model.embedding_)
    assert not np.array_equal(calls[0][2], calls[1][2])
    calls[-1][2][:] = 0
    assert model.embedding_.any()


def test_callback_stops(data: Synthetic) -> None:
    model = make(callback=lambda iteration, *_: iteration >= 20, callback_every=5)
    model.fit(data.X, labels=data.known)
    assert model.n_iter_ == 20
    expected = make(n_iter=20).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(model.embedding_, expected)


def interrupt(iteration: int, *_: object) -> None:
    if iteration == 20:
        raise KeyboardInterrupt


def fail(*_: object) -> None:
    raise RuntimeError("the plot window is gone")


def test_interrupted_and_continued(data: Synthetic) -> None:
    model = make(callback=interrupt, callback_every=20)
    with pytest.warns(UserWarning, match="interrupted after iteration 20"):
        mapped = model.fit_transform(data.X, labels=data.known)
    assert model.n_iter_ == 20 and np.isfinite(model.kl_divergence_)
    expected = make(n_iter=20).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(mapped, expected)
    model.resume(20)
    expected = make(n_iter=40).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(model.embedding_, expected)


def test_an_error_in_the_callback_does_not_lose_the_map(data: Synthetic) -> None:
    model = make(callback=fail, callback_every=20)
    with pytest.raises(RuntimeError, match="window"):
        model.fit(data.X, labels=data.known)
    assert model.n_iter_ == 20
    model.set_params(callback=None).resume(20)
    expected = make(n_iter=40).fit_transform(data.X, labels=data.known)
    np.testing.assert_array_equal(model.embedding_, expected)


@pytest.mark.parametrize(("n", "parts"), [(300, (10, 20, 10)), (6000, (3, 3))])
@pytest.mark.parametrize("way", WAYS, ids=name)
def test_resumed_is_uninterrupted(way: dict[str, Any], n: int, parts: tuple[int, ...]) -> None:
    made = make_synthetic(n, random_state=0)
    whole = make(**way, n_iter=sum(parts), early_exaggeration_iter=5)
    whole.fit(made.X, labels=made.known)
    model = make(**way, n_iter=parts[0], early_exaggeration_iter=5).fit(made.X, labels=made.known)
    for more in parts[1:]:
        assert model.resume(more) is model
    assert model.n_iter_ == whole.n_iter_ == sum(parts)
    np.testing.assert_array_equal(model.embedding_, whole.embedding_)
    assert model.kl_divergence_ == whole.kl_divergence_


@pytest.mark.parametrize("way", WAYS, ids=name)
def test_pickled_in_the_middle(data: Synthetic, way: dict[str, Any]) -> None:
    whole = make(**way).fit(data.X, labels=data.known)
    half = make(**way, n_iter=20).fit(data.X, labels=data.known)
    loaded = pickle.loads(pickle.dumps(half))
    np.testing.assert_array_equal(loaded.embedding_, half.embedding_)
    assert loaded.labels_.names == half.labels_.names
    np.testing.assert_array_equal(loaded.resume(20).embedding_, whole.embedding_)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [({"callback": 3}, "callback"), ({"callback_every": 0}, "callback_every"), ({}, "n_iter")],
)
def test_resume_refuses(data: Synthetic, parameters: dict[str, Any], says: str) -> None:
    model = make(n_iter=5).fit(data.X, labels=data.known)
    with pytest.raises((TypeError, ValueError), match=says):
        model.set_params(**parameters).resume(0)
    assert model.n_iter_ == 5


INTERRUPTED = """
    import os, signal, threading, time, warnings
    import numpy as np
    from ctsne import ConditionalTSNE

    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=({n}, 50)).astype(np.float32), rng.integers(0, 3, {n})
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    def start(*_):
        if not threading.active_count() > 1 and not sent:
            threading.Timer(0.3, send).start()

    model = ConditionalTSNE(n_iter=10**6, random_state=0, callback=start, callback_every=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            {before}
            model.fit(X, labels=labels)
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
    print(time.perf_counter() - sent[0])
    print(hasattr(model, "embedding_") and np.isfinite(model.embedding_).all())
    print([str(warning.message) for warning in caught])
"""


def test_a_refit_that_fails_leaves_the_model_as_it_was(
    data: Synthetic, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make().fit(data.X, labels=data.known)
    before = dict(vars(model))

    def fail(layout: Layout) -> float:
        raise ValueError("the loss of the map is nan")

    monkeypatch.setattr(Layout, "loss", fail)
    with pytest.raises(ValueError, match="loss of the map"):
        model.fit(data.X[:200, :3], labels=data.hidden[:200])
    assert all(vars(model)[name] is value for name, value in before.items())


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGINT"), reason="needs signals")
@pytest.mark.parametrize("stage", ["neighbours", "iterations"])
def test_ctrl_c(stage: str) -> None:
    searching = stage == "neighbours"
    n, before = (60_000, "start()") if searching else (20_000, "pass")
    script = INTERRUPTED.format(n=n, before=before)
    run = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    lines = run.stdout.splitlines()
    if searching:  # there is no map yet to keep
        assert lines.pop(0) == "KeyboardInterrupt" and lines[1:] == ["False", "[]"]
    else:
        assert lines[1] == "True" and "interrupted after iteration" in lines[2]
    assert float(lines[0]) < 2


@pytest.mark.parametrize("verbose", [0, 1, True, 2])
def test_verbose_logs_and_never_prints(
    data: Synthetic, verbose: int, caplog: Any, capfd: Any
) -> None:
    with caplog.at_level(logging.DEBUG):
        make(verbose=verbose, callback_every=20).fit(data.X, labels=data.known).resume(20)
    assert capfd.readouterr() == ("", "")
    assert {record.name for record in caplog.records} <= {"ctsne"}
    text = caplog.text
    for stage in ("neighbours: 34 for each of 300 points", "similarities: ", "map: 40 iterations"):
        assert (stage in text) == (verbose > 0)
    assert ("map: 60 iterations" in text) == (verbose > 0)
    assert text.count("iteration 20:") == text.count("iteration 60:") == (verbose > 1)


def test_verbose_and_callback_go_together(data: Synthetic, caplog: Any) -> None:
    model = make(verbose=2, callback=lambda iteration, *_: iteration == 20, callback_every=10)
    with caplog.at_level(logging.INFO, "ctsne"):
        model.fit(data.X, labels=data.known)
    assert model.n_iter_ == 20 and "iteration 20:" in caplog.text


def test_a_fit_leaves_logging_as_it_was(data: Synthetic, capfd: Any) -> None:
    log = logging.getLogger("ctsne")
    before = log.level, log.propagate, list(log.handlers), list(logging.getLogger().handlers)
    make(verbose=1).fit(data.X, labels=data.known)
    after = log.level, log.propagate, list(log.handlers), list(logging.getLogger().handlers)
    assert after == before
    # pytest's handlers take warnings only here, so the stages are written instead.
    assert "map: 40 iterations" in capfd.readouterr().err
