"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]

# A model may be called by scikit-learn, which is no more the user's own than we are.
_PASSED = ("ctsne", "sklearn")


def warn(message: str) -> None:
    """Warn of something at the innermost line outside of this package.

    So it is right from whichever function the user came here. Python 3.12 could do it by itself.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _PASSED:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
