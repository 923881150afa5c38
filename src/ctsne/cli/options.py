"""Options of the commands: how values are read, and every parameter of the estimator as one."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctsne._core import vocabulary
from ctsne._core.messages import closest
from ctsne._core.vocabulary import ALIGN_CHOICES, BANDWIDTHS, MEASURED_POINTS, METRICS, STARTS
from ctsne.methods import DEFAULT_METHOD, METHODS, is_used, users_of

if TYPE_CHECKING:
    from ctsne.cli.main import Parser
    from ctsne.estimator import ConditionalTSNE

# Options that do not shape the result, or that the record of an output holds elsewhere.
UNRECORDED = (
    *("command", "help", "jobs", "json", "quiet", "verbose", "input", "output", "plot", "page"),
    *("color", "palette", "title", "keep", "model", "model_file", "force"),
)


def suggested(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean ...?"`` with a word to type as it is, or nothing."""
    close = closest(name, known)
    return f"; did you mean {close[0]}?" if close else ""


def _reader(kind: type, words: str, fits: Callable[[Any], bool]) -> Any:
    def value(text: str) -> Any:
        with contextlib.suppress(ValueError):
            if fits(found := kind(text)):
                return found
        raise ArgumentTypeError(f"must be {words}, got {text!r}")

    return value


number = _reader(float, "a number", math.isfinite)
whole = _reader(int, "a whole number", lambda _: True)
seed = _reader(int, f"a whole number from 0 to {2**32 - 1}", lambda x: 0 <= x < 2**32)
npy = _reader(str, "a .npy file", lambda text: text.endswith(".npy"))
dots_per_inch = _reader(int, "a whole number from 30 to 2400", lambda x: 30 <= x <= 2400)
informative = _reader(int, "a whole number from 0 to 200", lambda x: 0 <= x <= 200)
jobs = _reader(int, "a number of threads from 1 up, or -1 for all", lambda x: x == -1 or x > 0)


def one_of(*words: str, read: Callable[[str], Any] | None = None, or_: str = "") -> Any:
    """Return a reader that accepts one of several words, or what ``read`` accepts."""
    expected = ", ".join([*words, f"or {or_}"] if or_ else words)

    def value(text: str) -> Any:
        if text in words:
            return text
        with contextlib.suppress(ArgumentTypeError):
            if read is not None:
                return read(text)
        hint = suggested(text, words)
        raise ArgumentTypeError(f"must be one of {expected}; got {text!r}{hint}")

    return value


def per_label(texts: Sequence[str]) -> float | dict[str, float]:
    """Read one number for all labels, or ``label=number`` for each label or column."""
    if len(texts) == 1 and "=" not in texts[0]:
        return float(number(texts[0]))
    return _by_name(texts, number, "one number, or name=number for each label or column")


def per_column(texts: Sequence[str]) -> list[float] | dict[str, list[float]]:
    """Read numbers for all label columns, or ``column=number,number`` for each column."""
    if not any("=" in text for text in texts):
        return [number(text) for text in texts]
    expected = "numbers, or column=number,... for each column"
    return _by_name(texts, lambda text: [*map(number, text.split(","))], expected)


