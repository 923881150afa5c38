"""``ctsne cite``: how to cite the methods, and a paragraph about how an output was made."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.vocabulary import ALIGN_CHOICES, NEIGHBORHOOD, STARTS
from ctsne.cli.console import Console
from ctsne.cli.inputs import label_names
from ctsne.cli.main import Parser
from ctsne.cli.options import PARAMETERS, add_key, add_messages, option
from ctsne.cli.paragraph import (
    ARRAY,
    UNNAMED,
    Made,
    map_paragraph,
    placed_paragraph,
    references_of,
    sweep_paragraph,
)
from ctsne.cli.references import ORIGINAL, REVISED, Reference, software
from ctsne.methods import KNOBS, METHODS

if TYPE_CHECKING:
    from ctsne.labels import Column

USAGE = "[OUTPUT] [--bibtex] [options]"
HELP = "how to cite, or a Methods paragraph about how an output was made"
DESCRIPTION = """\
Show how to cite ctsne and the papers behind it.

Given an output, print a paragraph for the Methods section of a paper, with the
settings stored in that output, and the references it needs. What no record
holds is left to you, in [brackets]."""

EPILOG = """\
OUTPUT is a map of ctsne embed, a model, a sweep folder, or points placed with
ctsne transform. The paragraph names the labels that were factored out, how far
they are mixed in the map, and every setting that shaped it. The seed appears
only if it had an effect.

examples:
  ctsne cite
  ctsne cite --bibtex
  ctsne cite map.csv
  ctsne cite cells.h5ad
  ctsne cite model.ctsne --bibtex
  ctsne cite sweep"""

_WIDTH = 79


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("made", metavar="OUTPUT", nargs="?", help="an output to describe")
    option(main, "--bibtex", "print the references as BibTeX, and nothing else")
    add_key(main)
    add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Print the paragraph and the references."""
    if options.made is None:
        from importlib.metadata import version

        references: list[Reference] = [REVISED, ORIGINAL, software(version("ctsne"))]
        text, head = "", "If ctsne helps your work, please cite:"
    else:
        text, references = described(options.made, key=options.key)
        head = "References"
    entries = "\n\n".join(each.bibtex() for each in references)
    parts = [_filled(text)] if text else []
    parts += [head, *(_filled(each.text(), indent="  ") for each in references)]
    if text == "":
        parts.append("ctsne cite OUTPUT describes how an output was made, for a Methods section.")
    content = {
        "command": "cite",
        "output": options.made,
        "text": text or None,
        "references": [each.text() for each in references],
        "bibtex": entries,
    }
    console.result(entries if options.bibtex else "\n\n".join(parts), content)


