"""The fields of an AnnData object that a map is made of, and those that store it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne._core import checks
from ctsne._core.messages import shown, unknown, warn
from ctsne._core.vocabulary import ALIGN_CHOICES
from ctsne.affinity.result import strongest_entries
from ctsne.io import anndata as ad
from ctsne.io.dataset import NORMALIZE, Source, looks_like_counts
from ctsne.labels import Labels
from ctsne.neighbors.patterns import different_labels
from ctsne.storage.record import Record, record_in

_ENTRIES_AT_ONCE = 2**22  # entries of a graph that are scaled at once
# Equal to 0 but another object, so that a 0 given beside ``rng`` is recognised.
DEFAULT_SEED = type("DefaultSeed", (int,), {})(0)


def check_adata(adata: Any) -> None:
    """Refuse anything but AnnData objects."""
    if not ad.is_anndata(adata):
        what = f"adata must be an AnnData object, got {type(adata).__name__}"
        how = "pass arrays to ctsne.ConditionalTSNE, ctsne.sweep or ctsne.evaluate"
        raise TypeError(f"{what}; {how}")


def seed_of(random_state: Any, rng: Any) -> Any:
    """Return the seed that one of the two arguments gives."""
    if rng is None:
        return 0 if random_state is DEFAULT_SEED else random_state
    if random_state is not DEFAULT_SEED:
        raise TypeError("rng and random_state were both given; leave one of them out")
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**31))
    return checks.check_count(rng, "rng", low=0, high=2**32 - 1, or_else=" or a Generator")


@dataclass(frozen=True, eq=False)
class Features:
    """The checked matrix of a map, where it was taken from, and the estimator's ``pca`` for it."""

    matrix: Any
    names: tuple[str, ...] = ()
    source: Source | None = None  # None for a graph
    pca: int | str | None = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)  # for the settings record


def find_features(
    adata: Any, use_rep: str | None, n_pcs: int | None, layer: str | None = None
) -> Features:
    """Choose features as the command line does; ``n_pcs`` selects columns or makes components."""
    if use_rep is not None and layer is not None:
        raise ValueError("use_rep and layer both name the features; leave one of them out")
    count = None if n_pcs is None else checks.check_count(n_pcs, "n_pcs", low=0)
    use_rep = "X" if use_rep is None and count == 0 else use_rep
    found = ad.choose_representation(adata, use_rep=use_rep, layer=layer)
    matrix = checks.check_data(found.X, argument=f"adata.{found.source.place}")
    if count is None or found.source.kind != "obsm":
        pca = "auto" if count is None else count or None
        return Features(matrix, found.features, found.source, pca)
    checks.check_count(count, "n_pcs", low=1, high=matrix.shape[1])
    some = checks.check_matrix(matrix[:, :count])
    return Features(some, found.features[:count], found.source, None, {"n_pcs": count})


def find_stored_features(adata: Any, record: Record) -> Features:
    """Return the features of a map of this object, as its record names them."""
    source, pca = record.source, record.parameters.get("pca", "auto")
    if source is not None and source.n_variable is not None:  # even if there are components now
        adata = SimpleNamespace(obsm={}, X=adata.X, var=adata.var)
        found = find_features(adata, None, None)
    else:
        use_rep, layer = (None, None) if source is None else (source.use_rep, source.layer)
        found = find_features(adata, use_rep, record.options.get("n_pcs"), layer)
    return Features(found.matrix, found.names, found.source, pca)


def warn_of_counts(features: Features) -> None:
    """Warn of a map of raw counts, which a few highly expressed genes would dominate."""
    source = features.source
    if source is None or source.kind == "obsm" or not looks_like_counts(features.matrix):
        return
    place = f"adata.{source.place}"
    taken = "" if source.layer is None else f"adata.X = {place}.copy(); "
    warn(
        f"{place} looks like raw counts, so the genes with the largest counts dominate the map; "
        f"normalise first, with scanpy as sc: {taken}{NORMALIZE}; then leave out use_rep "
        "and layer"
    )


