"""A valid random call of every public function and method: ``CALLS["evaluate.mixing"]``."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import inputs
import numpy as np
from inputs import Rng, pick

from ctsne import (
    ConditionalTSNE,
    datasets,
    distributed,
    evaluate,
    labels,
    load,
    pl,
    report,
    sweep,
    tl,
)
from ctsne.methods import METHODS


class Call:
    """A function with its arguments, which can be changed before it is called."""

    def __init__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.function = function
        self.args = list(args)
        self.kwargs = kwargs

    def __call__(self) -> Any:
        return self.function(*self.args, **self.kwargs)


class Data:
    """Random points with two label columns and everything that can be made of them."""

    def __init__(self, rng: Rng, folder: Path) -> None:
        self.rng = rng
        self.folder = folder
        self.n = n = int(rng.integers(8, 40))
        self.X = inputs.points(rng, n, int(rng.integers(1, 8)))
        self.map = rng.normal(size=(n, int(pick(rng, (1, 2, 2, 2, 3)))))
        self.flat = rng.normal(size=(n, 2))
        names = inputs.names(rng, n)
        names[:4] = list("abab")
        self.known = names
        # Any kind of column, but not a broken one.
        self.column = inputs.labels(rng, n, broken=0) if rng.random() < 0.3 else names
        self.other = np.array(list("xyz"))[rng.integers(3, size=n)]
        self.k = int(rng.integers(1, max(2, n // 3)))
        self.perplexity = float(rng.uniform(1, max(1.5, n / 4)))
        self.strength = float(rng.random())

    @property
    def columns(self) -> labels.Labels:
        """Two label columns, the second with gaps at times."""
        second = [None if self.rng.random() < 0.1 else name for name in self.other]
        return labels.encode_labels({"one": self.known, "two": second})

    @property
    def distances(self) -> np.ndarray:
        return inputs.distances(self.rng, self.X)

    @property
    def graph(self) -> Any:
        return inputs.graph(self.rng, self.distances, int(self.rng.integers(1, self.n)))

    @property
    def sampled(self) -> dict[str, Any]:
        """Which points are measured."""
        return {
            "sample": pick(self.rng, (None, None, 5, 1000, 0.5)),
            "random_state": pick(self.rng, (0, 1, None)),
            "n_jobs": 1,
        }

    @property
    def measured(self) -> dict[str, Any]:
        return {"k": self.k, "pointwise": bool(self.rng.random() < 0.3), "n_jobs": 1}

    def data_neighbors(self) -> Any:
        return evaluate.data_neighbors(self.X, self.known, k=self.k, n_jobs=1)

    def map_neighbors(self) -> Any:
        return evaluate.map_neighbors(self.map, k=self.n - 2, n_jobs=1)

    def either_map(self) -> Any:
        return self.map_neighbors() if self.rng.random() < 0.2 else self.map

    def path(self, name: str) -> Path:
        return self.folder / name

    def adata(self) -> Any:
        return small_adata().copy()

    def estimator(self) -> ConditionalTSNE:
        return ConditionalTSNE(perplexity=3, n_iter=3, n_jobs=1, random_state=0, init="random")


@cache
def small_sweep() -> sweep.SweepResult:
    data = datasets.make_synthetic(40, random_state=0)
    grid = [{"method": "tsne"}, {"method": "joint", "strength": [0, 0.5, 1]}]
    estimator = ConditionalTSNE(perplexity=5, n_iter=5, n_jobs=1, random_state=0)
    return sweep.sweep(
        data.X, data.known, grid, other=data.hidden, estimator=estimator, progress=False, n_jobs=1
    )


@cache
def small_adata() -> Any:
    from anndata import AnnData

    rng = np.random.default_rng(0)
    adata = AnnData(rng.poisson(3, size=(40, 30)).astype(np.float32))
    adata.obs["batch"] = np.array(list("ab"))[rng.integers(2, size=40)]
    adata.obs["type"] = np.array(list("xyz"))[rng.integers(3, size=40)]
    adata.obs["number"] = rng.random(40)
    adata.obs["ctsne_other_share"] = rng.random(40)
    adata.obsm["X_pca"] = rng.normal(size=(40, 5))
    adata.obsm["X_ctsne"] = rng.normal(size=(40, 2))
    return adata


@cache
def small_model(method: str = "joint") -> ConditionalTSNE:
    data = datasets.make_synthetic(60, random_state=0)
    model = ConditionalTSNE(method=method, perplexity=5, n_iter=5, n_jobs=1, random_state=0)
    return model.fit(data.X, labels=data.known)


@cache
def saved_model(folder: Path) -> Path:
    path = folder / "saved.ctsne"
    small_model().save(path)
    return path


def _new_points(data: Data) -> tuple[np.ndarray, Any]:
    """Return new points for a small model, with known, new and missing labels."""
    count = int(data.rng.integers(1, 9))
    names = np.array(["blue", "orange", "green", None], object)[data.rng.integers(4, size=count)]
    return 3 * data.rng.normal(size=(count, 10)), pick(data.rng, (names, names, None))


def _placed(data: Data, name: str) -> Call:
    model = copy.deepcopy(small_model(pick(data.rng, tuple(METHODS))))
    X, known = _new_points(data)
    more = {"n_iter": 3} if name == "extend" else {}
    return Call(getattr(model, name), X, known, **more)


def _read_selection(data: Data) -> Call:
    adata, path = data.adata(), _new_path(data, ".csv")
    lines = [f'"{name}","some",0,0' for name in adata.obs_names[: data.k]]
    path.write_text("\n".join(["name,selection,map_1,map_2", *lines]), "utf-8")
    return Call(tl.read_selection, adata, path, copy=bool(data.rng.integers(2)))


def _transform(data: Data) -> Call:
    reference, new = _adata_with_map().copy(), data.adata()
    return Call(
        tl.transform,
        new,
        pick(data.rng, (reference, small_adata_model())),
        pick(data.rng, (None, "batch")),
        copy=bool(data.rng.random() < 0.3),
        n_jobs=1,
        key_added="placed",
    )


@cache
def _adata_with_map() -> Any:
    adata = small_adata().copy()
    del adata.obs["ctsne_other_share"], adata.obsm["X_ctsne"]
    tl.ctsne(adata, "batch", perplexity=3, n_iter=3, n_jobs=1)
    return adata


@cache
def small_adata_model() -> ConditionalTSNE:
    adata = small_adata()
    model = ConditionalTSNE(perplexity=3, n_iter=3, n_jobs=1, random_state=0)
    return model.fit(adata.obsm["X_pca"], labels=adata.obs["batch"])


@cache
def _client() -> Any:
    """Start a cluster in this process, which is then the current one."""
    import distributed

    client = distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
    )
    client.map(abs, range(8), pure=False)[-1].result()  # starts its threads
    return client


def _fit_sample(data: Data) -> Call:
    import dask.array

    _client()
    made = datasets.make_synthetic(60, random_state=0)
    parts = dask.array.from_array(made.X, chunks=(25, 10))
    return Call(
        distributed.fit_sample,
        parts,
        30,
        labels=made.known,
        estimator=data.estimator(),
        random_state=int(data.rng.integers(9)),
    )


def _place(data: Data) -> Call:
    import dask.array

    _client()
    X = 3 * data.rng.normal(size=(20, 10))
    parts = dask.array.from_array(X, chunks=(8, 10))
    names = np.array(["blue", "green", None], object)[data.rng.integers(3, size=20)]
    return Call(
        distributed.place,
        small_model(),
        parts,
        _new_path(data, ""),
        progress=False,
        labels=pick(data.rng, (names, None)),
    )


@cache
def saved_sweep(folder: Path) -> Path:
    path = folder / "saved.npz"
    small_sweep().save(path)
    return path


_numbers = itertools.count()


def _new_path(data: Data, suffix: str) -> Path:
    return data.path(f"out{next(_numbers)}{suffix}")


def _grid(rng: Rng) -> Any:
    return pick(
        rng,
        (
            {"strength": [0, 1]},
            [{"method": "tsne"}, {"method": "revised", "beta": [1, 1e-4]}],
            {"method": ["joint", "original"], "random_state": [0, 1]},
            {"perplexity": [2, 3]},
        ),
    )


def _positions(data: Data) -> Any:
    """Positions and columns of a picture: arrays, or an AnnData object and names."""
    if data.rng.random() < 0.3:
        return data.adata(), "batch", pick(data.rng, ("type", None))
    color = pick(data.rng, (None, data.column, data.rng.normal(size=data.n)))
    return data.flat[:, : pick(data.rng, (1, 2, 2))], color, pick(data.rng, (None, data.other))


def _embedding(data: Data) -> Call:
    if data.rng.random() < 0.2:
        placed = small_model().place(*_new_points(data))
        return Call(pl.embedding, placed, reference=pick(data.rng, (small_model(), data.flat)))
    positions, color, shape = _positions(data)
    named = pick(data.rng, ("auto", "on data", "both", None))
    size, width = pick(data.rng, (None, 3.0)), pick(data.rng, (None, "single", 120))
    look = {"legend_loc": named, "size": size, "width": width}
    return Call(pl.embedding, positions, color, shape=shape, **look)


def _maps(data: Data) -> Call:
    if data.rng.random() < 0.2:
        return Call(pl.maps, small_sweep())
    maps = {f"map {i}": data.rng.normal(size=(data.n, 2)) for i in range(data.rng.integers(1, 4))}
    return Call(pl.maps, maps, data.column, ncols=int(data.rng.integers(1, 4)))


def _before_after(data: Data) -> Call:
    if data.rng.random() < 0.3:
        adata = data.adata()
        adata.obsm["X_tsne"] = data.rng.normal(size=(adata.n_obs, 2))
        return Call(pl.before_after, adata, known="batch", other=pick(data.rng, ("type", None)))
    features = pick(data.rng, (None, data.X, data.data_neighbors()))
    known, other = {"batch": data.known}, pick(data.rng, (None, data.other))
    return Call(pl.before_after, data.flat, data.flat, known, other, data=features, n_jobs=1)


def _split(data: Data) -> Call:
    positions, color, _ = _positions(data)
    by = pick(data.rng, ("batch", "type")) if isinstance(color, str) else data.column
    return Call(pl.split, positions, by, color, most=int(data.rng.integers(1, 9)))


def _of_data(function: Callable[..., Any]) -> Callable[[Data], Call]:
    return lambda data: Call(function, data.either_map(), data.X, data.column, **data.measured)


def _of_labels(function: Callable[..., Any]) -> Callable[[Data], Call]:
    return lambda data: Call(function, data.either_map(), data.column, **data.measured)


def _of_sweep(name: str) -> Callable[[Data], Call]:
    return lambda data: Call(getattr(small_sweep(), name))


CALLS: dict[str, Callable[[Data], Call]] = {
    **{
        f"ConditionalTSNE.{name}": partial(_placed, name=name)
        for name in ("place", "transform", "extend")
    },
    "ConditionalTSNE.advise": lambda data: Call(small_model(pick(data.rng, tuple(METHODS))).advise),
    "ConditionalTSNE.trust": lambda data: Call(small_model(pick(data.rng, tuple(METHODS))).trust),
    "ConditionalTSNE.get_feature_names_out": lambda data: Call(
        small_model(pick(data.rng, tuple(METHODS))).get_feature_names_out
    ),
    "ConditionalTSNE.save": lambda data: Call(
        small_model(pick(data.rng, tuple(METHODS))).save, _new_path(data, ".ctsne")
    ),
    "distributed.fit_sample": _fit_sample,
    "distributed.place": _place,
    "load": lambda data: Call(load, saved_model(data.folder)),
    "datasets.make_synthetic": lambda data: Call(
        datasets.make_synthetic, data.n, random_state=int(data.rng.integers(9))
    ),
    "sweep.SweepResult.targets": lambda data: Call(small_sweep().targets, data.strength),
    "labels.combine_columns": lambda data: Call(labels.combine_columns, [data.known, data.other]),
    "evaluate.adjusted_rnx": _of_data(evaluate.adjusted_rnx),
    "evaluate.data_neighbors": lambda data: Call(
        evaluate.data_neighbors,
        data.X,
        data.column,
        k=data.k,
        align=pick(data.rng, ("none", "mutual", "mean")),
        **data.sampled,
    ),
    "evaluate.DataNeighbors.adjusted": lambda data: Call(
        data.data_neighbors().adjusted, data.map_neighbors().indices[:, : data.k]
    ),
    "evaluate.DataNeighbors.without_labels": lambda data: Call(
        data.data_neighbors().without_labels
    ),
    "evaluate.map_neighbors": lambda data: Call(
        evaluate.map_neighbors, data.map, k=data.k, **data.sampled
    ),
    "evaluate.evaluate": lambda data: Call(
        evaluate.evaluate,
        data.map,
        data.X,
        data.column,
        other=data.other,
        k=data.k,
        sample=pick(data.rng, (None, 10)),
        n_jobs=1,
    ),
    "evaluate.measure_map": lambda data: Call(
        evaluate.measure_map, data.map, data.data_neighbors(), other=data.other, n_jobs=1
    ),
    "evaluate.summarize_diagnostics": lambda data: Call(
        evaluate.summarize_diagnostics, small_model().diagnostics_
    ),
    "evaluate.laplacian": _of_labels(evaluate.laplacian),
    "evaluate.mixing": lambda data: Call(
        evaluate.mixing, data.map, data.column, k=data.k, n_jobs=1
    ),
    "evaluate.mixing_by_label": lambda data: Call(
        evaluate.mixing_by_label, data.map, data.column, k=data.k, n_jobs=1
    ),
    "evaluate.standard_measures": lambda data: Call(
        evaluate.standard_measures, data.either_map(), data.column, data.other, n_jobs=1
    ),
    "sweep.sweep": lambda data: Call(
        sweep.sweep,
        data.X,
        data.column,
        _grid(data.rng),
        other=data.other,
        estimator=data.estimator(),
        progress=False,
        n_jobs=1,
        folder=pick(data.rng, (None, _new_path(data, ""))),
    ),
    "sweep.load_sweep": lambda data: Call(sweep.load_sweep, saved_sweep(data.folder)),
    "sweep.SweepResult.suggest": lambda data: Call(small_sweep().suggest, data.strength),
    "sweep.SweepResult.best": lambda data: Call(small_sweep().best, data.strength),
    "sweep.SweepResult.lines": _of_sweep("lines"),
    "sweep.SweepResult.candidates": _of_sweep("candidates"),
    "sweep.SweepResult.find": lambda data: Call(
        small_sweep().find, method=pick(data.rng, ("tsne", "joint"))
    ),
    "sweep.SweepResult.save": lambda data: Call(small_sweep().save, _new_path(data, ".npz")),
    "tl.ctsne": lambda data: Call(
        tl.ctsne,
        data.adata(),
        "batch",
        perplexity=3,
        n_iter=3,
        n_jobs=1,
        store_graph=bool(data.rng.random() < 0.3),
        copy=bool(data.rng.random() < 0.3),
    ),
    "tl.evaluate": lambda data: Call(
        tl.evaluate, data.adata(), "batch", other=pick(data.rng, (None, "type")), k=5, n_jobs=1
    ),
    "tl.read_selection": _read_selection,
    "tl.screen": lambda data: Call(tl.screen, data.adata(), n_jobs=1),
    "tl.sweep": lambda data: Call(
        tl.sweep,
        data.adata(),
        "batch",
        _grid(data.rng),
        estimator=data.estimator(),
        progress=False,
        n_jobs=1,
    ),
    "tl.transform": _transform,
    "pl.embedding": _embedding,
    "pl.before_after": _before_after,
    "pl.maps": _maps,
    "pl.split": _split,
    "pl.strip": lambda data: Call(pl.strip, small_sweep(), mixing=data.strength),
    "pl.trade_off": lambda data: Call(
        pl.trade_off, small_sweep(), pick(data.rng, ("adjusted_rnx", "laplacian"))
    ),
    "pl.palette": lambda data: Call(pl.palette, data.column),
    "report.show": lambda data: Call(
        report.show, small_model(), columns={"number": np.arange(60.0)}, names=np.arange(60)
    ),
    "report.widget": lambda data: Call(report.widget, small_model(), title="a page"),
    "report.write_report": lambda data: Call(
        report.write_report,
        small_sweep(),
        _new_path(data, ".html"),
        columns={"batch": np.tile(["a", "b"], 20), "number": np.arange(40.0)},
        known="batch",
        features={"gene": data.rng.random(40)},
    ),
}
