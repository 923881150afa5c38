"""What the command line takes for a number, a seed, a start: from text, or a message that helps."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any

from ctsne.cli.parser import close_to

__all__ = [
    "STARTS",
    "PerLabel",
    "components",
    "jobs",
    "number",
    "number_or_auto",
    "one_of",
    "per_label",
    "seed",
    "start",
    "whole",
]

STARTS = ("pca", "random", "spectral")


def number(text: str) -> float:
    """Read a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"must be a number, got {text!r}")
    return value


def whole(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None


def seed(text: str) -> int:
    """Read a seed."""
    value = whole(text)
    if not 0 <= value < 2**32:
        raise argparse.ArgumentTypeError(f"must be from 0 to {2**32 - 1}, got {text}")
    return value


def jobs(text: str) -> int:
    """Read a number of threads."""
    value = whole(text)
    if value < -1 or value == 0:
        raise argparse.ArgumentTypeError(f"must be 1 or more, or -1 for all, got {text}")
    return value


def one_of(*choices: str) -> Callable[[str], str]:
    """Make a reader of one of several words."""

    def choice(text: str) -> str:
        if text not in choices:
            hint = close_to(text, choices)
            raise argparse.ArgumentTypeError(
                f"must be one of {', '.join(choices)}; got {text!r}{hint}"
            )
        return text

    return choice


def number_or_auto(text: str) -> float | str:
    """Read a number, or the word that leaves it to the program."""
    if text == "auto":
        return text
    try:
        return number(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"must be a number or auto, got {text!r}") from None


def start(text: str) -> str:
    """Read the name of a start, or of a file with one."""
    if text in STARTS or text.endswith(".npy"):
        return text
    raise argparse.ArgumentTypeError(
        f"must be one of {', '.join(STARTS)}, or a file of positions that ends in .npy; "
        f"got {text!r}{close_to(text, STARTS)}"
    )


def components(text: str) -> int | str:
    """Read a number of principal components, or none of them."""
    if text == "none":
        return text
    try:
        value = whole(text)
    except argparse.ArgumentTypeError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 up, or none; got {text!r}")
    return value


def per_label(texts: Sequence[str]) -> float | dict[str, float]:
    """Read one number for all labels, or ``label=number`` for each label."""
    pairs = [text.rpartition("=") for text in texts]
    if len(texts) == 1 and not pairs[0][1]:
        return number(texts[0])
    values = {}
    for text, (label, equals, value) in zip(texts, pairs, strict=True):
        if not equals or not label:
            raise argparse.ArgumentTypeError(
                f"must be one number, or label=number for every label, got {text!r}"
            )
        if label in values:
            raise argparse.ArgumentTypeError(f"names the label {label!r} twice")
        values[label] = number(value)
    return values


class PerLabel(argparse.Action):
    """Stores what :func:`per_label` reads."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Read the texts after the option."""
        try:
            setattr(namespace, self.dest, per_label(values))
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None