def find_graph(adata: Any, key: object, labels: Labels | None, perplexity: float) -> Features:
    """Find the distances of a graph made by scanpy or bbknn, with enough neighbours for a map."""
    entries = {name: entry for name, entry in adata.uns.items() if isinstance(entry, Mapping)}
    graphs = [name for name in entries if name == "neighbors" or "distances_key" in entries[name]]
    if key not in graphs:
        message = unknown(key, graphs, what="neighbour graph", where="adata.uns")
        how = "" if graphs else "; scanpy.pp.neighbors(adata) makes one"
        raise ValueError(f"neighbors_key: {message}{how}")
    name = str(adata.uns[key].get("distances_key", "distances"))
    if name not in adata.obsp:
        raise ValueError(f"adata.uns[{key!r}] refers to adata.obsp[{name!r}], which does not exist")
    checks.check_perplexity(perplexity, adata.n_obs)
    place = f"adata.obsp[{name!r}]"
    graph = checks.check_matrix(ad.in_memory(adata.obsp[name]), argument=place)
    row, column = sp.coo_array(graph).coords
    real = row != column
    row, column = row[real], column[real]
    least = int(np.bincount(row, minlength=adata.n_obs).min())
    if least < perplexity:
        raise ValueError(
            f"perplexity={perplexity:g} needs more neighbours than the {least} of some points in "
            f"{place}; scanpy.pp.neighbors(adata, n_neighbors={int(np.ceil(3 * perplexity)) + 1}) "
            f"finds enough, or lower the perplexity to a third of {least}"
        )
    for what, known in ({} if labels is None else labels.by_name).items():
        others = np.bincount(row[different_labels(known, row, column)], minlength=adata.n_obs)
        lonely = int(((others == 0) & (known.codes >= 0)).sum()) if known.n_labels > 1 else 0
        if lonely:
            warn(
                f"{lonely} of {adata.n_obs} points {'has' if lonely == 1 else 'have'} no neighbour "
                f"with another {what} in {place}, so labels cannot be mixed there; leave "
                "neighbors_key out to search such neighbours, or use a graph made label by label, "
                "as bbknn does"
            )
    return Features(graph, options={"neighbors_key": str(key)})


def find_alignment(adata: Any, align: Any) -> Any:
    """Return an alignment, or the representation that its name refers to."""
    if not isinstance(align, str):  # an array, or the method's default
        checks.check_same_rows(adata.obs, align, argument="align")
    if not isinstance(align, str) or align in ALIGN_CHOICES:
        return align
    if align not in adata.obsm:
        names = [*ALIGN_CHOICES, *adata.obsm]
        raise ValueError(f"align: {unknown(align, names, what='alignment', where='adata.obsm')}")
    return np.asarray(ad.in_memory(adata.obsm[align]))


def find_stored_record(adata: Any, basis: str) -> Record | None:
    """Return the settings record of a map; None if it is not one of ctsne."""
    key = ad.find_entry(adata.uns, basis)
    return None if key is None else record_in(adata.uns[key])


def check_target(adata: Any, key: object, *, copy: bool, graph: bool = False) -> str:
    """Return the name of a map, whose fields must not belong to others, in a writable object."""
    name = ad.map_name(key) if isinstance(key, str) else ""
    if not name or "/" in name:
        what = "key_added must be a name without slashes"
        raise ValueError(f'{what}, like "ctsne", got {shown(key)}')
    places: list[tuple[str, str]] = []
    if ad.find_entry(adata.uns, name) is None:
        ours = ad.map_fields(name)
        places += [(part, field) for part in ("obsm", "obs") for field in ours[part]]
        places.append(("uns", name))
    entry, *matrices = ad.graph_fields(name)
    if graph and not ad.is_our_graph(adata.uns.get(entry)):
        places += [("uns", entry), *(("obsp", matrix) for matrix in matrices)]
    taken = [f'adata.{part}["{key}"]' for part, key in places if key in getattr(adata, part)]
    if taken:
        what = f"key_added={key!r} would replace {' and '.join(taken[:3])}, not written by ctsne"
        raise ValueError(f'{what}; choose another name, such as "{name}_map"')
    if not copy and adata.is_view and adata.isbacked:
        what = "adata is a view of an object backed by a file"
        raise ValueError(f"{what}; pass adata.to_memory() or copy=True")
    return name


