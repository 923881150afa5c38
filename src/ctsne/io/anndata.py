"""AnnData objects and .h5ad files: label columns, maps, colours, and the matrix to embed.

anndata is imported only to read a file; objects are known by their attributes.
"""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ctsne._core import stores
from ctsne._core.checks import check_names, check_same_rows, is_sparse
from ctsne._core.files import require_room
from ctsne._core.messages import label_text, quoted, shown, unknown
from ctsne.io import dataset as ds
from ctsne.io.dataset import Dataset, Source, Texts
from ctsne.io.hdf5 import StoredMatrix, opened, read_element
from ctsne.labels import JOINT, Labels, add_numbers, combine_columns

# Entry of uns[key] with the settings record of a map, by which the map is known as ours.
RECORD = "record"
# Entry of a neighbours entry, besides those of scanpy: the map that the graph belongs to.
GRAPH_MARK = "map_key"
DEFAULT = "X_pca"
# Of the names of maps in obsm: scanpy looks for it, and cellxgene lists nothing else.
_PREFIX = "X_"
CHOSEN_GENES = "highly_variable"
# Of pandas columns from .h5ad files: their colours in uns, by the texts of labels.
STORED_COLORS = "colors"
HEXADECIMAL = re.compile("#[0-9A-Fa-f]{6}")
_Reader = Callable[[Any], Any]
_BYTES = 8  # per value of a block of rows, at most


def is_anndata(data: Any) -> bool:
    """Tell whether this is an AnnData object, or one with the same attributes."""
    return hasattr(data, "obsm") and hasattr(data, "obs")


def map_name(key: str) -> str:
    """Return what a map is called outside of ``obsm``, whether or not its key has the prefix."""
    return key.removeprefix(_PREFIX)


def map_keys(key: str) -> tuple[str, str]:
    """Return the key of ``obsm`` that a map is stored under, and its name, which is kept free."""
    name = map_name(key)
    return f"{_PREFIX}{name}", name


def find_map(obsm: Any, key: str) -> str | None:
    """Return the key under which ``obsm`` holds a map, by any of its names: that given first."""
    return next((name for name in (key, *map_keys(key)) if name in obsm), None)


def find_entry(uns: Any, key: str) -> str | None:
    """Return the key under which ``uns`` describes a map of ctsne, by any of its names."""
    if not hasattr(uns, "keys"):  # of a damaged file
        return None
    known = [name for name in (key, map_name(key)) if name in uns and hasattr(uns[name], "keys")]
    return next((name for name in known if RECORD in uns[name]), None)


def uns_entry(settings: str) -> dict[str, Any]:
    """Return the entry of ``uns`` for a map: its settings record, and parameters to look at."""
    # Only the record is read back. AnnData can hold neither None nor values of different types in
    # one list, and names of groups in a file cannot be every label.
    content = json.loads(settings)
    options, source = content["options"], content.get("source")
    shown = {**content["parameters"], "labels": content["labels"]}
    shown |= {name: options.get(name) for name in ("n_pcs", "neighbors_key")}
    if source is not None:
        taken = Source(**source)
        shown |= {"use_rep": taken.use_rep, "layer": taken.layer}
        shown["highly_variable"] = taken.n_variable is not None
    if options.get("align_rep") is not None:
        shown["align"] = options["align_rep"]
    results = content["results"]
    return {RECORD: settings, "params": _readable(shown), "results": _readable(results)}


def _readable(values: dict[str, Any]) -> dict[str, Any]:
    """Return values of a record in a form that AnnData can hold; numbers per label as text."""
    readable: dict[str, Any] = {}
    for name, value in values.items():
        match value:
            case None | False | []:
                continue
            case {"array": _}:
                readable[name] = "array"
            case {"per label": pairs}:
                readable[name] = json.dumps(_by_name(pairs))
            case [label]:
                readable[name] = label
            case [*_]:
                readable[name] = np.array(value, object)
            case _:
                readable[name] = value
    return readable


def _by_name(pairs: list[Any]) -> dict[str, Any]:
    inner = {str(name): x["per label"] if isinstance(x, dict) else x for name, x in pairs}
    return {name: _by_name(x) if isinstance(x, list) else x for name, x in inner.items()}


class GraphFields(NamedTuple):
    """Names of the entry of ``uns`` and the matrices of ``obsp`` that hold the graph of a map."""

    entry: str
    connectivities: str
    distances: str


