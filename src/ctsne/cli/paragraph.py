"""Paragraphs for the Methods section of a paper, from the settings of an output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ctsne._core.messages import value_text
from ctsne._core.vocabulary import NEIGHBORHOOD
from ctsne.cli.references import ORIGINAL, REVISED, TSNE, Reference
from ctsne.methods import METHODS, is_used

if TYPE_CHECKING:
    from ctsne.cli.folders import SweepFolder

# A parameter that was an array.
ARRAY = "array"
# What each method does, for readers who do not know its name.
_MEANINGS = {
    "joint": "which conditions both the similarities of the data and the repulsion in the map on "
    "the label",
    "revised": "which conditions the similarities of the data on the label",
    "balanced": "which gives points with other labels a set share of the similarities of the data",
    "original": "which conditions the similarities of the map on the label",
}
_ALIGNED = {
    "mutual": "after each label was shifted towards its mutual nearest neighbours under other "
    "labels",
    "local": "after each point was shifted towards mutual nearest neighbours under other labels, "
    "averaged over the nearest paired points of its own label",
    "mean": "after the mean of each label was removed",
}
_STARTS = {
    "pca": "the leading principal components",
    "spectral": "a spectral embedding of the similarities",
    ARRAY: "given positions [describe them]",
}
_METRICS = {"euclidean": "Euclidean", "cosine": "cosine"}
_DIMENSIONS = {1: "one", 2: "two", 3: "three"}
_LIBRARIES = {
    "python": "Python",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "scikit-learn": "scikit-learn",
}
_LONGEST = 60
# What no record holds, for the author to fill in.
_VERSION = "[version]"
UNNAMED = "[name of the label]"


@dataclass(frozen=True)
class Made:
    """How a map was made."""

    settings: Mapping[str, Any]  # checked, by option name
    points: int
    versions: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, int | None] = field(default_factory=dict)  # numbers of values, if known
    combined: Sequence[str] = ()  # the columns whose combinations are the label
    knob: Any = None  # the strength or beta that was used or found; None if the record lacks it
    mixing: Mapping[str, float] = field(default_factory=dict)  # in the map
    features: int | None = None
    alignment: str | None = None  # that align="auto" has chosen

    @property
    def method(self) -> str:
        """The method that had an effect: without different labels, every one is t-SNE."""
        counts = self.labels.values()
        different = any(count is None or count > 1 for count in counts)
        return str(self.settings["method"]) if different else "tsne"

    @property
    def version(self) -> str:
        """The version of ctsne."""
        return cut(self.versions.get("ctsne", _VERSION))


def references_of(methods: Iterable[str]) -> tuple[Reference, ...]:
    """Return the papers to cite for some methods."""
    chosen = set(methods)
    plain = (TSNE,) if "tsne" in chosen else ()
    conditional = (ORIGINAL,) if chosen - {"tsne"} else ()
    # Separate searches for the same and for other labels come from the second paper.
    revised = (REVISED,) if any(METHODS[name].two_lists for name in chosen) else ()
    return plain + conditional + revised


def map_paragraph(made: Made) -> str:
    """Describe how one map was made."""
    name = "t-SNE" if made.method == "tsne" else "conditional t-SNE"
    dimensions = _DIMENSIONS.get(made.settings["dimensions"], made.settings["dimensions"])
    sentences = [
        f"A {dimensions}-dimensional map of {made.points:,} points was computed by {name} "
        f"({_cited(references_of([made.method]))}) with ctsne {made.version}."
    ]
    if made.method != "tsne":
        sentences += _conditioning(made)
    sentences += [*_data(made), *_layout(made), *_measures(made), *_libraries(made.versions)]
    return " ".join(sentences)


def sweep_paragraph(folder: SweepFolder, made: Made) -> str:
    """Describe the maps of a sweep and how they were compared."""
    from ctsne.cli.sweep import suggestion

    result, settings = folder.result, made.settings
    tried: dict[str, list[str]] = {}
    for swept in result.maps:
        method = METHODS[swept.parameters["method"]]
        knob = None if method.knob is None else swept.parameters.get(method.knob)
        tried.setdefault(method.name, []).extend([] if knob is None else [value_text(knob)])
    cited = _cited(references_of(tried))
    names = _and([_quoted(name) for name in made.labels])
    parts = [
        METHODS[name].title if not values else f"{name} at {METHODS[name].knob} {_and(values)}"
        for name, values in tried.items()
    ]
    of = f" sampled at random from {result.sampled_from:,}" if result.sampled_from else ""
    sentences = [
        f"To choose how far to factor out the {_named(made)}, {len(result.maps)} maps of "
        f"{made.points:,} points{of} were computed by t-SNE and conditional t-SNE ({cited}) with "
        f"ctsne {made.version}: {'; '.join(parts)}.",
        *_alignment(made),
        *_data(made),
        *_layout(made, "The weakest map of each method" if settings["path"] else "Every map"),
        *["The others started from the next weaker one."] * settings["path"],
        f"The maps were compared by the mixing of {names} among the {settings['k'] or NEIGHBORHOOD}"
        " nearest neighbours in the map, as a share of the mixing of random labels, and by the "
        "share of the neighbours in the data that a map keeps beyond chance, compared separately "
        "for the same and for other labels (adjusted R_NX).",
    ]
    best = suggestion(result, settings["mixing"]).map
    if best is not None:
        found = {"mixing": "mixing", "adjusted_rnx": "adjusted R_NX"}
        values = [
            f"{title} {best.measures[name]:.2f}"
            for name, title in found.items()
            if name in best.measures
        ]
        shown = f" ({', '.join(values)})" if values else ""
        target = _values(settings["mixing"])
        sentences.append(f"For a mixing of {target}, the suggested map was {best.title}{shown}.")
    sentences.append("[Say which map was chosen, and why.]")
    return " ".join([*sentences, *_libraries(made.versions)])


def placed_paragraph(made: Made, model: str) -> str:
    """Describe points that were placed in a finished map."""
    perplexity = made.settings["perplexity"]
    how = "half that of the map, at most 15" if perplexity is None else value_text(perplexity)
    sentences = [
        f"{made.points:,} points were placed in a finished map ({cut(model)}) with ctsne "
        f"{made.version}, without moving the points of the map: each started among its nearest "
        "neighbours in the data of the map and was optimised by itself, attracted by these and "
        f"repelled by all points of the map, with a perplexity of {how}.",
        "[Describe how the map was made.]",
    ]
    return " ".join([*sentences, *_libraries(made.versions)])


def _conditioning(made: Made) -> list[str]:
    settings, method = made.settings, METHODS[made.method]
    several = len(made.labels) > 1
    known = f"{_named(made)} {'were' if several else 'was'} factored out"
    uses = is_used(method.knob or "", {**settings, "method": method.name})
    parts = [] if made.knob is None or not uses else [f"{method.knob} {_values(made.knob)}"]
    if parts and method.knob == "strength":
        parts.append("on a scale from 0 to 1")
    if made.method == "revised":
        set_on = "after" if settings["bandwidth"] == "r" else "before"
        parts.append(f"with the perplexity set {set_on} conditioning")
    given = f" ({', '.join(parts)})" if parts else ""
    sentences = [
        f"The known {known} with the method {method.name}, "
        f"{_MEANINGS[method.name]}{'s' * several}{given}."
    ]
    if settings["mixing"] is not None:
        sentences.append(
            f"The {method.knob} was found by a search for a mixing of {_values(settings['mixing'])}"
            f", as {'shares' if several else 'a share'} of random mixing."
        )
    for name, what in (("odds", "odds of"), ("beta_low", "a beta of")):
        if settings[name] is not None:
            sentences.append(
                f"The repulsion in the map was conditioned with {what} {_values(settings[name])}."
            )
    return sentences + _alignment(made)


def _alignment(made: Made) -> list[str]:
    if made.method != "tsne" and not is_used("align", {**made.settings, "method": made.method}):
        return []
    rep, name = made.settings["align_rep"], made.settings["align"]
    if ARRAY in (rep, name):
        where = "in another representation [describe it]"
    elif rep is not None:
        where = f'in the representation "{cut(rep)}"'
    elif name == "auto" and made.alignment is None:
        where = "after the alignment of none, mutual and mean that commutes best"
    else:
        where = _ALIGNED.get(made.alignment or name, "")
    return [f"Points with different labels were compared {where}."] if where else []


def _data(made: Made) -> list[str]:
    settings = made.settings
    if settings["metric"] == "precomputed":
        return [
            "Distances between the points were given [describe how they were computed].",
            f"The perplexity was {settings['perplexity']:g}.",
        ]
    parts = [
        settings["use_rep"] and f'the columns of obsm["{cut(settings["use_rep"])}"]',
        settings["layer"] and f'the layer "{cut(settings["layer"])}"',
        made.features is not None and f"{made.features} columns",
    ]
    return [
        f"The features were {next(filter(None, parts), '')}{_reduced(made)}.".replace("  ", " "),
        f"Distances were {_METRICS[settings['metric']]} and the perplexity was "
        f"{settings['perplexity']:g}; nearest neighbours were searched {_search(made)}.",
    ]


def _reduced(made: Made) -> str:
    """Return what was done with the features, and what the author should add."""
    from ctsne._core.components import AUTO_COMPONENTS, n_reduced

    pca = made.settings["pca"]
    if pca == "auto" and made.features is None:
        most = AUTO_COMPONENTS
        how = f"if there were more than {most}, add: reduced to {most} principal components"
        return f" [describe them; {how}]"
    known = made.features if made.features is not None else made.points
    count = n_reduced((made.points, known), None if pca == "none" else pca)
    reduced = "" if count is None else f", reduced to {count} principal components"
    return f" [describe them]{reduced}"


def _search(made: Made) -> str:
    from ctsne.neighbors.search import EXACT_UP_TO

    recall = made.settings["recall"]
    if made.points <= EXACT_UP_TO or recall == 1:
        return "exactly"
    return f"approximately (at least {recall:.0%} of the true ones)"


def _layout(made: Made, what: str = "The map") -> list[str]:
    settings = made.settings
    start = _STARTS.get(settings["init"], f"given positions ({cut(settings['init'])})")
    if settings["init"] == "random":
        seed = settings["seed"]
        start = "random positions" + (f" (seed {seed})" if seed is not None else "")
    early = settings["early_exaggeration_iter"]
    text = f"{what} started from {start} and was optimised in {settings['n_iter']} iterations"
    if early and settings["early_exaggeration"] != 1:
        text += f", the first {early} with the attraction exaggerated by a factor of "
        text += f"{settings['early_exaggeration']:g}"
    others = {
        "exaggeration": "an exaggeration of {} afterwards",
        "dof": "{} degrees of freedom of the kernel in the map",
        "learning_rate": "a learning rate of {}",
    }
    changed = [
        words.format(value_text(settings[name]))
        for name, words in others.items()
        if settings[name] not in ("auto", 1)
    ]
    return [f"{text}{f', with {_and(changed)}' if changed else ''}."]


def _measures(made: Made) -> list[str]:
    if not made.mixing:
        return []
    values = [f"{value:.2f} for {_quoted(name)}" for name, value in made.mixing.items()]
    return [
        f"In the map, the mixing among the {min(NEIGHBORHOOD, made.points - 2)} nearest "
        f"neighbours was {_and(values)}, where 0 is not mixed and 1 is as mixed as random "
        "labels."
    ]


def _libraries(versions: Mapping[str, str]) -> list[str]:
    found = [
        f"{title} {cut(versions[name])}" for name, title in _LIBRARIES.items() if name in versions
    ]
    return [f"ctsne was used with {_and(found)}."] if found else []


def _cited(references: Iterable[Reference]) -> str:
    return "; ".join(each.cited for each in references)


def _named(made: Made) -> str:
    """Return the label columns with their numbers of values, beginning with the word label."""
    counts = [
        "" if count is None else f" ({count} value{'s' * (count != 1)})"
        for count in made.labels.values()
    ]
    if made.combined:
        return f"label of all combinations of {_and(list(map(_quoted, made.combined)))}{counts[0]}"
    each = [_quoted(name) + count for name, count in zip(made.labels, counts, strict=True)]
    return f"label{'s' * (len(each) > 1)} {_and(each)}"


def _values(value: Any) -> str:
    """Return a number, or one for each label or column."""
    if isinstance(value, Mapping):
        return _and([f"{_values(each)} for {_quoted(name)}" for name, each in value.items()])
    return value_text(value) if isinstance(value, str) else f"{value:.3g}"


def _quoted(name: object) -> str:
    return UNNAMED if name == UNNAMED else f'"{cut(name)}"'


def cut(text: object) -> str:
    """Return a text from a file, of a length that fits in a sentence."""
    whole = " ".join(str(text).split())
    return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 3]}..."


def _and(texts: list[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last