def store_map(
    adata: Any,
    name: str,
    positions: Any,
    per_cell: Mapping[str, Any],
    record: Record,
    *,
    copy: bool,
    **more: Any,
) -> Any:
    """Write a map instead of an earlier one, into a copy if asked to; return what was written."""
    make_copy = adata.to_memory if adata.isbacked else adata.copy
    target = make_copy() if copy else adata
    target.obsm[ad.map_keys(name)[0]] = positions  # first, because this turns a view into a copy
    earlier = ad.find_entry(target.uns, name)
    if earlier is not None:
        ad.remove_graph(target.uns, target.obsp, earlier)
        for column in set(ad.map_fields(earlier)["obs"]) & set(target.obs):
            del target.obs[column]
        del target.uns[earlier]
    keys = {diagnostic: f"{name}_{diagnostic}" for diagnostic in per_cell}
    for diagnostic, column in keys.items():
        target.obs[column] = per_cell[diagnostic]
    target.uns[name] = {**ad.uns_entry(record.to_json()), "diagnostics_keys": keys, **more}
    return target


def store_graph(target: Any, name: str, model: Any, features: Features) -> None:
    """Write the similarities of a fitted estimator as ``uns[name + "_neighbors"]``."""
    names = ad.graph_fields(name)
    connectivities = scaled_similarities(model.affinities_)
    distances = strongest_as_distances(connectivities, ceil(model.perplexity))
    about: dict[str, Any] = {
        # scanpy counts the cell itself as one of its neighbours.
        "n_neighbors": int(np.diff(distances.indptr).max()) + 1,
        "method": "ctsne",
        "metric": "euclidean" if model.metric == "precomputed" else model.metric,
    }
    if isinstance(model.random_state, int | np.integer):
        about["random_state"] = int(model.random_state)
    # Without these, scanpy looks for a representation itself. It knows nothing of layers.
    if features.source is not None and features.source.use_rep is not None:
        about["use_rep"] = features.source.use_rep
        about |= features.options
    target.obsp[names.connectivities] = sp.csr_matrix(connectivities)
    target.obsp[names.distances] = sp.csr_matrix(distances)
    target.uns[names.entry] = {
        "connectivities_key": names.connectivities,
        "distances_key": names.distances,
        "params": about,
        ad.GRAPH_MARK: name,
    }


def scaled_similarities(affinities: sp.csr_array) -> sp.csr_array:
    """Divide similarities by the geometric mean of the largest of both points: at most 1."""
    # Clustering and UMAP expect a weight of about 1 between a cell and its nearest neighbour. A
    # common factor would leave most weights small, because of a few pairs of near duplicates.
    starts, columns = affinities.indptr, affinities.indices
    # No row is empty: each is the mean of a row that sums to one and of others.
    roots = np.sqrt(np.maximum.reduceat(affinities.data, starts[:-1]))
    values = np.empty_like(affinities.data)
    for begin, end in _blocks(starts):
        block = slice(starts[begin], starts[end])
        own = np.repeat(roots[begin:end], np.diff(starts[begin : end + 1]))
        values[block] = np.minimum(affinities.data[block] / (own * roots[columns[block]]), 1)
    return sp.csr_array((values, columns, starts), shape=affinities.shape)


def strongest_as_distances(connectivities: sp.csr_array, k: int) -> sp.csr_array:
    """Return the k strongest connections c of each point as distances sqrt(1 - 2 log c)."""
    # So the nearest neighbours are those of the conditioned graph. Distances between features would
    # prefer the same label again.
    found = strongest_entries(connectivities, k)
    found.data = np.sqrt(1 - 2 * np.log(found.data))
    return found


def _blocks(starts: NDArray[np.integer]) -> list[tuple[int, int]]:
    """Cut rows into ranges of about equally many entries, to bound the memory of each."""
    wanted = np.arange(0, int(starts[-1]), _ENTRIES_AT_ONCE)
    cuts = np.unique(np.append(np.searchsorted(starts[:-1], wanted), len(starts) - 1))
    return [(int(begin), int(end)) for begin, end in pairwise(cuts)]
