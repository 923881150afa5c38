"""Options that several commands share, and every parameter of the estimator as one of them."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctsne._core.vocabulary import ALIGN_CHOICES, BANDWIDTHS, METRICS, STARTS
from ctsne.cli.values import PerLabel, Texts, jobs, npy, number, one_of, seed, whole
from ctsne.methods import DEFAULT_METHOD, KNOBS, METHODS, is_used, users_of

if TYPE_CHECKING:
    from ctsne.cli.main import Parser
    from ctsne.estimator import ConditionalTSNE

# Options that do not shape the result, or that the settings record elsewhere.
UNRECORDED = (
    "command",
    "run",
    "config",
    "help",
    "jobs",
    "json",
    "quiet",
    "verbose",
    "input",
    "output",
    "plot",
    "page",
    "keep",
    "model",
    "model_file",
)


@dataclass(frozen=True)
class Parameter:
    """A parameter of the estimator as an option; only the seed has a different default."""

    name: str
    flag: str
    metavar: str
    read: Any
    default: Any
    help: str

    @property
    def dest(self) -> str:
        """The name of the option in settings and configuration files."""
        return self.flag.removeprefix("--").replace("-", "_")


def _defaults(knob: str) -> str:
    """Return the defaults of a knob, for the help."""
    users = [each for each in METHODS.values() if each.knob == knob]
    return ", ".join(f"{each.default:g} for {each.name}" for each in users)


_MAIN = (
    Parameter(
        "mixing",
        "--mixing",
        "SHARE...",
        PerLabel,
        None,
        "how far to mix the label: 0 is not at all, 1 is as much as random labels; finds the "
        "strength or beta that reaches it; with several columns, donor=0.7 batch=0.5 sets it for "
        "each",
    ),
    Parameter(
        "strength",
        "--strength",
        "T...",
        PerLabel,
        None,
        "for joint and balanced, instead of --mixing: from 0 (nothing factored out) to 1 "
        f"(default: {_defaults('strength')}); A=0.5 B=1 sets it for labels A and B, or for columns "
        "A and B if there are several",
    ),
    Parameter(
        "method",
        "--method",
        "NAME",
        one_of(*METHODS),
        DEFAULT_METHOD,
        "joint, revised (the paper's), balanced, original, or tsne, which ignores labels",
    ),
    Parameter(
        "beta",
        "--beta",
        "B...",
        PerLabel,
        None,
        "for revised and original, instead of --mixing: from 1 (nothing factored out) down to "
        f"1e-30 (default: {_defaults('beta')}); A=1e-8 B=1e-2 sets it for labels A and B",
    ),
    Parameter(
        "align",
        "--align",
        "NAME",
        one_of(*ALIGN_CHOICES),
        "none",
        "how to compare points with different labels: none, in the data as given; mutual, after "
        "shifting each label towards its counterparts; local, with shifts that vary from place to "
        "place; mean, after removing label means; auto, the best of none, mutual and mean",
    ),
    Parameter(
        "perplexity",
        "--perplexity",
        "U",
        number,
        30.0,
        "roughly the number of neighbours that count for each point",
    ),
    Parameter("random_state", "--seed", "N", seed, 0, "for --init random; pca has no seed"),
    Parameter(
        "n_jobs", "--jobs", "N", jobs, -1, "number of threads, -1 for all; does not change the map"
    ),
)
_ADVANCED = (
    Parameter("n_components", "--dimensions", "N", whole, 2, "dimensions of the map: 1, 2 or 3"),
    Parameter(
        "pca",
        "--pca",
        "N",
        one_of("auto", "none", read=whole, or_="a whole number"),
        "auto",
        "principal components to reduce the features to; auto is 50 if there are more than 50 "
        "features, none keeps the features as they are",
    ),
    Parameter(
        "bandwidth",
        "--bandwidth",
        "r|p",
        one_of(*BANDWIDTHS),
        "r",
        "for revised: apply the perplexity to similarities after conditioning, r, or before, p",
    ),
    Parameter(
        "odds",
        "--odds",
        "X...",
        PerLabel,
        None,
        "also condition the map: points with the same label repel each other X times as strongly "
        "as others, from 1 (off) up; works with every method, and per label as A=3 B=10",
    ),
    Parameter(
        "beta_low",
        "--beta-low",
        "B...",
        PerLabel,
        None,
        "the same in the paper's terms: weight of pairs with different labels, from 1 (off) down",
    ),
    Parameter(
        "metric",
        "--metric",
        "NAME",
        one_of(*METRICS),
        "euclidean",
        "euclidean, cosine, or precomputed if INPUT holds distances",
    ),
    Parameter(
        "recall",
        "--recall",
        "SHARE",
        number,
        0.99,
        "share of the true neighbours to find; the search is approximate above 30,000 points, 1 "
        "makes it exact",
    ),
    Parameter(
        "init",
        "--init",
        "START",
        one_of(*STARTS, read=npy, or_="a .npy file"),
        "pca",
        "initial positions: pca, random, spectral, or a .npy file",
    ),
    Parameter("n_iter", "--n-iter", "N", whole, 750, "total number of iterations"),
    Parameter(
        "early_exaggeration",
        "--early-exaggeration",
        "X",
        number,
        12.0,
        "factor on the attraction in the first iterations",
    ),
    Parameter(
        "early_exaggeration_iter",
        "--early-exaggeration-iter",
        "N",
        whole,
        250,
        "number of these first iterations",
    ),
    Parameter(
        "exaggeration", "--exaggeration", "X", number, 1.0, "factor on the attraction afterwards"
    ),
    Parameter(
        "learning_rate",
        "--learning-rate",
        "X",
        one_of("auto", read=number, or_="a number"),
        "auto",
        "step size; auto sets it from the number of points",
    ),
    Parameter(
        "dof",
        "--dof",
        "X",
        number,
        1.0,
        "degrees of freedom of the map's kernel; below 1 separates finer clusters",
    ),
)
PARAMETERS = _MAIN + _ADVANCED


def option(
    group: Any, spec: str, help: str, *, read: Any = None, default: Any = None, **more: Any
) -> None:
    """Add an option, written as in the help: COLUMN... for several values, no value for a switch.

    A ``spec`` without a dash is the argument without a name. The help ends with the default.
    """
    *flags, last = spec.split()
    if last.startswith("-"):
        group.add_argument(*flags, last, action="store_true", help=help)
        return
    if default is not None:
        values = default if isinstance(default, list) else [default]
        help = f"{help} (default: {' '.join(map(short, values))})"
    if last.endswith("..."):
        more["nargs"] = "+"
    together = isinstance(read, type) and issubclass(read, Texts)
    more["action" if together else "type"] = read
    group.add_argument(
        *(flags or ["input"]), metavar=last.removesuffix("..."), help=help, default=default, **more
    )


def add_labels(group: Any, *, required: bool = False) -> None:
    """Add the label to factor out, and the label to look for."""
    option(
        group,
        "--labels COLUMN...",
        "known label to factor out, or up to three of them, each with a strength of its own",
        required=required,
    )
    option(
        group,
        "--combine",
        "treat several --labels as one: each combination of their values is a label",
    )
    option(group, "--other COLUMN", "label you hope to see; measured, and not used as a feature")


def add_data(parser: Parser, main: Any, *, leave_out: Iterable[str] = ()) -> None:
    """Add how to read INPUT, and the estimator's parameters, the most needed to group ``main``."""
    add_reading(parser)
    advanced = parser.add_argument_group("advanced options")
    for each in PARAMETERS:
        if each.name not in leave_out:
            option(
                main if each in _MAIN else advanced,
                f"{each.flag} {each.metavar}",
                each.help,
                read=each.read,
                default=each.default,
            )


