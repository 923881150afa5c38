"""Names of columns: chosen by patterns, and long lists of them cut short."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

from ctsne._core.messages import unknown

__all__ = ["folded", "matching", "runs"]

_SHOWN = 12
_NUMBERED = re.compile(r"(.*?)(\d+)")
# Fewer names than this are not shortened.
_RUN = 3


def matching(patterns: Sequence[str], known: Sequence[str], *, where: str) -> list[str]:
    """Return the names that are meant, in the order of the file; ``*`` and ``?`` stand for any.

    Examples
    --------
    >>> from ctsne._io.column_names import matching
    >>> matching(["PC*", "age"], ["age", "PC1", "PC2", "sex"], where="cells.csv")
    ['age', 'PC1', 'PC2']
    """
    chosen: set[str] = set()
    there = set(known)
    for pattern in patterns:
        found = [pattern] if pattern in there else fnmatch.filter(known, pattern)
        if not found:
            raise ValueError(unknown(pattern, known, what="column", where=where))
        chosen.update(found)
    return [name for name in known if name in chosen]


def runs(names: Sequence[str]) -> list[list[str]]:
    """Part names into runs that count up, and single ones, in their order.

    Examples
    --------
    >>> from ctsne._io.column_names import runs
    >>> runs(["PC1", "PC2", "PC3", "age", "x1", "x2"])
    [['PC1', 'PC2', 'PC3'], ['age'], ['x1'], ['x2']]
    """
    found: list[list[str]] = []
    before = None
    for name in names:
        match = _NUMBERED.fullmatch(name)
        place = None if match is None else (match[1], int(match[2]))
        if before is not None and place == (before[0], before[1] + 1):
            found[-1].append(name)
        else:
            found.append([name])
        before = place
    return [
        part for run in found for part in ([run] if len(run) >= _RUN else [[name] for name in run])
    ]


def folded(names: Sequence[str]) -> str:
    """Write names as a short list, a run that counts up by its ends.

    Examples
    --------
    >>> from ctsne._io.column_names import folded
    >>> folded(["PC1", "PC2", "PC3", "age"])
    'PC1 ... PC3, age'
    """
    parts = [run[0] if len(run) == 1 else f"{run[0]} ... {run[-1]}" for run in runs(names)]
    shown = [part if len(part) <= 60 else f"{part[:57]}..." for part in parts[:_SHOWN]]
    if len(parts) > _SHOWN:
        shown.append(f"... ({len(names)} in all)")
    return ", ".join(shown)
