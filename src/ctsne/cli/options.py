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
from ctsne.methods import DEFAULT_METHOD, KNOBS, METHODS, is_used, users_of

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
        The same as in Python, except for the seed.
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
        "mixing", "--mixing", None, number, "SHARE",
        "how far to mix the label, from 0 to 1, as a share of what random labels would give; finds "
        "the strength that does it", main=True,
    ),
    Parameter(
        "strength", "--strength", None, None, "T",
        "instead of --mixing, for joint and balanced: from 0, nothing factored out, to 1 (default: "
        f"{METHODS['joint'].default:g} for joint, {METHODS['balanced'].default:g} for balanced); "
        "A=0.5 B=1 for each label A, B", main=True,
    ),
    Parameter(
        "method", "--method", DEFAULT_METHOD, one_of(*METHODS), "NAME",
        "joint (default), revised (the paper), balanced, original, or tsne (labels unused)",
        main=True,
    ),
    Parameter(
        "beta", "--beta", None, None, "B",
        "instead of --mixing, for revised and original: from 1, nothing factored out, down to "
        f"1e-30, in steps of a hundred (default: {METHODS['revised'].default:g} for revised, "
        f"{METHODS['original'].default:g} for original); A=1e-8 B=1e-2 for each label", main=True,
    ),
    Parameter(
        "align", "--align", "none", one_of("none", "mutual", "local", "mean", "auto"), "NAME",
        "in which space points of other labels are compared: none, the data as they are; mutual, "
        "each label shifted towards its counterparts; local, shifted differently from place to "
        "place; mean, label means removed; auto, the best fit of none, mutual and mean "
        "(default: none)", main=True,
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
        "odds", "--odds", None, None, "X",
        "how many times as hard points with the same label repel each other in the map as others, "
        "from 1 (off) up, beside any method; may be given for each label",
    ),
    Parameter(
        "beta_low", "--beta-low", None, None, "B",
        "the same as the paper says it: weight of pairs with different labels, from 1 (off) down",
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
        "and not labels)",
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
        "--align-rep", metavar="KEY",
        help="h5ad: a key of obsm in which points of other labels are compared, instead of "
        "--align: X_pca_harmony, say",
    )  # fmt: skip
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
    loud.add_argument("-q", "--quiet", action="store_true", help="print only errors and the result")
    loud.add_argument("--verbose", action="store_true", help="report every stage, memory and loss")
    group.add_argument("-h", "--help", action="help", help="show this text and end")


def option_name(flag: str) -> str:
    """Return what an option is called in settings and configuration files."""
    return flag.removeprefix("--").replace("-", "_")


def check_steering(options: argparse.Namespace) -> None:
    """Refuse options that the method ignores, or that contradict each other."""
    whole = {
        parameter.name: getattr(options, option_name(parameter.flag)) for parameter in PARAMETERS
    }
    for parameter in PARAMETERS:
        given = whole[parameter.name] != parameter.default
        if given and not is_used(parameter.name, whole):
            methods = users_of(parameter.name)
            if options.method in methods:
                raise ValueError(
                    f"{parameter.flag} has no effect with --method {options.method} and --odds or "
                    f"--beta-low; leave one of them out"
                )
            raise ValueError(
                f"{parameter.flag} is for {' and '.join(methods)}, and the method is "
                f"{options.method}: add --method {methods[0]}, or leave {parameter.flag} out"
            )
    if options.align_rep is not None and not is_used("align", whole):
        raise ValueError(
            f"--align-rep is for {' and '.join(users_of('align'))}, and the method is "
            f"{options.method}; leave it out"
        )
    if options.mixing is None:
        return
    if METHODS[options.method].knob is None:
        raise ValueError("--mixing needs a method that conditions; --method tsne does not")
    for name in KNOBS:
        if whole[name] is not None:
            raise ValueError(
                f"--mixing finds the {name} by itself: leave --{name} out, or --mixing"
            )


def title_of(method: str, value: Any) -> str:
    """Write a method and what steers it in a few words."""
    knob = METHODS[method].knob
    if knob is None or value is None:
        return METHODS[method].title
    if isinstance(value, Mapping):
        value = ", ".join(f"{label}={_short(each)}" for label, each in value.items())
    return (
        f"{METHODS[method].title}, {knob} {value:.4g}"
        if isinstance(value, float)
        else (f"{METHODS[method].title}, {knob} {value}")
    )


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
        raise ValueError(f"--init {path} is not a NumPy file of positions: {error}") from error


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
