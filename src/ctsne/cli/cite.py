"""``ctsne cite``: how to cite the methods, and a paragraph about how an output was made."""

from __future__ import annotations

import argparse
import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.vocabulary import NEIGHBORHOOD
from ctsne.cli.console import Console
from ctsne.cli.files import label_names, model_columns
from ctsne.cli.main import Parser
from ctsne.cli.options import PARAMETERS, add_key, add_messages, option
from ctsne.cli.rerun import read_made, stored_parameters
from ctsne.methods import METHODS, is_used

if TYPE_CHECKING:
    from ctsne.labels import Column
    from ctsne.storage.record import Record

USAGE = "[OUTPUT] [--bibtex] [options]"
HELP = "how to cite, or a Methods paragraph about how an output was made"
DESCRIPTION = """\
Show how to cite ctsne and the papers behind it.

Given an output, print a paragraph for the Methods section of a paper, with the
settings stored in that output, and the references it needs. What no record
holds is left to you, in [brackets]."""

EPILOG = """\
OUTPUT is a map of ctsne embed, a model, a sweep folder, or points placed with
ctsne transform.

examples:
  ctsne cite
  ctsne cite map.csv
  ctsne cite model.ctsne --bibtex"""


@dataclass(frozen=True)
class Reference:
    """One work to cite. CITATION.cff holds the same facts, and a test compares them."""

    bibtex: str

    @property
    def fields(self) -> dict[str, str]:
        """The fields of the entry, as people write them."""
        text = re.sub(r"\{\\'(.)\}", "\\1\u0301", " ".join(self.bibtex.split()))
        plain = unicodedata.normalize("NFC", text).replace("--", "-")
        return dict(re.findall(r"(\w+) = \{+(.*?)\}+, ", plain))

    @property
    def cited(self) -> str:
        """The reference in running text."""
        first, *others = (name.split(", ")[0] for name in self.fields["author"].split(" and "))
        more = "" if not others else f" and {others[0]}" if len(others) == 1 else " et al."
        return f"{first}{more} {self.fields['year']}"

    @property
    def text(self) -> str:
        """The reference in a list of references."""
        fields = self.fields
        names = [" ".join(name.split(", ")[::-1]) for name in fields["author"].split(" and ")]
        series = [fields[name] for name in ("journal", "booktitle", "series") if name in fields]
        place = f"{', '.join(series)} {{volume}}, {{pages}} ({{year}})" if series else "{note}"
        link = " https://doi.org/{doi}" if "doi" in fields else ""
        return f"{', '.join(names)}. {{title}}. {place}.{link}".format(**fields)


REVISED = Reference("""\
@inproceedings{heiter2023revised,
  author    = {Heiter, Edith and Kang, Bo and Seurinck, Ruth and Lijffijt, Jefrey},
  title     = {{Revised Conditional t-SNE: Looking Beyond the Nearest Neighbors}},
  booktitle = {Advances in Intelligent Data Analysis XXI (IDA 2023)},
  series    = {Lecture Notes in Computer Science},
  volume    = {13876},
  pages     = {169--181},
  publisher = {Springer},
  year      = {2023},
  doi       = {10.1007/978-3-031-30047-9_14},
}""")
ORIGINAL = Reference(r"""@article{kang2021conditional,
  author    = {Kang, Bo and Garc{\'i}a Garc{\'i}a, Dar{\'i}o and Lijffijt, Jefrey and
               Santos-Rodr{\'i}guez, Ra{\'u}l and De Bie, Tijl},
  title     = {{Conditional t-SNE: more informative t-SNE embeddings}},
  journal   = {Machine Learning},
  volume    = {110},
  pages     = {2905--2940},
  year      = {2021},
  doi       = {10.1007/s10994-020-05917-0},
}""")
TSNE = Reference("""\
@article{vandermaaten2008visualizing,
  author    = {van der Maaten, Laurens and Hinton, Geoffrey},
  title     = {{Visualizing Data using t-SNE}},
  journal   = {Journal of Machine Learning Research},
  volume    = {9},
  pages     = {2579--2605},
  year      = {2008},
}""")


