"""The threads of the kernels: kept between calls, shared between callers, fresh after a fork."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

import numpy as np
import pytest
from numpy.typing import NDArray

from ctsne.layout.repulsion import Repulsion


def forces(seed: int = 0, n_jobs: int = 2) -> NDArray[np.float32]:
    """Forces by mesh of a map large enough for every thread to be called."""
    y = 20 * np.random.default_rng(seed).normal(size=(20_000, 2)).astype(np.float32)
    return Repulsion(len(y), exact=False, n_jobs=n_jobs)(y)[0]


def _send_forces(to: Connection) -> None:
    to.send_bytes(forces().tobytes())
    to.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    expected = forces()  # the parent's threads are there now, and are not in the child
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=_send_forces, args=(sender,))
    child.start()
    sender.close()
    assert receiver.poll(60), "the child is stuck"
    assert receiver.recv_bytes() == expected.tobytes()
    child.join(60)
    assert child.exitcode == 0
    assert np.array_equal(forces(), expected)


def test_many_callers_at_once() -> None:
    expected = [forces(seed, n_jobs=1) for seed in range(4)]
    with ThreadPoolExecutor(8) as callers:
        found = list(callers.map(lambda call: forces(call % 4, n_jobs=1 + call % 5), range(40)))
    for call, force in enumerate(found):
        assert np.array_equal(force, expected[call % 4])