def add_reading(parser: Parser, *, of_model: bool = False) -> None:
    """Add how to read INPUT: the data of a map, or new points for that of a model."""
    group = parser.add_argument_group("reading INPUT")
    chosen = "all numeric columns that are not named otherwise"
    part = "X_pca, else the highly variable genes of X, else X"
    aligned = "such as X_pca_harmony; replaces --align"
    if of_model:
        chosen, part = "those of the model, by name", "as for the model"
        aligned = "if the model was made with one (default: the same key)"
    option(
        group,
        "--features NAME...",
        f'columns to embed, by name or pattern such as "PC*" (default: {chosen})',
    )
    option(group, "--index COLUMN", "column with the names of the points; not used as a feature")
    option(
        group,
        "--label-file FILE",
        "table with the labels, if INPUT does not have them; its rows must be in the order of "
        "INPUT unless --join-on is given",
    )
    option(
        group,
        "--join-on COLUMN",
        "column by which to join the label file to INPUT, such as cell; index joins by row "
        "names, order by position even if identifiers differ",
    )
    option(group, "--use-rep KEY", f"h5ad: key in obsm, or X (default: {part})")
    option(group, "--layer KEY", "h5ad: layer to use instead")
    option(
        group,
        "--align-rep KEY",
        f"h5ad: representation in obsm in which to compare points with different labels, {aligned}",
    )


