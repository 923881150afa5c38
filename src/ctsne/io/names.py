"""Names in messages: the right one suggested for a wrong one, long lists cut short."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Iterable, Sequence

__all__ = ["folded", "listed", "matching", "runs", "unknown"]

# Close matches are looked for among this many names: difflib is slow.
_SEARCHED = 2000
_SHOWN = 12
_NUMBERED = re.compile(r"(.*?)(\d+)")
# Fewer names than this are no run.
_RUN = 3


def listed(names: Iterable[object], *, most: int = _SHOWN) -> str:
    """Write names as a list that stays readable however many there are."""
    texts = [repr(name) for name in names]
    if not texts:
        return "(none)"
    shown = [text if len(text) <= 60 else f"{text[:57]}..." for text in texts[:most]]
    if len(texts) > most:
        shown.append(f"... ({len(texts)} in all)")
    return ", ".join(shown)


def unknown(name: object, known: Sequence[str], *, what: str, where: str) -> str:
    """Say that a name is not there, which one may have been meant, and which there are.

    Examples
    --------
    >>> from ctsne.io.names import unknown
    >>> unknown("bacth", ["batch", "donor"], what="column", where="cells.csv")
    "no column 'bacth' in cells.csv; did you mean 'batch'? There are 'batch', 'donor'"
    """
    text = f"no {what} {name!r:.60} in {where}"
    parts = [part.strip() for part in str(name).split(",")]
    if len(parts) > 1 and set(parts) <= set(known):
        return f"{text}; several names stand apart, without commas: {' '.join(parts)}"
    folded: dict[str, str] = {}
    for candidate in known[:_SEARCHED]:
        folded.setdefault(candidate.casefold(), candidate)
    close = difflib.get_close_matches(str(name).casefold(), folded, n=1)
    if close:
        text += f"; did you mean {folded[close[0]]!r}?"
        return f"{text} There are {listed(known)}" if len(known) > 1 else text
    return f"{text}; there are {listed(known)}" if known else f"{text}; there are none"


def matching(patterns: Sequence[str], known: Sequence[str], *, where: str) -> list[str]:
    """Return the names that are meant, in the order of the file; ``*`` and ``?`` stand for any.

    Examples
    --------
    >>> from ctsne.io.names import matching
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
    >>> from ctsne.io.names import runs
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
    >>> from ctsne.io.names import folded
    >>> folded(["PC1", "PC2", "PC3", "age"])
    'PC1 ... PC3, age'
    """
    parts = [run[0] if len(run) == 1 else f"{run[0]} ... {run[-1]}" for run in runs(names)]
    shown = [part if len(part) <= 60 else f"{part[:57]}..." for part in parts[:_SHOWN]]
    if len(parts) > _SHOWN:
        shown.append(f"... ({len(names)} in all)")
    return ", ".join(shown)
