"""Options that several commands share, and every parameter of the estimator as one of them."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.choices import ALIGN_CHOICES, BANDWIDTHS, METRICS, STARTS
from ctsne.cli.values import PerLabel, jobs, number, one_of, or_word, seed, start, whole
from ctsne.methods import DEFAULT_METHOD, KNOBS, METHODS, is_used, users_of

if TYPE_CHECKING:
    from ctsne.cli.main import Parser
    from ctsne.estimator import ConditionalTSNE

__all__ = [
    "PARAMETERS", "UNRECORDED", "Parameter", "add_input", "add_jobs", "add_key", "add_labels",
    "add_messages",
    "add_parameters", "check_steering", "make_estimator", "option_name", "settings_of", "short",
    "spelled",
]  # fmt: skip

# Options that do not shape the result, or that the settings record elsewhere.
UNRECORDED = (
    "command", "run", "config", "help", "jobs", "json", "quiet", "verbose",
    "input", "output", "plot", "keep",
)  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """A parameter of the estimator as an option.

    ``read`` turns text into a value; it is None for parameters that take one value for each label.
    Those marked ``main`` are listed first in the help. Defaults are those of the estimator, except
    that the seed is fixed.
    """

    name: str
    flag: str
    default: Any
    read: Callable[[str], Any] | None
    metavar: str
    help: str
    main: bool = False


def _defaults(knob: str) -> str:
    """Return the defaults of a knob, for the help."""
    return ", ".join(f"{each.default:g} for {each.name}" for each in METHODS.values()
                     if each.knob == knob)  # fmt: skip


PARAMETERS = (
    Parameter(
        "mixing", "--mixing", None, number, "SHARE",
        "how far to mix the label: 0 is not at all, 1 is as much as random labels; finds the "
        "strength or beta that reaches it", main=True,
    ),
    Parameter(
        "strength", "--strength", None, None, "T",
        "for joint and balanced, instead of --mixing: from 0 (nothing factored out) to 1 "
        f"(default: {_defaults('strength')}); A=0.5 B=1 sets it for labels A and B", main=True,
    ),
    Parameter(
        "method", "--method", DEFAULT_METHOD, one_of(*METHODS), "NAME",
        "joint (default), revised (the paper's), balanced, original, or tsne (ignores labels)",
        main=True,
    ),
    Parameter(
        "beta", "--beta", None, None, "B",
        "for revised and original, instead of --mixing: from 1 (nothing factored out) down to "
        f"1e-30 (default: {_defaults('beta')}); A=1e-8 B=1e-2 sets it for labels A and B",
        main=True,
    ),
    Parameter(
        "align", "--align", "none", one_of(*ALIGN_CHOICES), "NAME",
        "how to compare points with different labels: none, in the data as given (default); "
        "mutual, after shifting each label towards its counterparts; local, with shifts that vary "
        "from place to place; mean, after removing label means; auto, the best of none, mutual "
        "and mean", main=True,
    ),
    Parameter(
        "perplexity", "--perplexity", 30.0, number, "U",
        "roughly the number of neighbours that count for each point (default: 30)", main=True,
    ),
    Parameter(
        "random_state", "--seed", 0, seed, "N",
        "random seed; the same seed gives the same map (default: 0)", main=True,
    ),
    Parameter(
        "n_jobs", "--jobs", -1, jobs, "N",
        "number of threads; does not change the map (default: -1, all)", main=True,
    ),
    Parameter(
        "n_components", "--dimensions", 2, whole, "N",
        "dimensions of the map: 1, 2 or 3 (default: 2)",
    ),
    Parameter(
        "pca", "--pca", "auto", or_word(whole, "a whole number", "auto", "none"),
        "N",
        "principal components to reduce the features to; auto is 50 if there are more than 50 "
        "features, none keeps the features as they are (default: auto)",
    ),
    Parameter(
        "bandwidth", "--bandwidth", "r", one_of(*BANDWIDTHS), "r|p",
        "for revised: apply the perplexity to similarities after conditioning, r (default), or "
        "before, p",
    ),
    Parameter(
        "odds", "--odds", None, None, "X",
        "also condition the map: points with the same label repel each other X times as strongly "
        "as others, from 1 (off) up; works with every method, and per label as A=3 B=10",
    ),
    Parameter(
        "beta_low", "--beta-low", None, None, "B",
        "the same in the paper's terms: weight of pairs with different labels, from 1 (off) down",
    ),
    Parameter(
        "metric", "--metric", "euclidean", one_of(*METRICS), "NAME",
        "euclidean (default), cosine, or precomputed if INPUT holds distances",
    ),
    Parameter(
        "recall", "--recall", 0.99, number, "SHARE",
        "share of the true neighbours to find; the search is approximate above 30,000 points, 1 "
        "makes it exact (default: 0.99)",
    ),
    Parameter(
        "init", "--init", "pca", start, "START",
        "initial positions: pca (default), random, spectral, or a .npy file",
    ),
    Parameter("n_iter", "--n-iter", 750, whole, "N", "total number of iterations (default: 750)"),
    Parameter(
        "early_exaggeration", "--early-exaggeration", 12.0, number, "X",
        "factor on the attraction in the first iterations (default: 12)",
    ),
    Parameter(
        "early_exaggeration_iter", "--early-exaggeration-iter", 250, whole, "N",
        "number of these first iterations (default: 250)",
    ),
    Parameter(
        "exaggeration", "--exaggeration", 1.0, number, "X",
        "factor on the attraction afterwards (default: 1)",
    ),
    Parameter(
        "learning_rate", "--learning-rate", "auto", or_word(number, "a number", "auto"), "X",
        "step size (default: auto, from the number of points)",
    ),
    Parameter(
        "dof", "--dof", 1.0, number, "X",
        "degrees of freedom of the kernel in the map; below 1 separates finer clusters "
        "(default: 1)",
    ),
)  # fmt: skip


def add_parameters(parser: Parser, *, main: Any, leave_out: Iterable[str] = ()) -> None:
    """Add the estimator's parameters, the main ones to a group of their own."""
    advanced = parser.add_argument_group("advanced options")
    for each in PARAMETERS:
        if each.name in leave_out:
            continue
        kind: dict[str, Any] = {"type": each.read}
        if each.read is None:
            kind = {"nargs": "+", "action": PerLabel}
        group = main if each.main else advanced
        group.add_argument(
            each.flag, metavar=each.metavar, default=each.default, help=each.help, **kind
        )