def software(number: str) -> Reference:
    """Return ctsne itself, in the version that was used."""
    return Reference(f"""\
@misc{{ctsne,
  author    = {{{{The ctsne authors}}}},
  title     = {{{{ctsne: conditional t-SNE}}}},
  note      = {{Software, version {number}}},
}}""")


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("made", metavar="OUTPUT", nargs="?", help="an output to describe")
    option(main, "--bibtex", "print the references as BibTeX, and nothing else")
    add_key(main)
    add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Print the paragraph and the references."""
    text, references = None, [REVISED, ORIGINAL, software(version("ctsne"))]
    head = ["If ctsne helps your work, please cite:"]
    last = ["ctsne cite OUTPUT describes how an output was made, for a Methods section."]
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


# ---- the paragraph -------------------------------------------------------------------------------

# What each method conditions on the label.
_CONDITIONED = {
    "joint": "both the similarities of the data and the repulsion in the map",
    "revised": "the similarities of the data",
    "balanced": "the share of other labels in the similarities of the data",
    "original": "the similarities of the map",
}
_ALIGNED = {
    "mutual": "after each label was shifted towards its mutual nearest neighbours in other labels",
    "local": "after each point was shifted like the mutual nearest neighbours around it",
    "mean": "after the mean of each label was removed",
    "auto": "after the alignment of none, mutual and mean that commutes best",
}
_STARTS = {"pca": "the leading principal components", "spectral": "a spectral embedding"}
# Parameters that have a sentence of their own, or no effect on a result.
_TOLD = (
    *("method", "strength", "beta", "mixing", "align", "perplexity", "random_state", "n_jobs"),
    *("n_components", "pca", "metric", "init", "n_iter"),
    *("early_exaggeration", "early_exaggeration_iter"),
)
_LONGEST = 60


def describe(path: str, *, key: str = "ctsne") -> tuple[str, list[Reference]]:
    """Return a paragraph about an output, and the references it needs."""
    from ctsne.estimator import load
    from ctsne.io import read_map
    from ctsne.io.paths import MODEL_SUFFIX

    source = Path(path)
    if source.is_dir():
        return _describe_sweep(source)
    record = read_made(source, key)
    if record.command == "transform":
        n = len(read_map(source, key=key).embedding)
        return _finished(record, [], f"{n:,} points were placed in a finished map", _placed(record))
    settings = stored_parameters(record, source)
    if source.suffix == MODEL_SUFFIX:
        model = load(source)
        labels: dict[str, Column | None]
        embedding, labels = model.embedding_, dict(model_columns(model))
    else:
        found = read_map(source, key=key)
        embedding, labels = found.embedding, _label_columns(record, found.columns)
    # Without different labels, every method is t-SNE.
    different = any(column is None or column.n_labels > 1 for column in labels.values())
    settings["method"] = settings["method"] if different else "tsne"
    dimensions = {1: "one", 2: "two", 3: "three"}.get(settings["dimensions"], "several")
    first = f"A {dimensions}-dimensional map of {len(embedding):,} points was computed"
    sentences = [
        *_conditioning(record, settings, labels),
        *_data_and_layout(record, settings, len(embedding), "The map"),
        *_measured(embedding, labels),
    ]
    return _finished(record, [settings["method"]], first, sentences)


def _finished(
    record: Record, methods: Iterable[str], first: str, sentences: Iterable[str]
) -> tuple[str, list[Reference]]:
    """Return the paragraph with the methods and versions, and the references."""
    used = [METHODS[name] for name in methods]
    conditional = any(method.knob is not None for method in used)
    # Separate searches for the same and for other labels come from the second paper.
    cited = [TSNE] * any(method.knob is None for method in used) + [ORIGINAL] * conditional
    cited += [REVISED] * any(method.splits_neighbors for method in used)
    versions = {name: _cut(number) for name, number in record.versions.items()}
    number = versions.pop("ctsne", "[version]")
    name = "conditional t-SNE" if conditional else "t-SNE"
    by = f" by {name} ({'; '.join(work.cited for work in cited)})" if cited else ""
    known = ["python", "numpy", "scipy", "scikit-learn"]
    others = [f"{name} {versions[name]}" for name in known if name in versions]
    last = [f"ctsne was used with {_and(others)}."] if others else []
    text = " ".join([f"{first}{by} with ctsne {number}.", *sentences, *last])
    return text, [*cited, software(number)]


def _placed(record: Record) -> Iterator[str]:
    perplexity, model = record.options.get("perplexity"), record.input("model")
    how = "half that of the map, at most 15" if perplexity is None else _cut(perplexity)
    yield (
        f"The points of the map ({_cut(model.file if model else '')}) did not move: each new point "
        "started among its nearest neighbours in the data of the map and was optimised by itself, "
        f"attracted by these and repelled by all points of the map, with a perplexity of {how}. "
        "[Describe how the map was made.]"
    )


def _describe_sweep(source: Path) -> tuple[str, list[Reference]]:
    """Describe the maps of a sweep and how they were compared."""
    from ctsne.cli.sweep import n_points, read_folder

    folder = read_folder(source)
    result, settings = folder.result, {**folder.settings, "method": "joint"}
    labels, n = _label_columns(folder.record, folder.columns), n_points(result)
    of = f" sampled at random from {result.sampled_from:,}" if result.sampled_from else ""
    first = f"To choose how far to factor out the {_named(folder.record, labels)}, "
    first += f"{len(result.maps)} maps of {n:,} points{of} were computed"
    sentences = [
        f"The settings were {'; '.join(swept.title for swept in result.maps)}.",
        *_alignment(folder.record, settings),
        *_data_and_layout(folder.record, settings, n, "Every map"),
        *["Those after the weakest of a method started from the one before."] * settings["path"],
        f"The maps were compared by the mixing among the {settings['k'] or NEIGHBORHOOD} nearest "
        "neighbours in the map, as a share of random mixing, and by the share of the neighbours "
        "in the data that a map keeps beyond chance (adjusted R_NX).",
        "[Say which map was chosen, and why.]",
    ]
    methods = dict.fromkeys(swept.parameters["method"] for swept in result.maps)
    return _finished(folder.record, methods, first, sentences)


def _label_columns(record: Record, columns: Mapping[str, Any]) -> dict[str, Column | None]:
    """Return the labels that were factored out, by name; None if they are not among the columns."""
    from ctsne.labels import combine_columns, encode_column

    names = label_names(record.labels, bool(record.options.get("combine")))
    known = {name: columns[name] for name in record.labels if name in columns}
    if names != list(record.labels) and len(known) == len(record.labels):
        known = {names[0]: combine_columns(list(known.values()))}
    return {name: encode_column(known[name]) if name in known else None for name in names}


def _conditioning(
    record: Record, settings: Mapping[str, Any], labels: Mapping[str, Column | None]
) -> Iterator[str]:
    method = METHODS[settings["method"]]
    if method.knob is None:
        return
    knob = record.results.get(method.knob, settings[method.knob])
    used = knob is not None and is_used(method.knob, settings)
    scale = ", on a scale from 0 to 1" if method.knob == "strength" else ""
    yield (
        f"The known {_named(record, labels)} {'were' if len(labels) > 1 else 'was'} factored out "
        f"with the method {method.name}, which conditions {_CONDITIONED[method.name]} on the "
        f"label{'s' * (len(labels) > 1)}{f' ({method.knob} {_values(knob)}{scale})' * used}."
    )
    if settings["mixing"] is not None:
        target = _values(settings["mixing"])
        yield f"The {method.knob} was found by a search for {target} of random mixing."
    yield from _alignment(record, settings)


def _alignment(record: Record, settings: Mapping[str, Any]) -> Iterator[str]:
    rep, found = record.options.get("align_rep"), record.results.get("alignment")
    where = _ALIGNED.get(settings["align"] if found is None else str(found), "")
    if found == "array" or rep is not None:
        where = f'in the representation "{_cut(rep or "[describe it]")}"'
    if where and is_used("align", settings):
        yield f"Points with different labels were compared {where}."


def _data_and_layout(
    record: Record, settings: Mapping[str, Any], n: int, what: str
) -> Iterator[str]:
    from ctsne._core.components import AUTO_COMPONENTS, n_reduced
    from ctsne.neighbors.search import EXACT_UP_TO

    source, pca = record.source, settings["pca"]
    if settings["metric"] == "precomputed":
        yield "Distances between the points were given [describe how they were computed]."
    else:
        d = None if source is None else source.n_selected or source.n_variable or source.n_columns
        k = n_reduced((n, d or n), None if pca == "none" else pca)
        done = "" if k is None else f", reduced to {k} principal components"
        if d is None and pca == "auto":
            done = f" [if more than {AUTO_COMPONENTS}: reduced to {AUTO_COMPONENTS} components]"
        named = "" if source is None else f"{_cut(source)} "
        yield f"The features were {named}[describe them]{done}."
    exact = n <= EXACT_UP_TO or settings["recall"] == 1
    search = "exactly" if exact else f"approximately (recall at least {settings['recall']:.0%})"
    yield (
        f"Distances were {settings['metric']} and the perplexity was {settings['perplexity']:g}; "
        f"nearest neighbours were searched {search}."
    )
    start = _STARTS.get(settings["init"], "given positions [describe them]")
    if settings["init"] == "random":
        seed = settings["seed"]
        start = "random positions" + ("" if seed is None else f" (seed {seed})")
    yield (
        f"{what} started from {start} and was optimised in {settings['n_iter']} iterations, the "
        f"first {settings['early_exaggeration_iter']} with the attraction exaggerated by a factor "
        f"of {settings['early_exaggeration']:g}."
    )
    changed = [
        f"{parameter.name} {_values(settings[parameter.dest])}"
        for parameter in PARAMETERS
        if parameter.name not in _TOLD and settings[parameter.dest] != parameter.default
    ]
    if changed:
        yield f"Further settings that differ from the defaults of ctsne: {_and(changed)}."


def _measured(embedding: Any, labels: Mapping[str, Column | None]) -> Iterator[str]:
    """Say how far each label is mixed in a map, if that can be measured."""
    from ctsne.evaluate import mixing

    k = min(NEIGHBORHOOD, len(embedding) - 2)
    known = {name: column for name, column in labels.items() if column is not None and k >= 2}
    shares = {name: mixing(embedding, column, k=k) for name, column in known.items()}
    texts = [f"{x:.2f} for {_quoted(name)}" for name, x in shares.items() if math.isfinite(x)]
    if texts:
        scale = "where 0 is not mixed and 1 is as mixed as random labels"
        yield f"In the map, the mixing among the {k} nearest neighbours was {_and(texts)}, {scale}."


def _named(record: Record, labels: Mapping[str, Column | None]) -> str:
    """Return the label columns with their numbers of values, beginning with the word label."""
    counts = ["" if x is None else f" ({x.n_labels} values)" for x in labels.values()]
    if len(labels) < len(record.labels):
        return f"label of all combinations of {_and(map(_quoted, record.labels))}{counts[0]}"
    texts = [_quoted(name) + count for name, count in zip(labels, counts, strict=True)]
    return f"label{'s' * (len(texts) > 1)} {_and(texts)}"


def _values(value: Any) -> str:
    """Return a number, or one for each label or column."""
    if isinstance(value, Mapping):
        return _and(f"{_values(part)} for {_quoted(name)}" for name, part in value.items())
    return f"{value:.3g}" if isinstance(value, int | float) else _cut(value)


def _quoted(name: object) -> str:
    return f'"{_cut(name)}"'


def _cut(text: object) -> str:
    """Return a text from a file, of a length that fits in a sentence."""
    whole = " ".join(str(text).split())
    return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 3]}..."


def _and(texts: Iterable[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last