def _by_name(texts: Sequence[str], read: Callable[[str], Any], expected: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        if not name:
            raise ArgumentTypeError(f"must be {expected}, got {' '.join(texts)!r}")
        if name in values:
            raise ArgumentTypeError(f"names {name!r} twice")
        values[name] = read(value)
    return values


_TOGETHER = (per_label, per_column)  # readers of all words after an option together


class _Together(argparse.Action):
    def __init__(self, *args: Any, read: Callable[[Sequence[str]], Any], **more: Any) -> None:
        super().__init__(*args, **more)
        self.read = read

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        try:
            setattr(namespace, self.dest, self.read(values))
        except ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None


def words_of(value: Any) -> list[str]:
    """Return a value as the words that one types after its option."""
    if isinstance(value, Mapping):
        return [f"{name}={','.join(words_of(part))}" for name, part in value.items()]
    return [_word(part) for part in (value if isinstance(value, list | tuple) else [value])]


def _word(value: object) -> str:
    """Write a number or text with as few digits as give it back."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ArgumentTypeError(f"must be one number or text, got {value!r}")
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def check_value(action: argparse.Action, value: Any) -> Any:
    """Return a stored value as the option would have it, or raise ``ArgumentTypeError``."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise ArgumentTypeError(f"must be true or false, got {value!r}")
        return value
    together = action if isinstance(action, _Together) else None
    several = isinstance(value, list | tuple)
    if (several and action.nargs != "+") or (isinstance(value, Mapping) and not together):
        raise ArgumentTypeError(f"must be one number or text, got {value!r}")
    words = words_of(value)
    if not words:
        raise ArgumentTypeError("must have at least one value, got none")
    if together is not None:
        return together.read(words)
    read: Any = action.type or str
    values = [read(word) for word in words]
    return values if action.nargs == "+" else values[0]


@dataclass(frozen=True)
class Parameter:
    """A parameter of the estimator as an option; only the seed has a different default."""

    name: str
    spec: str  # the option as the help shows it
    read: Any
    default: Any = None

    @property
    def flag(self) -> str:
        """The name of the option, with dashes."""
        return self.spec.split()[0]

    @property
    def dest(self) -> str:
        """The name of the option in the parsed options."""
        return self.flag.removeprefix("--").replace("-", "_")


_MAIN = (
    Parameter("mixing", "--mixing SHARE...", per_label),
    Parameter("strength", "--strength T...", per_label),
    Parameter("method", "--method NAME", one_of(*METHODS), DEFAULT_METHOD),
    Parameter("beta", "--beta B...", per_label),
    Parameter("align", "--align NAME", one_of(*ALIGN_CHOICES), None),
    Parameter("perplexity", "--perplexity U", number, 30.0),
    Parameter("random_state", "--seed N", seed, 0),
    Parameter("n_jobs", "--jobs N", jobs, -1),
)
_PCA = one_of("auto", "none", read=whole, or_="a whole number")
_STEP = one_of("auto", read=number, or_="a number")
_ADVANCED = (
    Parameter("n_components", "--dimensions N", whole, 2),
    Parameter("pca", "--pca N", _PCA, "auto"),
    Parameter("bandwidth", "--bandwidth r|p", one_of(*BANDWIDTHS), "r"),
    Parameter("odds", "--odds X...", per_label),
    Parameter("beta_low", "--beta-low B...", per_label),
    Parameter("numbers_period", "--numbers-period P...", per_label),
    Parameter("metric", "--metric NAME", one_of(*METRICS), "euclidean"),
    Parameter("recall", "--recall SHARE", number, 0.99),
    Parameter("init", "--init START", one_of(*STARTS, read=npy, or_="a .npy file"), "pca"),
    Parameter("n_iter", "--n-iter N", whole, 750),
    Parameter("early_exaggeration", "--early-exaggeration X", number, 12.0),
    Parameter("early_exaggeration_iter", "--early-exaggeration-iter N", whole, 250),
    Parameter("exaggeration", "--exaggeration X", number, 1.0),
    Parameter("learning_rate", "--learning-rate X", _STEP, "auto"),
    Parameter("dof", "--dof X", number, 1.0),
)
PARAMETERS = _MAIN + _ADVANCED
# Parameters that a sweep varies, or has for its suggestion.
SWEPT = ("method", "strength", "beta", "mixing")


def _defaults(knob: str) -> str:
    users = [method for method in METHODS.values() if method.knob == knob]
    return ", ".join(f"{method.default:g} for {method.name}" for method in users)


_TEXTS = vocabulary.read_table("ctsne.cli", "options.toml")
_WORDS = {
    "strengths": _defaults("strength"),
    "betas": _defaults("beta"),
    "alignment": f"{METHODS[DEFAULT_METHOD].align} for {DEFAULT_METHOD}",
}


def option(
    group: Any, spec: str, help: str, *, read: Any = None, default: Any = None, **more: Any
) -> None:
    """Add an option, written as in the help: COLUMN... for several values, none for a switch."""
    # A ``spec`` without a dash is the argument without a name. The help ends with the default.
    *flags, last = spec.split()
    if last.startswith("-"):
        group.add_argument(*flags, last, action="store_true", help=help)
        return
    if default is not None:
        help = f"{help} (default: {' '.join(words_of(default))})"
    if last.endswith("..."):
        more["nargs"] = "+"
    more |= {"action": _Together, "read": read} if read in _TOGETHER else {"type": read}
    group.add_argument(
        *(flags or ["input"]), metavar=last.removesuffix("..."), help=help, default=default, **more
    )


def add_table(group: Any, table: str, words: Mapping[str, Any] | None = None, **how: Any) -> None:
    """Add the options of a table of options.toml; ``how`` says how some are read, by name."""
    for spec, text in _TEXTS[table].items():
        name = spec.partition("--")[2].split(" ")[0].replace("-", "_")
        option(group, spec, text.format(**(words or {})), **how.get(name, {}))


def add_labels(group: Any) -> None:
    """Add the labels and numbers to factor out, and the label to look for."""
    add_table(group, "labels")


def add_shown(group: Any) -> None:
    """Add the features of a page."""
    add_table(group, "shown", informative={"read": informative, "default": 200})


def add_force(group: Any) -> None:
    """Add the option to replace any file; outputs of ctsne are always replaced."""
    option(group, "--force", "replace outputs even if ctsne did not write them")


def add_palette(group: Any) -> None:
    """Add the colours of labels."""
    text = "colours of labels: a .json file that a page saved, or a colour map of matplotlib"
    option(group, "--palette COLORS", text)


def add_outputs(group: Any, table: str) -> None:
    """Add the files that hold a map or show it."""
    option(group, "-o --output OUTPUT", "file to write", required=True)
    add_force(group)
    add_table(group, table)
    add_palette(group)
    add_key(group, "prefix of new columns; h5ad: map in obsm[X_KEY]")


def add_data(parser: Parser, main: Any, *, leave_out: Iterable[str] = ()) -> None:
    """Add how to read INPUT, and the estimator's parameters, the most needed to group ``main``."""
    add_reading(parser)
    advanced = parser.add_argument_group("advanced options")
    for each in PARAMETERS:
        if each.name not in leave_out:
            group = main if each in _MAIN else advanced
            text = _TEXTS["parameters"][each.name].format(**_WORDS)
            option(group, each.spec, text, read=each.read, default=each.default)


def add_reading(parser: Parser, *, of_model: bool = False) -> None:
    """Add how to read INPUT: the data of a map, or new points for the map of a model."""
    words = {
        "chosen": "all numeric columns that are not named otherwise",
        "part": "X_pca, else the highly variable genes of X, else X",
        "aligned": "such as X_pca_harmony; replaces --align",
    }
    if of_model:
        words = {"chosen": "those of the model, by name", "part": "as for the model"}
        words["aligned"] = "if the model was made with one (default: the same key)"
    add_table(parser.add_argument_group("reading INPUT"), "reading", words)


def add_jobs(group: Any) -> None:
    """Add the number of threads."""
    option(group, "--jobs N", "number of threads, -1 for all", read=jobs, default=-1)


def add_sample(group: Any) -> None:
    """Add the number of points to measure."""
    text = "measure at most N points; more are slower and more precise"
    option(group, "--sample N", text, read=whole, default=MEASURED_POINTS)


def add_key(group: Any, help: str = "h5ad: name of the map") -> None:
    """Add the name of a map."""
    option(group, "--key KEY", help, default="ctsne")


def add_messages(parser: Parser, *, json: bool = True) -> None:
    """Add the options that every command has."""
    group = parser.add_argument_group("help and messages")
    if json:
        option(group, "--json", "print the result as one JSON object")
    loud = group.add_mutually_exclusive_group()
    option(loud, "-q --quiet", "print only errors and the result")
    option(loud, "--verbose", "report every stage, memory and loss")
    group.add_argument("-h", "--help", action="help", help="show this help and exit")


def check_knobs(options: argparse.Namespace) -> None:
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
        if method in methods:
            both = f"--method {method} and --odds or --beta-low"
            raise ValueError(f"{flag} has no effect with {both}; leave one of them out")
        *more, last = methods
        users = f"{', '.join(more)} and {last}" if more else last
        hint = f"add --method {methods[0]}, or leave {flag} out"
        raise ValueError(f"{flag} is for {users}, but the method is {method}: {hint}")


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
    from ctsne.io.read import read_npy

    given = {each.name: settings.get(each.dest, each.default) for each in PARAMETERS}
    if given["init"] not in STARTS:
        given["init"] = read_npy(check_input(given["init"], (".npy",)))
    if given["pca"] == "none":
        given["pca"] = None
    return ConditionalTSNE(**{**given, **more})


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return everything that shapes the result, by option name."""
    return {name: value for name, value in vars(options).items() if name not in UNRECORDED}