def add_labels(group: Any, *, required: bool = False) -> None:
    """Add the label to factor out, and the label to look for."""
    group.add_argument(
        "--labels", metavar="COLUMN", nargs="+", required=required,
        help="known label to factor out; several columns are combined",
    )  # fmt: skip
    group.add_argument(
        "--other", metavar="COLUMN",
        help="label you hope to see in the map; it is measured, and not used as a feature",
    )  # fmt: skip


def add_input(parser: Parser) -> None:
    """Add the options that say how to read the input."""
    group = parser.add_argument_group("reading INPUT")
    group.add_argument(
        "--features", metavar="NAME", nargs="+",
        help='columns to embed, by name or pattern such as "PC*" (default: all numeric columns '
        "that are not named otherwise)",
    )  # fmt: skip
    group.add_argument(
        "--index", metavar="COLUMN",
        help="column of a table that holds the names of the points, such as barcodes; it is kept "
        "with the map and not used as a feature",
    )  # fmt: skip
    group.add_argument(
        "--label-file", metavar="FILE",
        help="table with the labels, if INPUT does not have them; its rows must be in the order "
        "of INPUT unless --join-on is given",
    )  # fmt: skip
    group.add_argument(
        "--join-on", metavar="COLUMN",
        help="column by which to join the label file to INPUT, such as cell; index joins by row "
        "names, order by position even if identifiers differ",
    )  # fmt: skip
    group.add_argument(
        "--use-rep", metavar="KEY", help="h5ad: key in obsm, or X (default: X_pca, else X)"
    )
    group.add_argument("--layer", metavar="KEY", help="h5ad: layer to use instead")
    group.add_argument(
        "--align-rep", metavar="KEY",
        help="h5ad: key in obsm of the representation in which to compare points with different "
        "labels, such as X_pca_harmony; replaces --align",
    )  # fmt: skip