def graph_fields(key: str) -> GraphFields:
    """Name the fields of the graph of a map."""
    return GraphFields(f"{key}_neighbors", f"{key}_connectivities", f"{key}_distances")


def is_our_graph(entry: Any) -> bool:
    """Tell whether a neighbours entry of ``uns``, in a file or in memory, was stored by ctsne."""
    return hasattr(entry, "keys") and GRAPH_MARK in entry


def remove_graph(uns: Any, obsp: Any, key: str) -> None:
    """Remove the graph of an earlier map, in a file or in memory; that of others is kept."""
    entry, *matrices = graph_fields(key)
    if is_our_graph(uns.get(entry)):
        del uns[entry]
        for name in matrices:
            if name in obsp:
                del obsp[name]


def map_fields(key: str) -> dict[str, list[str]]:
    """Return the names of all that a map may have stored, by the part of AnnData that holds it."""
    from ctsne.affinity import result  # imported here: loads the native core

    name = map_name(key)
    graph = graph_fields(name)
    per_cell = (*result.KEPT_DIAGNOSTICS, result.TRUST, *result.PLACED_DIAGNOSTICS)
    return {
        "obs": [f"{name}_{what}" for what in per_cell],
        "obsm": list(map_keys(name)),
        "uns": [name, graph.entry],
        "obsp": [graph.connectivities, graph.distances],
    }


def column_of(adata: Any, column: Any, *, argument: str) -> Any:
    """Return a label column: named, the combination of several, an array of labels, or None."""
    names = column_names(adata, column)
    if column is None:
        return None
    if not names:
        check_same_rows(adata.obs, column, argument=argument)
        return column
    columns = _named_columns(adata, names, argument)
    if len(columns) == 1:
        return columns[0]
    text = combine_columns(columns)
    return type(columns[0])(text, index=adata.obs.index, name=JOINT.join(names))


def labels_of(adata: Any, labels: Any, argument: str = "labels") -> Any:
    """Return a label column, several as a mapping from names, or labels as given."""
    names = column_names(adata, labels)
    if len(names) < 2:
        return column_of(adata, labels, argument=argument)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{argument} names the column {shown(twice[0])} twice; name it once")
    return dict(zip(names, _named_columns(adata, names, argument), strict=True))


def factored_out(
    adata: Any, labels: Any, numbers: Any = None, *, period: Any = None, combine: bool = False
) -> Labels | None:
    """Return the labels and numbers to factor out, by the names of columns or as given."""
    column, n = labels_of(adata, labels), adata.n_obs
    if combine and isinstance(column, dict):
        column = combine_columns(list(column.values()))
    return add_numbers(column, labels_of(adata, numbers, "numbers"), n=n, period=period)


def _named_columns(adata: Any, names: Texts, argument: str) -> list[Any]:
    for name in names:
        if name not in adata.obs:
            known = [str(column) for column in adata.obs.columns]
            message = unknown(name, known, what="column", where="adata.obs")
            if name in adata.var_names:
                message = f"{shown(name)} is a gene, not a column of adata.obs; draw genes with "
                message += "scanpy.pl.embedding"
            raise ValueError(f"{argument}: {message}")
        if adata.obs[name].ndim > 1:
            raise ValueError(f"adata.obs has several columns named {shown(name)}; rename them")
    return [adata.obs[name] for name in names]


def map_of(adata: Any, basis: object) -> Any:
    """Return a map by its name, with or without "X_", as in scanpy."""
    if not isinstance(basis, str):
        raise TypeError(f"basis must be the name of a map in adata.obsm, got {shown(basis)}")
    key = find_map(adata.obsm, basis)
    if key is not None:
        return adata.obsm[key]
    message = unknown(basis, list(adata.obsm), what="map", where="adata.obsm")
    how = '; ctsne.tl.ctsne(adata, "batch") makes one' if map_name(basis) == "ctsne" else ""
    raise ValueError(f"basis: {message}{how}")


