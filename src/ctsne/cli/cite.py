"""``ctsne cite``: how to cite the methods, and a paragraph about how a map was made."""

from __future__ import annotations

import textwrap
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ctsne._core.vocabulary import NO_EFFECT, read_table
from ctsne.cli.console import Console
from ctsne.cli.main import Parser
from ctsne.cli.options import add_key, add_messages, option
from ctsne.methods import METHODS, is_used

if TYPE_CHECKING:
    from ctsne.storage.record import Record

USAGE = "[MAP] [--bibtex] [options]"
HELP = "how to cite, or a Methods paragraph about how a map was made"


class Reference(NamedTuple):
    """One work to cite. CITATION.cff holds the same facts, and a test compares them."""

    cited: str  # in running text
    text: str  # in a list of references
    bibtex: str


_TABLE = read_table("ctsne.cli", "references.toml")
_WORDS = _TABLE.pop("words")
REVISED, ORIGINAL, TSNE, _SOFTWARE = (Reference(**facts) for facts in _TABLE.values())


def software(number: str) -> Reference:
    """Return ctsne itself, in the version that was used."""
    return Reference(*(text.replace("VERSION", number) for text in _SOFTWARE))


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("made", metavar="MAP", nargs="?", help="a map to describe")
    option(main, "--bibtex", "print the references as BibTeX, and nothing else")
    add_key(main)
    add_messages(parser)


def run(options: Namespace, console: Console) -> None:
    """Print the paragraph and the references."""
    text, references = None, [REVISED, ORIGINAL, software(version("ctsne"))]
    head = ["If ctsne helps your work, please cite:"]
    last = ["ctsne cite MAP describes how a map was made, for a Methods section."]
    if options.made is not None:
        text, references = describe(options.made, key=options.key)
        head, last = [text, "References"], []
    entries = "\n\n".join(work.bibtex for work in references)
    content = {
        "command": "cite",
        "output": options.made,
        "text": text,
        "references": [work.text for work in references],
        "bibtex": entries,
    }
    parts = [*head, *(work.text for work in references), *last]
    wrapper = textwrap.TextWrapper(79, break_long_words=False, break_on_hyphens=False)
    console.result(entries if options.bibtex else "\n\n".join(map(wrapper.fill, parts)), content)


_VERSIONS = ("ctsne", "python", "numpy", "scipy", "scikit-learn")
# Parameters that have a sentence of their own, or no effect on a result.
_TOLD = (
    *("method", "strength", "beta", "mixing", "align", "perplexity", "random_state", *NO_EFFECT),
    *("n_components", "pca", "metric", "init", "n_iter", "recall"),
    *("early_exaggeration", "early_exaggeration_iter"),
)
_LONGEST = 60


def describe(path: str, *, key: str = "ctsne") -> tuple[str, list[Reference]]:
    """Return a paragraph about a map, and the references it needs."""
    from ctsne.estimator import load
    from ctsne.io import read_map
    from ctsne.io.paths import MODEL_SUFFIX
    from ctsne.storage.record import read_record

    source = Path(path)
    record = read_record(source, key=key)
    if record.command in ("sweep", "transform"):
        raise ValueError(f"{source} is not a map of ctsne embed or its model; name one of these")
    is_model = source.suffix == MODEL_SUFFIX
    n = len(load(source).embedding_ if is_model else read_map(source, key=key).embedding)
    cited, sentences = _fitted(record, source, n)
    known = {name: _cut(number) for name, number in record.versions.items()}
    versions = _and(f"{name} {known[name]}" for name in _VERSIONS if name in known)
    last = f"This was done with {versions or 'ctsne [version]'}."
    return " ".join([*sentences, last]), [*cited, software(known.get("ctsne", "[version]"))]


