"""Helpers for messages: warnings at the user's line, lists of names, typos, missing modules."""

import difflib
import importlib
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from numbers import Real
from typing import Any

_PASSED = ("ctsne", "sklearn")  # scikit-learn may call a model, so its lines are skipped too
# Close matches are looked for among this many names, because difflib is slow.
_SEARCHED = 2000
_SHOWN = 12


class CtsneWarning(UserWarning):
    """Any warning of this package."""


class InterruptedWarning(CtsneWarning):
    """Ctrl-C ended the work early; what was finished is kept."""


class CounterpartsWarning(CtsneWarning):
    """Many points have no counterpart under other labels."""


class NoLabelsWarning(CtsneWarning):
    """New points are placed without labels in a map that factors labels out."""


class FarPointsWarning(CtsneWarning):
    """New points are far from every point of the map."""


class FeaturesWarning(CtsneWarning):
    """Features of a table that were probably included by mistake."""


class DominantFeatureWarning(FeaturesWarning):
    """A single feature dominates the map."""


def warn(message: str, category: type[Warning] = CtsneWarning) -> None:
    """Warn at the innermost line outside this package, whichever function the user called."""
    # Python 3.12 has skip_file_prefixes for this.
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _PASSED:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def load(module: str, *, extra: str = "cli") -> Any:
    """Import an optional module, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.split(".")[0]
        how = f'pip install "ctsne[{extra}]"'
        raise ImportError(f"{name} is needed, but cannot be imported ({error}): {how}") from error


def shown(value: object, most: int = 60) -> str:
    """Write any value in one short line."""
    try:
        text = repr(value)
    except Exception:  # such as an integer of more digits than Python writes
        return f"a value of type {type(value).__name__}"
    return " ".join(text.split())[:most]


def label_text(value: object) -> str:
    """Return a label as text, whole numbers without a fraction."""
    # Whole numbers become floats as soon as a column has a gap; 3.0 is still the label 3.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    try:
        return str(value)
    except Exception:  # an object that cannot be written
        return shown(value)


def value_text(value: Any) -> str:
    """Write the value of a parameter in a few characters; of an array, its shape."""
    if isinstance(value, Mapping):
        return ", ".join(f"{label}={value_text(number)}" for label, number in value.items())
    if getattr(value, "shape", ()):
        return f"array of shape {value.shape}"
    number = isinstance(value, Real) and not isinstance(value, bool)
    return f"{value:g}" if number else str(value)


def size_text(size: float) -> str:
    """Return a number of bytes as it is shown."""
    return f"{size / 1e6:.1f} MB" if size > 1e6 else f"{size / 1e3:.0f} kB"


def quoted(names: Iterable[object], *, most: int = _SHOWN) -> str:
    """Write names as a list that stays readable for any number of them."""
    texts = [shown(name, 1000) for name in names]
    if not texts:
        return "(none)"
    some = [text if len(text) <= 60 else f"{text[:57]}..." for text in texts[:most]]
    if len(texts) > most:
        some.append(f"... ({len(texts)} in all)")
    return ", ".join(some)


def closest(name: object, known: Iterable[object], *, most: int = 1) -> list[str]:
    """Return the known names closest to a misspelt one, the closest first."""
    folded: dict[str, str] = {}
    for text in map(str, islice(known, _SEARCHED)):
        folded.setdefault(text.casefold(), text)
    found = difflib.get_close_matches(str(name).casefold(), folded, n=most)
    return [folded[text] for text in found]


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return ``"; did you mean ...?"``, or an empty string if no known name is close."""
    close = closest(name, known)
    return f"; did you mean {close[0]!r}?" if close else ""


def unknown(name: object, known: Sequence[str], *, what: str, where: str) -> str:
    """Explain that a name does not exist, with a suggestion and the known names."""
    text = f"no {what} {shown(name)} in {where}"
    parts = [part.strip() for part in str(name).split(",")]
    if len(parts) > 1 and set(parts) <= set(known):
        return f"{text}; separate names with spaces, not commas: {' '.join(parts)}"
    hint = did_you_mean(name, known)
    if hint:
        return f"{text}{hint} There are {_ends(known)}" if len(known) > 1 else f"{text}{hint}"
    return f"{text}; there are {_ends(known) if known else 'none'}"


def _ends(names: Sequence[str]) -> str:
    """Write the first and the last names: labels come before or after many features."""
    if len(names) <= _SHOWN:
        return quoted(names)
    half = _SHOWN // 2
    return f"{quoted(names[:half])}, ..., {quoted(names[-half:])} ({len(names)} in all)"