def _filled(text: str, *, indent: str = "") -> str:
    return textwrap.fill(
        text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def described(path: str, *, key: str = "ctsne") -> tuple[str, list[Reference]]:
    """Return a paragraph about an output, and the references it needs."""
    from ctsne.cli.folders import read_folder
    from ctsne.cli.records import checked_settings
    from ctsne.cli.sweep import n_points
    from ctsne.io import PICTURE_SUFFIXES, read_provenance
    from ctsne.io.paths import MODEL_SUFFIX

    source = Path(path)
    if not source.exists():
        raise ValueError(f"there is no {source}")
    if source.suffix.lower() in (*PICTURE_SUFFIXES, ".html"):
        raise ValueError(f"{source} shows maps; name the map, model or sweep folder it was made of")
    if source.suffix == MODEL_SUFFIX:
        return _of_map(_from_model(source))
    if source.is_dir():
        folder = read_folder(source)
        settings = folder.provenance.settings
        made = Made(
            {**settings, "method": "joint"},
            n_points(folder.result),
            folder.provenance.versions,
            _counted(_labels(settings, folder.columns)),
            _combined(settings),
        )
        used = [swept.parameters["method"] for swept in folder.result.maps]
        return sweep_paragraph(folder, made), [*references_of(used), software(made.version)]
    made_in_python = _made_in_python(source, key)
    if made_in_python is not None:
        params, versions = made_in_python
        return _of_map(_from_map(source, key, versions, _checked_params(params, source)))
    provenance = read_provenance(source, key=key)
    settings = checked_settings(provenance, source)
    if provenance.command == "transform":
        made = Made(settings, _n_points(source, key), provenance.versions)
        text = placed_paragraph(made, Path(provenance.inputs[-1].file).name)
        return text, [software(made.version)]
    return _of_map(_from_map(source, key, provenance.versions, settings))


def _made_in_python(source: Path, key: str) -> tuple[dict[str, Any], dict[str, str]] | None:
    """Return the parameters of a map that was made in Python, by option name, and the versions."""
    from ctsne._core.files import reading
    from ctsne.io import suffix_of
    from ctsne.io.anndata import find_entry
    from ctsne.io.hdf5 import opened, read_element
    from ctsne.storage.record import Record

    if source.is_dir() or suffix_of(source) != ".h5ad":
        return None
    with reading(source, "a map of ctsne"), opened(source) as file:
        name = find_entry(file.get("uns"), key)
        entry = {} if name is None else file["uns"][name]
        if "provenance" in entry or "params" not in entry:
            return None
        stored = dict(read_element(entry["params"]))
        found = dict(read_element(entry["results"])) if "results" in entry else {}
        stored |= {name: value for name, value in found.items() if name in KNOBS}
        record = Record.from_json(str(read_element(entry["record"]))) if "record" in entry else None
        versions = {} if record is None else record.versions
        named = {each.name: each.dest for each in PARAMETERS}
        params = {str(named.get(name, name)): _of_option(each) for name, each in stored.items()}
        return params, {name: str(each) for name, each in versions.items()}


def _of_option(value: Any) -> Any:
    """Return a value in an .h5ad as an option has it: plain numbers, texts, lists and mappings."""
    if isinstance(value, Mapping):  # names of labels or columns, and their values
        first, second = map(_of_option, value.values())
        return dict(zip(first, second, strict=True))
    return value.tolist() if hasattr(value, "tolist") else value


def _checked_params(params: Mapping[str, Any], source: Path) -> dict[str, Any]:
    """Check parameters from a file as if they were options of the command line."""
    from ctsne.cli.records import checked_settings
    from ctsne.io import InputRecord, Provenance

    known = {*(each.dest for each in PARAMETERS), "labels", "use_rep", "layer"}
    settings = {name: value for name, value in params.items() if name in known}
    # What only Python accepts: arrays, and the name of a representation as an alignment.
    given = {
        name: settings.pop(name)
        for name in ("init", "align")
        if settings.get(name) not in (None, *STARTS, *ALIGN_CHOICES)
    }
    record = Provenance("embed", {**settings, "combine": False}, [InputRecord(source.name)])
    checked = checked_settings(record, source)
    if "init" in given:
        checked["init"] = ARRAY
    if "align" in given:
        checked["align_rep"] = str(given["align"])
    return checked


def _of_map(made: Made) -> tuple[str, list[Reference]]:
    return map_paragraph(made), [*references_of([made.method]), software(made.version)]


def _n_points(source: Path, key: str) -> int:
    from ctsne.io import read_map

    return len(read_map(source, key=key).embedding)


def _from_map(
    source: Path, key: str, versions: Mapping[str, str], settings: Mapping[str, Any]
) -> Made:
    """Describe a map in a file; the labels beside it show how far it is mixed."""
    from ctsne.io import read_map

    found = read_map(source, key=key)
    method = METHODS[settings["method"]]
    value = None if method.knob is None else settings[method.knob]
    if value is None and settings["mixing"] is None and method.knob is not None:
        value = method.default
    labels = _labels(settings, found.columns)
    return Made(
        settings,
        len(found.embedding),
        versions,
        _counted(labels),
        _combined(settings),
        value,
        _mixed(found.embedding, labels),
    )


def _labels(settings: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Column | None]:
    """Return the labels that were factored out, by name; None if they are not among the columns."""
    from ctsne.labels import combine_columns, encode_column

    found: dict[str, Column | None] = {}
    for name in label_names(settings):
        parts = [name] if name in settings["labels"] else settings["labels"]
        there = [columns[part] for part in parts if part in columns]
        if len(there) < len(parts):
            found[name] = None
        else:
            found[name] = encode_column(there[0] if len(there) == 1 else combine_columns(there))
    return found


def _combined(settings: Mapping[str, Any]) -> list[str]:
    """Return the columns whose combinations are the label, if there are several."""
    labels = list(settings.get("labels") or ())
    return labels if label_names(settings) not in (labels, []) else []


def _counted(labels: Mapping[str, Column | None]) -> dict[str, int | None]:
    return {name: None if each is None else each.n_labels for name, each in labels.items()}


def _mixed(embedding: Any, labels: Mapping[str, Column | None]) -> dict[str, float]:
    """Return how far each label is mixed in a map, if that can be measured."""
    from math import isfinite

    from ctsne.evaluate import mixing

    k = min(NEIGHBORHOOD, len(embedding) - 2)
    known = {name: each for name, each in labels.items() if each is not None and k >= 2}
    shares = {name: mixing(embedding, each, k=k) for name, each in known.items()}
    return {name: share for name, share in shares.items() if isfinite(share)}


def _from_model(source: Path) -> Made:
    """Describe the map of a model, which holds everything that was found."""
    from ctsne.labels import Labels
    from ctsne.storage.model import label_name
    from ctsne.storage.provenance import origin_of
    from ctsne.stored import load

    model = load(source)
    origin = origin_of(model)
    given = {} if origin is None else origin.provenance.settings
    settings = {each.dest: _plain(getattr(model, each.name)) for each in PARAMETERS}
    settings |= {name: given.get(name) for name in ("use_rep", "layer", "align_rep")}
    settings["pca"] = "none" if model.pca is None else model.pca
    several = isinstance(model.labels_, Labels)
    known = model.labels_.columns if several else [model.labels_] * (model.labels_ is not None)
    names = label_names(given)
    if len(names) != len(known):  # made in Python, where a single column may have no name
        own = [label_name(model) or UNNAMED] * len(known)
        names = list(model.labels_.names) if several else own
    labels = dict(zip(names, known, strict=True))
    knob = METHODS[model.method].knob
    return Made(
        settings,
        len(model.embedding_),
        {} if origin is None else origin.provenance.versions,
        _counted(labels),
        _combined(given),
        None if knob is None else getattr(model, f"{knob}_"),
        _mixed(model.embedding_, labels),
        model.n_features_in_,
        model.diagnostics_.alignment,
    )


def _plain(value: Any) -> Any:
    """Return a parameter of an estimator as an option has it."""
    return value if isinstance(value, str | int | float | dict) or value is None else ARRAY