def _fitted(record: Record, source: Path, n: int) -> tuple[list[Reference], list[str]]:
    """Return the references and the sentences about a map that was optimised."""
    from ctsne._core.components import n_reduced
    from ctsne.settings import DEFAULTS

    settings = {**DEFAULTS, **record.parameters}
    if str(settings["method"]) not in METHODS:
        raise ValueError(f"{source} was made with an unknown method, {settings['method']!r:.40}")
    method, below = METHODS[settings["method"]], (settings["odds"], settings["beta_low"])
    if method.knob not in record.results and below == (None, None):  # nothing to factor out
        method = METHODS["tsne"]
    name, cited = "conditional t-SNE", [ORIGINAL, *[REVISED] * method.splits_neighbors]
    if method.knob is None:
        name, cited = "t-SNE", [TSNE]
    texts = {name: _text(value) for name, value in settings.items()}
    works = "; ".join(work.cited for work in cited)
    sentences = [
        f"A map of {n:,} points in {texts['n_components']} dimensions was computed by {name} "
        f"({works}).",
        *([] if method.knob is None else _conditioning(record, settings)),
    ]
    if settings["metric"] == "precomputed":
        sentences.append("Distances were given [describe how they were computed].")
    else:
        features, k = "[describe them]", settings["pca"]
        if record.source is not None:
            features = f"{_cut(record.source)} {features}"
            k = n_reduced((n, record.source.n_used), k) if k == "auto" else k
        done = "" if k is None else f", reduced to {_text(k)} principal components"
        if k == "auto":
            done = " [if more than 50: reduced to 50 principal components]"
        sentences.append(f"The features were {features}{done}.")
    recall = record.results.get("recall", 1)
    search = "exactly" if recall == 1 else f"with a recall of {_text(recall)}"
    start = _WORDS["starts"].get(texts["init"], "given positions [describe them]")
    seed = f" (seed {texts['random_state']})" if texts["init"] == "random" else ""
    sentences += [
        f"Distances were {texts['metric']} and the perplexity was {texts['perplexity']}; nearest "
        f"neighbours were searched {search}.",
        f"The map started from {start}{seed} and was optimised in {texts['n_iter']} iterations, "
        f"the first {texts['early_exaggeration_iter']} with the attraction exaggerated by a factor "
        f"of {texts['early_exaggeration']}.",
    ]
    others = [name for name in settings if name not in _TOLD]
    changed = [name for name in others if settings[name] != DEFAULTS.get(name)]
    if changed:
        differ = _and(f"{name} {texts[name]}" for name in changed)
        sentences.append(f"Further settings that differ from the defaults of ctsne: {differ}.")
    return cited, sentences


def _conditioning(record: Record, settings: Mapping[str, Any]) -> Iterator[str]:
    method, several = METHODS[settings["method"]], len(record.labels) > 1
    names = _and(f'"{_cut(name)}"' for name in record.labels) or "[name]"
    what = f"label{'s' * several} {names} {'were' if several else 'was'}"
    if several and record.options.get("combine"):
        what = f"label of all combinations of {names} was"
    knob = record.results.get(method.knob or "")
    scale = ", on a scale from 0 to 1" if method.knob == "strength" else ""
    value = "" if knob is None else f" ({method.knob} {_text(knob)}{scale})"
    yield (
        f"The known {what} factored out with the method {method.name}, which conditions "
        f"{_WORDS['conditioned'][method.name]} on the label{value}."
    )
    if settings["mixing"] is not None:
        target = _text(settings["mixing"])
        yield f"The {method.knob} was found by a search for {target} of random mixing."
    rep = _cut(record.options.get("align_rep", "[describe it]"))
    found = str(record.results.get("alignment"))
    aligned = _WORDS["aligned"].get(found)
    if aligned is not None and is_used("align", settings):
        yield f"Points with different labels were compared {aligned.format(rep)}."


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return _and(f'{_text(part)} for "{_cut(name)}"' for name, part in value.items())
    return f"{value:.3g}" if isinstance(value, float) else _cut(value)


def _cut(text: object) -> str:
    whole = " ".join(str(text).split())
    return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 3]}..."


def _and(texts: Iterable[str]) -> str:
    *first, last = [*texts] or [""]
    return f"{', '.join(first)} and {last}" if first else last
