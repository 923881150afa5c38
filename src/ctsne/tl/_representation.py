"""What of an AnnData object a map is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ctsne._core.checks import check_count, check_matrix, check_perplexity, is_sparse
from ctsne._core.messages import unknown, warn
from ctsne._io.anndata import is_anndata
from ctsne.labels import Labels
from ctsne.neighbors.lists import different_labels

__all__ = [
    "Representation",
    "check_adata",
    "check_writable",
    "choose_representation",
    "neighbor_graph",
]

# As scanpy has it: more columns of X than this are reduced to so many principal components.
N_PCS = 50


@dataclass(frozen=True, eq=False)
class Representation:
    """Numbers of all points, and how to find them again.

    Attributes
    ----------
    matrix : ndarray or csr matrix, shape (n, d)
        In memory and checked.
    params : dict
        Arguments that choose it, with what was chosen by default.
    components : AnnData or None
        Principal components that were made for it, with all that belongs to them.
    """

    matrix: Any
    params: dict[str, Any]
    components: Any = None

    def store_components(self, adata: Any) -> None:
        """Keep new components where scanpy keeps them."""
        if self.components is not None:
            adata.obsm["X_pca"] = self.components.obsm["X_pca"]
            adata.varm["PCs"] = self.components.varm["PCs"]
            adata.uns["pca"] = self.components.uns["pca"]


def check_adata(adata: Any) -> None:
    """Refuse what is no AnnData object."""
    if not is_anndata(adata):
        raise TypeError(
            f"adata must be an AnnData object, got {type(adata).__name__}; arrays go to "
            "ctsne.ConditionalTSNE, ctsne.sweep and ctsne.evaluate"
        )


def check_writable(adata: Any, *, instead: str) -> None:
    """Refuse what nothing can be written into."""
    if adata.is_view and adata.isbacked:
        raise ValueError(
            "adata is a view of an object backed by a file, which cannot be written to; pass "
            f"adata.to_memory(), or {instead}"
        )


def choose_representation(
    adata: Any,
    use_rep: str | None,
    n_pcs: int | None,
    *,
    check: Callable[[Any], object] | None = None,
) -> Representation:
    """Find the numbers that scanpy would take; principal components that are there come first.

    ``check`` sees ``X`` before its components are made, so that what is wrong is said at once.
    """
    count = None if n_pcs is None else check_count(n_pcs, "n_pcs", low=0)
    if use_rep is None and "X_pca" in adata.obsm and count != 0:
        use_rep = "X_pca"
    if use_rep is None and count != 0 and (count is not None or adata.n_vars > N_PCS):
        X = _matrix_x(adata)
        if check is not None:
            check(X)
        return _with_components(adata, X, count)
    if use_rep is None or use_rep == "X":
        if count:
            raise ValueError(
                f'n_pcs={count} chooses columns of a representation in adata.obsm, but use_rep="X" '
                "takes all of X; leave one of them out"
            )
        return Representation(_matrix_x(adata), {"use_rep": "X"})
    if use_rep not in adata.obsm:
        known = [*adata.obsm, "X"]
        message = unknown(use_rep, known, what="representation", where="adata.obsm")
        raise ValueError(f"use_rep: {message}")
    matrix = check_matrix(adata.obsm[use_rep], argument=f"adata.obsm[{use_rep!r}]")
    if count is None:
        return Representation(matrix, {"use_rep": use_rep})
    check_count(count, "n_pcs", low=1, high=matrix.shape[1])
    params = {"use_rep": use_rep, "n_pcs": count}
    return Representation(check_matrix(matrix[:, :count]), params)


def neighbor_graph(
    adata: Any, key: object, labels: Labels | None, perplexity: float
) -> Representation:
    """Find the distances of a graph that scanpy or bbknn has made, long enough for a map."""
    graphs = [
        name
        for name, entry in adata.uns.items()
        if isinstance(entry, Mapping) and (name == "neighbors" or "distances_key" in entry)
    ]
    if key not in graphs:
        message = unknown(key, graphs, what="neighbour graph", where="adata.uns")
        how = "" if graphs else "; scanpy.pp.neighbors(adata) makes one"
        raise ValueError(f"neighbors_key: {message}{how}")
    name = str(adata.uns[key].get("distances_key", "distances"))
    if name not in adata.obsp:
        raise ValueError(
            f"neighbors_key: adata.uns[{key!r}] names adata.obsp[{name!r}], which is not there; "
            "make the graph again with scanpy.pp.neighbors(adata)"
        )
    check_perplexity(perplexity, adata.n_obs)
    graph = check_matrix(adata.obsp[name], argument=f"adata.obsp[{name!r}]")
    edges = sp.coo_array(graph)
    row, column = edges.coords
    real = row != column
    row, column = row[real], column[real]
    least = int(np.bincount(row, minlength=adata.n_obs).min())
    if least < perplexity:
        wanted = int(np.ceil(3 * perplexity)) + 1
        raise ValueError(
            f"perplexity={perplexity:g} needs more neighbours than the {least} that "
            f"adata.obsp[{name!r}] has of some points; make a graph of three times the perplexity, "
            f"scanpy.pp.neighbors(adata, n_neighbors={wanted}), or lower the perplexity to a third "
            f"of {least}"
        )
    _warn_of_lonely_labels(labels, row, column, adata.n_obs, name)
    return Representation(graph, {"neighbors_key": key})


def _warn_of_lonely_labels(labels: Labels | None, row: Any, column: Any, n: int, name: str) -> None:
    """Warn of points that conditioning cannot reach, as no edge leads to another label."""
    if labels is None or labels.n_labels < 2:
        return
    others = np.bincount(row[different_labels(labels, row, column)], minlength=n)
    lonely = int(((others == 0) & (labels.codes >= 0)).sum())
    if lonely:
        warn(
            f"{lonely} of {n} points have no neighbour with another label in "
            f"adata.obsp[{name!r}], so there is nothing to bring them together with. Leave "
            "neighbors_key out to have such neighbours searched, or use a graph made label by "
            "label, as bbknn does."
        )


def _matrix_x(adata: Any) -> Any:
    """Return ``X``, read from its file where it is in one."""
    X = adata.X
    if X is None:
        raise ValueError(
            "adata has no X; name with use_rep what the map is to be made of: "
            f"{', '.join(map(repr, adata.obsm)) or 'adata.obsm is empty, too'}"
        )
    # Dense ones in a file are read by NumPy, sparse ones only by themselves.
    return check_matrix(X.to_memory() if hasattr(X, "to_memory") else X, argument="adata.X")


def _with_components(adata: Any, X: Any, count: int | None) -> Representation:
    """Let scanpy make principal components, with the defaults of its own."""
    try:
        import scanpy
        from anndata import AnnData
    except ImportError as error:
        raise ImportError(
            f"principal components of X need scanpy, which cannot be imported ({error}): "
            'pip install "ctsne[scanpy]", or name what the map is to be made of with use_rep'
        ) from error
    chosen = adata.var[[name for name in ["highly_variable"] if name in adata.var]]
    n_columns = int(chosen["highly_variable"].sum()) if len(chosen.columns) else adata.n_vars
    largest = min(adata.n_obs, n_columns) - 1
    if count is not None:
        check_count(count, "n_pcs", low=1, high=largest)
    warn(
        f"adata.obsm has no 'X_pca': making {count or min(N_PCS, largest)} principal components of "
        f"X ({adata.n_vars} columns) with scanpy.pp.pca and its defaults. Make your own before to "
        'choose genes and scaling, or pass use_rep="X" to take X as it is.',
    )
    # Of sparse formats scanpy knows the older class only; nothing is copied here.
    reduced = AnnData(sp.csr_matrix(X) if is_sparse(X) else X, var=chosen.copy())
    scanpy.pp.pca(reduced, n_comps=count)
    params: dict[str, Any] = {"use_rep": "X_pca"}
    if count is not None:
        params["n_pcs"] = count
    return Representation(np.asarray(reduced.obsm["X_pca"]), params, reduced)
