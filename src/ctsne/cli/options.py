"""Options that several commands share, and every parameter of the estimator as one of them."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne.cli.parser import Parser
from ctsne.cli.values import (
    STARTS,
    PerLabel,
    components,
    jobs,
    number,
    number_or_auto,
    one_of,
    seed,
    start,
    whole,
)

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE

__all__ = [
    "PARAMETERS",
    "Parameter",
    "add_input",
    "add_messages",
    "add_parameters",
    "check_steering",
    "make_estimator",
    "settings_of",
    "spelled",
    "title_of",
]

METHODS = ("revised", "joint", "balanced", "original", "tsne")
# What sets the strength of a method.
STEERED_BY = {"joint": "strength", "balanced": "strength", "revised": "beta", "original": "beta"}
# Options that change nothing in what is written, or that are told apart from the settings.
UNRECORDED = (
    "command", "run", "config", "help", "jobs", "json", "quiet", "verbose",
    "input", "output", "plot", "keep",
)  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """A parameter of the estimator as an option.

    Attributes
    ----------
    name : str
        What the estimator calls it.
    flag : str
        What the command line calls it.
    default : object
        The same as in Python, but for the seed.
    read : callable or None
        Makes a value of a text; None where there is one for each label.
    metavar, help : str
        Shown in the help.
    main : bool
        Whether most users should know it.
    """

    name: str
    flag: str
    default: Any
    read: Callable[[str], Any] | None
    metavar: str
    help: str
    main: bool = False


PARAMETERS = (
    Parameter(
        "method", "--method", "revised", one_of(*METHODS), "NAME",
        "revised (default; --beta), joint or balanced (--strength), original (--beta), or tsne "
        "(labels unused)", main=True,
    ),
    Parameter(
        "strength", "--strength", 1.0, None, "T",
        "for joint and balanced: from 0, nothing factored out, to 1, all that can be (default: 1); "
        "auto chooses it (see --mixing); A=0.5 B=1 for each label A, B", main=True,
    ),
    Parameter(
        "beta", "--beta", 1e-4, None, "B",
        "for revised and original: from 1, nothing factored out, down to 1e-30; go in steps of "
        "a hundred (default: 1e-4); auto, and A=1e-8 B=1e-2, as above", main=True,
    ),
    Parameter(
        "mixing", "--mixing", 0.5, number, "SHARE",
        "what auto aims at: mixing of the label as a share of that of random labels, 0 to 1 "
        "(default: 0.5)", main=True,
    ),
    Parameter(
        "perplexity", "--perplexity", 30.0, number, "U",
        "roughly the number of neighbours that count for a point (default: 30)", main=True,
    ),
    Parameter(
        "random_state", "--seed", 0, seed, "N",
        "of all that is random, such as --init random; the same seed gives the same map "
        "(default: 0)", main=True,
    ),
    Parameter(
        "n_jobs", "--jobs", -1, jobs, "N",
        "threads; the map does not depend on it (default: -1, all)", main=True,
    ),
    Parameter(
        "n_components", "--dimensions", 2, whole, "N", "of the map: 1, 2 or 3 (default: 2)",
    ),
    Parameter(
        "bandwidth", "--bandwidth", "r", one_of("r", "p"), "r|p",
        "for revised: the perplexity holds for similarities after conditioning, r (default), or "
        "before, p",
    ),
    Parameter(
        "beta_low", "--beta-low", None, None, "B",
        "condition the map too, beside any method: weight of pairs with different labels, from 1 "
        "(off) down; may be given for each label",
    ),
    Parameter(
        "metric", "--metric", "euclidean", one_of("euclidean", "cosine", "precomputed"), "NAME",
        "euclidean (default), cosine, or precomputed: the input holds distances",
    ),
    Parameter(
        "recall", "--recall", 0.99, number, "SHARE",
        "share of the true neighbours that is enough beyond 30,000 points; 1 finds all "
        "(default: 0.99)",
    ),
    Parameter(
        "init", "--init", "pca", start, "START",
        "pca (default), random, spectral, or a .npy file of positions",
    ),
    Parameter("n_iter", "--n-iter", 750, whole, "N", "iterations, all of them (default: 750)"),
    Parameter(
        "early_exaggeration", "--early-exaggeration", 12.0, number, "X",
        "factor on the attraction at first (default: 12)",
    ),
    Parameter(
        "early_exaggeration_iter", "--early-exaggeration-iter", 250, whole, "N",
        "number of those iterations (default: 250)",
    ),
    Parameter(
        "exaggeration", "--exaggeration", 1.0, number, "X",
        "factor on the attraction afterwards (default: 1)",
    ),
    Parameter(
        "learning_rate", "--learning-rate", "auto", number_or_auto, "X",
        "size of the steps (default: auto, from the number of points)",
    ),
    Parameter(
        "dof", "--dof", 1.0, number, "X",
        "degrees of freedom of the map's kernel; below 1 shows finer clusters (default: 1)",
    ),
)  # fmt: skip


def add_parameters(parser: Parser, *, main: Any, leave_out: Iterable[str] = ()) -> None:
    """Add the estimator's parameters: those that most users need to a group, then the others."""
    advanced = parser.add_argument_group("advanced")
    for parameter in PARAMETERS:
        if parameter.name in leave_out:
            continue
        group = main if parameter.main else advanced
        kind: dict[str, Any] = (
            {"nargs": "+", "action": PerLabel}
            if parameter.read is None
            else {"type": parameter.read}
        )
        group.add_argument(
            parameter.flag, metavar=parameter.metavar, default=parameter.default,
            help=parameter.help, **kind,
        )  # fmt: skip