def add_jobs(group: Any) -> None:
    """Add the number of threads."""
    option(group, "--jobs N", "number of threads, -1 for all", read=jobs, default=-1)


def add_key(group: Any) -> None:
    """Add the name of a map in an .h5ad file."""
    option(group, "--key KEY", "h5ad: name of the map", default="ctsne")


def add_messages(parser: Parser, *, json: bool = True, config: bool = True) -> None:
    """Add the options that every command has."""
    group = parser.add_argument_group("help and messages")
    if config:
        option(
            group,
            "--config FILE",
            "read options from a TOML file, with lines such as "
            "quiet = true; options given here take precedence",
        )
    if json:
        option(group, "--json", "print the result as one JSON object")
    loud = group.add_mutually_exclusive_group()
    option(loud, "-q --quiet", "print only errors and the result")
    option(loud, "--verbose", "report every stage, memory and loss")
    group.add_argument("-h", "--help", action="help", help="show this help and exit")


def check_steering(options: argparse.Namespace) -> None:
    """Refuse options that the method ignores, or that contradict each other."""
    method = options.method
    given = {each.name: getattr(options, each.dest) for each in PARAMETERS}
    flags = {each.name: each.flag for each in PARAMETERS if given[each.name] != each.default}
    if options.align_rep is not None:
        flags["align"] = "--align-rep"
    for name, flag in flags.items():
        if is_used(name, given):
            continue
        methods = users_of(name)
        *more, last = methods
        if method in methods:
            both = f"--method {method} and --odds or --beta-low"
            raise ValueError(f"{flag} has no effect with {both}; leave one of them out")
        users = f"{', '.join(more)} and {last}" if more else last
        hint = f"add --method {methods[0]}, or leave {flag} out"
        raise ValueError(f"{flag} is for {users}, but the method is {method}: {hint}")
    if options.mixing is None:
        return
    if METHODS[method].knob is None:
        raise ValueError("--mixing needs a method that uses labels; --method tsne ignores them")
    for name in KNOBS:
        if given[name] is not None:
            raise ValueError(f"--mixing finds the {name} by itself; leave out --mixing or --{name}")


def as_typed(message: object) -> str:
    """Write parameters of the estimator in a message as the options that one types."""
    flags = {each.name: each.flag for each in PARAMETERS}
    pattern = rf"(?<![\w.-])({'|'.join(flags)})=(?:\"([^\"]*)\"|'([^']*)'|([\w.+-]*\w))"
    return re.sub(
        pattern, lambda found: f"{flags[found[1]]} {found[2] or found[3] or found[4]}", str(message)
    )


def make_estimator(settings: Mapping[str, Any], **more: Any) -> ConditionalTSNE:
    """Return the estimator for these settings, with defaults for those that are not named."""
    from ctsne.estimator import ConditionalTSNE
    from ctsne.io import check_input
    from ctsne.io.arrays import read_npy

    given = {each.name: settings.get(each.dest, each.default) for each in PARAMETERS}
    path = given["init"]
    if path not in STARTS:
        given["init"] = read_npy(check_input(path, (".npy",)))
    if given["pca"] == "none":
        given["pca"] = None
    return ConditionalTSNE(**{**given, **more})


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
            words += [f"{key}={_joined(each)}" for key, each in value.items()]
        elif action.nargs != 0:
            words += map(short, value if isinstance(value, list | tuple) else [value])
    return shlex.join(words)


def _joined(value: object) -> str:
    return ",".join(map(short, value if isinstance(value, list) else [value]))


def short(value: object) -> str:
    """Write a value with as few digits as give it back."""
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{value:g}"
    return str(value)