def category_colors(
    adata: Any, column: Any, choose: Callable[[Any], Mapping[Any, str]]
) -> dict[Any, str] | None:
    """Return the colours that ``uns`` holds for the categories of a column; if none, store some."""
    names = column_names(adata, column)
    labels = adata.obs.get(names[0]) if len(names) == 1 else None
    categories = getattr(getattr(labels, "cat", None), "categories", ())
    if not len(categories):  # colours stay in uns when their column is removed
        return None
    stored = f"{names[0]}_colors"
    colors = list(adata.uns.get(stored, ()))
    # As in scanpy: a different number of colours and categories means the colours are outdated.
    if len(colors) != len(categories):
        found = choose(labels)
        if not found.keys() >= set(categories):  # some have no points
            return None
        colors = [found[label] for label in categories]
        if not getattr(adata, "is_view", True):
            adata.uns[stored] = colors
    return dict(zip(categories, colors, strict=True))


def column_names(adata: Any, column: Any) -> list[str]:
    """Return the names of the columns that an argument names; none if it holds labels."""
    if isinstance(column, str):
        return [column]
    if not isinstance(column, list | tuple) or not all(isinstance(name, str) for name in column):
        return []
    # A list of texts may also be the labels themselves, one per point.
    labels = len(column) == adata.n_obs and not all(name in adata.obs for name in column)
    return [] if labels else list(column)


