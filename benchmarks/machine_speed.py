"""Measure the machine: memory bandwidth with NumPy on threads, FFTs with SciPy."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.fft
from threadpoolctl import threadpool_limits

# Three arrays of a quarter of a gibibyte, far larger than any cache.
_LENGTH = 2**26
# Block size of the triad, so that its intermediate result stays in the cache.
_BLOCK = 2**17
_REPEATS = 5


def bandwidth(jobs: int) -> dict[str, float]:
    """Measure memory bandwidth in GB/s with `jobs` threads on separate parts of float32 arrays.

    ``triad`` is ``a = b + 3 c``, counted as STREAM does (two reads and a write); ``read`` is the
    dot product of two arrays.
    """
    b, c = (np.full(_LENGTH, value, np.float32) for value in (1.0, 2.0))
    a = np.zeros_like(b)
    parts = [slice(at * _LENGTH // jobs, (at + 1) * _LENGTH // jobs) for at in range(jobs)]

    def triad(part: slice) -> None:
        for begin in range(part.start, part.stop, _BLOCK):
            block = slice(begin, min(begin + _BLOCK, part.stop))
            np.multiply(c[block], np.float32(3), out=a[block])
            np.add(a[block], b[block], out=a[block])

    def read(part: slice) -> None:
        np.dot(b[part], c[part])

    # One BLAS thread for each of our threads.
    with threadpool_limits(1), ThreadPoolExecutor(jobs) as pool:

        def seconds(work: Callable[[slice], None]) -> float:
            return fastest(lambda: list(pool.map(work, parts)))

        return {
            "triad": 3 * b.nbytes / seconds(triad) / 1e9,
            "read": 2 * b.nbytes / seconds(read) / 1e9,
        }


def transforms(shape: tuple[int, ...], jobs: int) -> dict[str, float]:
    """Return the seconds of one real float32 FFT over a mesh and its inverse.

    ``whole`` transforms the whole mesh. ``pruned`` skips rows that a convolution does not need: it
    uses only the first half of every axis before and after.
    """
    whole = np.ones(shape, np.float32)
    half = np.ones((*(size // 2 for size in shape[:-1]), shape[-1]), np.float32)

    def both() -> None:
        spectrum = scipy.fft.rfftn(whole, workers=jobs)
        scipy.fft.irfftn(spectrum, s=shape, workers=jobs, overwrite_x=True)

    def pruned() -> None:
        spectrum = scipy.fft.rfft(half, axis=-1, workers=jobs)
        for axis in reversed(range(len(shape) - 1)):
            spectrum = scipy.fft.fft(
                spectrum, n=shape[axis], axis=axis, workers=jobs, overwrite_x=True
            )
        for axis in range(len(shape) - 1):
            spectrum = scipy.fft.ifft(spectrum, axis=axis, workers=jobs, overwrite_x=True)
            spectrum = spectrum[(slice(None),) * axis + (slice(shape[axis] // 2),)]
        scipy.fft.irfft(spectrum, n=shape[-1], axis=-1, workers=jobs, overwrite_x=True)

    return {"whole": fastest(both), "pruned": fastest(pruned)}


def fastest(work: Callable[[], object], repeats: int = _REPEATS) -> float:
    """Return the seconds of the fastest of several runs, after a warm-up."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)
