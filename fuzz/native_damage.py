"""Damages arguments and objects of the native module, for ``native.py``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

FLOATS = (
    np.nan,
    np.inf,
    -np.inf,
    0.0,
    -0.0,
    -1.0,
    1.0,
    0.5,
    1e-45,
    1e-38,
    1e-300,
    1e10,
    1e38,
    -1e38,
    3.4028235e38,
    1e300,
    -1e300,
)
INTS = (
    -1,
    0,
    1,
    2,
    3,
    7,
    16,
    1000,
    2**15,
    2**16,
    2**31 - 1,
    2**31,
    -(2**31),
    2**32,
    2**40,
    2**62,
    2**63 - 1,
    -(2**63),
    2**64,
)
DTYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u4", "u8", "?", "c8", "O", "S3", ">f4")
OBJECTS = (None, True, 3, 2.5, "text", b"bytes", [], (), {}, object(), np.float32(2), np.nan, range)


class Damage:
    """Alters one thing at a time; ``done`` says whether anything was altered.

    ``given`` are the arrays that objects were made from. If the process is ``sanitized``, no
    argument asks for more memory than a sanitizer grants, and arrays are aligned: others are read
    correctly on all processors that we build for, but reported.
    """

    def __init__(
        self, n: int, given: list[NDArray[Any]], rng: np.random.Generator, *, sanitized: bool
    ) -> None:
        self.done = False
        self._n = n
        self._given = given
        self._rng = rng
        self._sanitized = sanitized

    def _pick(self, things: Any) -> Any:
        return things[int(self._rng.integers(len(things)))]

    def object(self, owner: Any, other: Callable[[], tuple[Any, Any]]) -> Any:
        """Damage the object whose method is called."""
        self.done = True
        way = self._rng.integers(4)
        if way == 0:  # the memory it refers to changes
            for _ in range(int(self._rng.integers(1, 4))):
                if self._given:
                    array = self._pick(self._given)
                    self._spoil(array)
        elif way == 1:
            return type(owner).__new__(type(owner))
        elif way == 2:  # made again with other sizes, while others hold it
            with suppress(TypeError, ValueError, MemoryError):
                self._remake(owner, other)
        else:
            return other()[0]
        return owner

    def _remake(self, owner: Any, other: Callable[[], tuple[Any, Any]]) -> None:
        donor = other()[0]
        if hasattr(donor, "__setstate__"):
            owner.__setstate__(donor.__getstate__())
        else:
            owner.__init__(donor)

    def argument(self, value: Any, other: Callable[[], tuple[Any, dict[str, Any]]]) -> Any:
        """Damage an argument according to its type."""
        self.done = True
        if self._rng.random() < 0.08:
            return self._pick(OBJECTS)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, bool):
            return self._pick((not value, 2, -1, "yes", np.bool_(True)))
        if isinstance(value, int):
            return self._int(value)
        if isinstance(value, float):
            return self._pick((*FLOATS, -value, 1e6 * value, 10**400))
        if isinstance(value, tuple | list):
            return self._sequence(value, other)
        if value is None:
            return self._pick((self._given[0] if self._given else 1, 0, np.zeros(0, np.float32)))
        if type(value).__module__ != "ctsne._native":  # damaged before
            return value
        return self.object(value, lambda: (self._like(value, other()[1]), None))

    @staticmethod
    def _like(value: Any, arguments: dict[str, Any]) -> Any:
        """Return an object of the same type from another call."""
        state = arguments.get("state", ())
        return next(each for each in [*arguments.values(), *state] if isinstance(each, type(value)))

    def _int(self, value: int) -> Any:
        drawn = self._pick((*INTS, self._n - 1, self._n, self._n + 1, value + 1, -value, 1.5, 2.0))
        return 2**17 if self._sanitized and 2**17 < abs(drawn) < 2**31 - 1 else drawn

    def _sequence(
        self, value: tuple[Any, ...] | list[Any], other: Callable[[], tuple[Any, Any]]
    ) -> Any:
        items = list(value)
        way = self._rng.integers(4)
        if way == 0 or not items:
            return type(value)(items[:-1])
        if way == 1:
            return type(value)([*items, items[0]])
        if way == 2:
            return iter(items)
        at = int(self._rng.integers(len(items)))
        if isinstance(items[at], bool | float | np.ndarray) or not isinstance(items[at], int):
            items[at] = self.argument(items[at], other)
        else:
            items[at] = self._int(items[at])
            if self._sanitized and abs(items[at]) > 2**17:
                items[at] = 2**17
        return type(value)(items)

    def _spoil(self, array: NDArray[Any]) -> None:
        """Write odd values into an array, in place."""
        if not array.size or not array.flags.writeable:
            return
        where = self._rng.integers(array.size, size=int(self._rng.integers(1, 5)))
        if self._rng.random() < 0.1:
            where = np.arange(array.size)
        kind = array.dtype.kind
        with np.errstate(all="ignore"):
            if kind == "f":
                drawn = np.float64(self._pick(FLOATS))
            elif kind in "iu":
                fitting = (*INTS, self._n - 1, self._n, self._n + 1)
                limits = np.iinfo(array.dtype)
                drawn = self._pick([k for k in fitting if limits.min <= k <= limits.max])
            else:
                drawn = self._pick((0, 1))
            array.reshape(-1)[where] = array.dtype.type(drawn)

    def _array(self, value: NDArray[Any]) -> Any:
        rng, value = self._rng, np.asarray(value)
        if rng.random() < 0.5:
            altered = value.copy()
            self._spoil(altered)
            return altered
        ways: list[Callable[[], Any]] = [
            lambda: value[:-1].copy(),
            lambda: np.concatenate([value, value[:1]]),
            lambda: value[:0].copy(),
            lambda: value[::-1].copy(),
            lambda: value[::-1],
            lambda: rng.permutation(value),
            lambda: np.sort(value, axis=0),
            lambda: value[..., None].copy(),
            lambda: value.reshape(-1).copy(),
            lambda: value[..., :0].copy(),
            lambda: np.ascontiguousarray(value.T),
            lambda: np.asfortranarray(value),
            lambda: np.repeat(value, 2, axis=-1)[..., ::2],
            lambda: np.broadcast_to(value[:1], value.shape),
            lambda: value.copy() if self._sanitized else _unaligned(value),
            lambda: _read_only(value),
            lambda: value.astype(self._pick(DTYPES)),
            lambda: value.tolist(),
            lambda: memoryview(value),
            lambda: np.ma.masked_array(value),
            lambda: np.asmatrix(value) if value.ndim <= 2 else value,
            lambda: value.view(value.dtype.newbyteorder()),
            lambda: self._pick(self._given),  # possibly the same array twice
        ]
        with np.errstate(all="ignore"):
            return self._pick(ways)()


def _unaligned(value: NDArray[Any]) -> NDArray[Any]:
    raw = np.zeros(value.nbytes + 1, np.uint8)
    moved = raw[1:].view(value.dtype).reshape(value.shape)
    moved[...] = value
    return moved


def _read_only(value: NDArray[Any]) -> NDArray[Any]:
    copied = value.copy()
    copied.flags.writeable = False
    return copied