def choose_representation(
    adata: Any,
    *,
    use_rep: str | None = None,
    layer: str | None = None,
    where: str = "adata",
    read: _Reader | None = None,
) -> Dataset:
    """Return the matrix to embed, by one rule for AnnData objects and .h5ad files."""
    # By default obsm["X_pca"] if present, else the highly variable genes of X, else all of X.
    # ``where`` names the object in messages; ``read`` gives the matrix of a part of a file.
    for name, value in (("use_rep", use_rep), ("layer", layer)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a name in {where}, got {shown(value)}")
    read = read or in_memory
    if layer is not None:
        if layer not in adata.layers:
            raise ValueError(unknown(layer, sorted(adata.layers), what="layer", where=where))
        part = adata.layers[layer]
        return _of_genes(part, in_memory(adata.var), Source("layer", layer, 0), where, read)
    key = use_rep if use_rep is not None else DEFAULT if DEFAULT in adata.obsm else "X"
    if key in adata.obsm:
        return _of_obsm(adata.obsm[key], key, where, read)
    known = sorted(adata.obsm)
    if key != "X":
        raise ValueError(unknown(key, [*known, "X"], what="representation", where=where))
    if adata.X is None or getattr(adata.X, "shape", ()) is None:
        names = ", ".join(known) or "obsm is empty too"
        raise ValueError(f"{where} has no X; choose a representation with use_rep: {names}")
    var = in_memory(adata.var)
    chosen = None
    if use_rep is None and var is not None and CHOSEN_GENES in var.columns:
        chosen = np.flatnonzero((var[CHOSEN_GENES] == True).to_numpy())  # noqa: E712
    return _of_genes(adata.X, var, Source("X", None, 0), where, read, chosen)


def _of_obsm(part: Any, key: str, where: str, read: _Reader) -> Dataset:
    values, features = read(part), None
    if hasattr(values, "iloc"):  # a data frame
        features = tuple(str(name) for name in values.columns)
        with contextlib.suppress(TypeError, ValueError):  # text is refused later, by name
            values = values.astype(np.float64)
    matrix = _matrix(values, f'obsm["{key}"]', where)
    stem = key.removeprefix("X_")
    features = features or ds.numbered("PC" if stem == "pca" else stem, matrix.shape[1])
    return Dataset(matrix, features, {}, None, Source("obsm", key, len(features)))


def _of_genes(
    part: Any, var: Any, source: Source, where: str, read: _Reader, chosen: Any = None
) -> Dataset:
    lazy = hasattr(part, "dask")  # which computes only the columns that are chosen
    matrix = part if lazy else _matrix(read(part), source.place, where)
    width = matrix.shape[1]
    genes = ds.numbered("gene", width) if var is None else tuple(map(str, var.index))
    if len(genes) != width:
        what = f"{source.place} has {width} columns, var has {len(genes)}"
        raise ValueError(f"{where} is damaged: {what}")
    if chosen is not None and 0 < len(chosen) < width:
        matrix, genes = matrix[:, chosen], tuple(genes[gene] for gene in chosen)
        source = replace(source, n_variable=len(chosen))
    if lazy:
        matrix = _matrix(read(matrix), source.place, where)
    return Dataset(matrix, genes, {}, None, replace(source, n_columns=width))


def in_memory(values: Any) -> Any:
    """Return a part of an AnnData object or of an .h5ad file, read or computed if it must be."""
    values = stores.in_memory(values, "a part of an AnnData object")
    if type(values).__module__.startswith("h5py"):
        return read_element(values)
    return values.to_memory() if hasattr(values, "to_memory") else values


def _matrix(values: Any, place: str, where: str) -> Any:
    matrix = values if is_sparse(values) or isinstance(values, StoredMatrix) else np.asarray(values)
    if len(matrix.shape) != 2:
        raise ValueError(f"{place} of {where} must be a matrix, got shape {matrix.shape}")
    require_room(ds.room_for(*matrix.shape), f"{place} of {where}")
    return matrix


def read_h5ad_blocks(
    path: Path, rows: int, *, features: Texts | None, labels: Texts, use_rep: str | None
) -> Iterator[Dataset]:
    """Yield some rows at a time; of the genes, only the ``features`` if these are named."""
    with opened(path) as file:
        data = find_h5ad_data(file, path, labels, (), use_rep=use_rep, read=StoredMatrix)
        if features is not None and not features:
            data = replace(data, X=np.empty((data.X.shape[0], 0)), features=())
        elif features is not None and data.source.kind == "X":
            if data.source.n_variable is not None:
                data = find_h5ad_data(file, path, labels, (), use_rep="X", read=StoredMatrix)
            places = _places(data.features, features, path)
            data = replace(data, X=data.X[:, places], features=tuple(features))
        n, d = data.X.shape
        require_room(_BYTES * min(rows, n) * d, path)
        for start in range(0, n, rows):
            yield data.take(slice(start, min(start + rows, n)))


def _places(there: Texts, wanted: Texts, path: Path) -> list[int]:
    """Return where genes are in a matrix; refuse those that it lacks or repeats."""
    counts = Counter(there)
    missing = [gene for gene in wanted if counts[gene] != 1]
    if missing:
        what = f"lacks or repeats {len(missing)} of the {len(wanted)} genes that are needed"
        raise ValueError(f"{path} {what}: {quoted(missing, most=5)}")
    place = {gene: number for number, gene in enumerate(there)}
    return [place[gene] for gene in wanted]


def find_h5ad_data(
    file: Any, path: Path, labels: Texts, elsewhere: Texts, **choice: Any
) -> Dataset:
    """Return the columns of obs with the matrix chosen, which may still be in the file."""
    obs = read_element(file["obs"])
    ds.check_labels(labels, [*map(str, obs.columns)], elsewhere, where=f"obs of {path}")
    obsm, layers = (dict(file.get(part, {})) for part in ("obsm", "layers"))
    parts = SimpleNamespace(obsm=obsm, layers=layers, X=file.get("X"), var=file.get("var"))
    found = choose_representation(parts, where=str(path), **choice)
    n = found.X.shape[0]
    if n != len(obs):
        raise ValueError(f"{path} is damaged: {found.source} has {n} rows, obs has {len(obs)}")
    names = np.array(obs.index.astype(str), str)
    called = None if obs.index.name is None else str(obs.index.name)
    columns = obs_columns(obs, file.get("uns"))
    return replace(found, columns=columns, names=names, path=path, called=called)


def obs_columns(obs: Any, uns: Any = None) -> dict[str, Any]:
    """Return the columns of ``obs`` by name, with the colours that the ``uns`` of a file holds."""
    check_names(obs, argument="obs")
    columns = {}
    for name in obs.columns:
        column = obs[name].reset_index(drop=True)
        # Complex numbers cannot be labels.
        read = ds.storable(column) if column.dtype.kind == "c" else ds.empty_as_na(column)
        labels = [*map(label_text, getattr(getattr(column, "cat", None), "categories", ()))]
        stored = uns.get(f"{name}_colors") if uns is not None and labels else None
        if getattr(stored, "shape", None) == (len(labels),):
            give_colors(read, dict(zip(labels, read_element(stored), strict=True)))
        columns[str(name)] = read
    return columns


def give_colors(column: Any, color_of: Any) -> None:
    """Let a pandas column bring its colours along, if that is what the file holds."""
    if isinstance(color_of, dict):
        colors = {str(text): str(color)[:7] for text, color in color_of.items()}
        if all(map(HEXADECIMAL.fullmatch, colors.values())):
            column.attrs[STORED_COLORS] = colors