def add_jobs(group: Any) -> None:
    """Add the number of threads."""
    group.add_argument("--jobs", metavar="N", type=jobs, default=-1,
                       help="number of threads (default: -1, all)")  # fmt: skip


def add_key(group: Any) -> None:
    """Add the name of a map in an .h5ad file."""
    group.add_argument("--key", metavar="KEY", default="ctsne",
                       help="h5ad: name of the map (default: ctsne)")  # fmt: skip


def add_messages(parser: Parser, *, json: bool = True, config: bool = True) -> None:
    """Add the options that every command has."""
    group = parser.add_argument_group("help and messages")
    if config:
        group.add_argument(
            "--config", metavar="FILE",
            help="read options from a TOML file, such as perplexity = 50; options given here take "
            "precedence",
        )  # fmt: skip
    if json:
        group.add_argument(
            "--json", action="store_true", help="print the result as one JSON object"
        )
    loud = group.add_mutually_exclusive_group()
    loud.add_argument("-q", "--quiet", action="store_true", help="print only errors and the result")
    loud.add_argument("--verbose", action="store_true", help="report every stage, memory and loss")
    group.add_argument("-h", "--help", action="help", help="show this help and exit")


def option_name(flag: str) -> str:
    """Return the name of an option in settings and configuration files."""
    return flag.removeprefix("--").replace("-", "_")


def check_steering(options: argparse.Namespace) -> None:
    """Refuse options that the method ignores, or that contradict each other."""
    given = {each.name: getattr(options, option_name(each.flag)) for each in PARAMETERS}
    flags = {each.name: each.flag for each in PARAMETERS if given[each.name] != each.default}
    if options.align_rep is not None:
        flags["align"] = "--align-rep"
    for name, flag in flags.items():
        if is_used(name, given):
            continue
        methods = users_of(name)
        if options.method in methods:
            raise ValueError(
                f"{flag} has no effect with --method {options.method} and --odds or --beta-low; "
                "leave one of them out"
            )
        users = " and ".join(filter(None, [", ".join(methods[:-1]), methods[-1]]))
        raise ValueError(
            f"{flag} is for {users}, but the method is {options.method}: add --method "
            f"{methods[0]}, or leave {flag} out"
        )
    if options.mixing is None:
        return
    if METHODS[options.method].knob is None:
        raise ValueError("--mixing needs a method that uses labels; --method tsne ignores them")
    for name in KNOBS:
        if given[name] is not None:
            raise ValueError(f"--mixing finds the {name} by itself; leave out --mixing or --{name}")


def make_estimator(settings: Mapping[str, Any], **more: Any) -> ConditionalTSNE:
    """Return the estimator for these settings, with defaults for those that are not named."""
    from ctsne.estimator import ConditionalTSNE

    given = {each.name: settings.get(option_name(each.flag), each.default) for each in PARAMETERS}
    if given["init"] not in STARTS:
        given["init"] = _read_start(given["init"])
    if given["pca"] == "none":
        given["pca"] = None
    return ConditionalTSNE(**{**given, **more})


def _read_start(path: str) -> Any:
    import numpy as np

    try:
        with Path(path).open("rb") as file:
            return np.load(file, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"--init {path} is not a NumPy file with positions: {error}") from error


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return everything that shapes the result, by option name."""
    return {name: value for name, value in vars(options).items() if name not in UNRECORDED}


def spelled(
    parser: Parser, first: Sequence[str], values: Mapping[str, Any], *, always: Sequence[str] = ()
) -> str:
    """Write a command as one would type it, with all options that differ from their default."""
    words = ["ctsne", *first]
    for action in parser.options():
        value = values.get(action.dest, action.default)
        if value == action.default and action.dest not in always:
            continue
        words.append(action.option_strings[0])
        if isinstance(value, Mapping):
            words += [f"{key}={short(each)}" for key, each in value.items()]
        elif action.nargs != 0:
            words += map(short, value if isinstance(value, list | tuple) else [value])
    return shlex.join(words)


def short(value: object) -> str:
    """Write a value with as few digits as give it back."""
    if isinstance(value, float):
        text = f"{value:g}"
        return text if float(text) == value else repr(value)
    return str(value)