def add_input(parser: Parser) -> None:
    """Add what says how the input is to be read."""
    group = parser.add_argument_group("input")
    group.add_argument(
        "--features", metavar="NAME", nargs="+",
        help='columns to make the map of, also by pattern: "PC*" (default: all that are numbers '
        "and no labels)",
    )  # fmt: skip
    group.add_argument(
        "--label-file", metavar="FILE",
        help="a table with the labels, if they are not in INPUT; joined by row names, or in order",
    )  # fmt: skip
    group.add_argument(
        "--use-rep", metavar="KEY", help="h5ad: a key of obsm, or X (default: X_pca, else X)"
    )
    group.add_argument("--layer", metavar="KEY", help="h5ad: a layer instead")
    group.add_argument(
        "--pca", metavar="N", type=components,
        help="reduce the features to N principal components first, or none (default: to 50 if "
        "there are more than 100)",
    )  # fmt: skip


def add_messages(parser: Parser, *, json: bool = True, config: bool = True) -> None:
    """Add what all commands have."""
    group = parser.add_argument_group("help and messages")
    if config:
        group.add_argument(
            "--config", metavar="FILE",
            help="a TOML file with options, such as perplexity = 50; those given here win",
        )  # fmt: skip
    if json:
        group.add_argument(
            "--json", action="store_true", help="the result as one JSON object, for programs"
        )
    loud = group.add_mutually_exclusive_group()
    loud.add_argument(
        "-q", "--quiet", action="store_true", help="no messages but errors, and the result"
    )
    loud.add_argument("--verbose", action="store_true", help="tell every stage, memory and loss")
    group.add_argument("-h", "--help", action="help", help="show this text and end")


def option_name(flag: str) -> str:
    """Return what an option is called in settings and configuration files."""
    return flag.removeprefix("--").replace("-", "_")


def check_steering(options: argparse.Namespace) -> None:
    """Refuse an option that the method does not heed: another method was meant."""
    heeded = {
        name: [method for method in METHODS if STEERED_BY.get(method) == name]
        for name in ("strength", "beta")
    } | {"bandwidth": ["revised"]}
    for parameter in PARAMETERS:
        methods = heeded.get(parameter.name, METHODS)
        given = getattr(options, option_name(parameter.flag)) != parameter.default
        if given and options.method not in methods:
            raise ValueError(
                f"{parameter.flag} is for {' and '.join(methods)}, and the method is "
                f"{options.method}: add --method {methods[0]}, or leave {parameter.flag} out"
            )


def title_of(settings: Mapping[str, Any]) -> str:
    """Write method and strength in a few words."""
    steering = STEERED_BY.get(settings["method"])
    if steering is None:
        return "t-SNE"
    value = settings[steering]
    if isinstance(value, Mapping):
        value = ", ".join(f"{label}={_short(each)}" for label, each in value.items())
    return f"{settings['method']}, {steering} {_short(value)}"


def make_estimator(settings: Mapping[str, Any], **more: Any) -> ConditionalTSNE:
    """Make the estimator that the options ask for; what they do not name has its default."""
    from ctsne.estimator import ConditionalTSNE

    given = {
        parameter.name: settings.get(option_name(parameter.flag), parameter.default)
        for parameter in PARAMETERS
    }
    if given["init"] not in STARTS:
        given["init"] = _read_start(given["init"])
    return ConditionalTSNE(**{**given, **more})


def _read_start(path: str) -> Any:
    import numpy as np

    try:
        with Path(path).open("rb") as file:
            return np.load(file, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"--init {path} is no NumPy file of positions: {error}") from error


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return all that shapes the result, by the names of the options."""
    return {name: value for name, value in vars(options).items() if name not in UNRECORDED}


def spelled(
    parser: Parser, first: Sequence[str], values: Mapping[str, Any], *, always: Sequence[str] = ()
) -> str:
    """Write a command as it would be typed, with those options that differ from their default."""
    words = ["ctsne", *first]
    for action in parser.options():
        value = values.get(action.dest, action.default)
        if value == action.default and action.dest not in always:
            continue
        flag = action.option_strings[0]
        if action.nargs == 0:
            words.append(flag)
        elif isinstance(value, Mapping):
            words += [flag, *(f"{key}={_short(each)}" for key, each in value.items())]
        elif isinstance(value, list | tuple):
            words += [flag, *map(_short, value)]
        else:
            words += [flag, _short(value)]
    return shlex.join(words)


def _short(value: object) -> str:
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)
