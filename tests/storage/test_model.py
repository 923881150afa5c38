"""Models that are saved and loaded: the same in all that they do, or refused."""

from __future__ import annotations

import datetime
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import ctsne
from ctsne import ConditionalTSNE
from ctsne._core.checks import LARGEST_VALUE
from ctsne.datasets import make_synthetic
from ctsne.storage.archive import read_archive, write_archive
from ctsne.storage.record import plain_value

DATA = make_synthetic(120, random_state=0)
X, KNOWN = DATA.X[:90], DATA.known[:90]
NEW = DATA.X[90:]
# Known, new and missing labels.
LABELS = np.array([*DATA.known[90:108], *["green"] * 6, *[None] * 6], object)
APART = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
ACROSS = np.sqrt(((NEW[:, None] - X) ** 2).sum(axis=2))

WAYS: dict[str, dict[str, Any]] = {
    "joint": {},
    "revised": {"method": "revised", "bandwidth": "p"},
    "tsne": {"method": "tsne"},
    "balanced": {"method": "balanced", "align": "mutual"},
    "original": {"method": "original"},
    "local": {"align": "local"},
    "mean": {"align": "mean", "metric": "cosine"},
    "auto": {"align": "auto", "n_components": 3},
    "odds": {"method": "tsne", "odds": 5},
    "array": {"align": X[:, :3]},
    "reduced": {"pca": 4, "n_components": 1},
    "dof": {"dof": 0.5},
    "per label": {"strength": {"blue": 0.2, "orange": 0.9}},
    "mixing": {"mixing": 0.7},
    "distances": {"metric": "precomputed", "init": "random"},
    "start": {"init": X[:, :2] * 1e-4},
    "frame": {"init": pd.DataFrame(X[:, :2] * 1e-4)},
    "state": {"random_state": np.random.RandomState(0)},
    "callback": {"callback": print},
}


def fitted(way: str, **more: Any) -> ConditionalTSNE:
    given = {
        "perplexity": 6,
        "n_iter": 30,
        "early_exaggeration_iter": 10,
        "random_state": 0,
        "callback_every": 1000,
    }
    model = ConditionalTSNE(**(given | WAYS[way] | more))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(APART if way == "distances" else X, labels=KNOWN)


def placed(model: ConditionalTSNE, way: str, **more: Any) -> ctsne.Placement:
    aligned = NEW[:, :3] if way == "array" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.place(ACROSS if way == "distances" else NEW, LABELS, aligned=aligned, **more)


def assert_same(one: ctsne.Placement, other: ctsne.Placement) -> None:
    for name, value in vars(one).items():
        found = getattr(other, name)
        if value is None or isinstance(value, float):
            assert found == value, name
        else:
            assert found.dtype == value.dtype, name
            assert np.array_equal(found, value, equal_nan=value.dtype.kind == "f"), name


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.ctsne"


@pytest.mark.parametrize("way", WAYS)
def test_a_loaded_model_places_with_the_same_bits(way: str, path: Path) -> None:
    model = fitted(way)
    model.save(path)  # before any point was placed
    again = ctsne.load(path)
    assert_same(placed(model, way), placed(again, way))
    assert_same(placed(model, way), placed(ConditionalTSNE.load(path), way))
    assert_same(placed(model, way, perplexity=3), placed(again, way, perplexity=3))
    assert np.array_equal(again.embedding_, model.embedding_)
    assert again.kl_divergence_ == model.kl_divergence_ and again.n_iter_ == model.n_iter_
    assert (again.strength_, again.beta_, again.mixing_) == (
        model.strength_,
        model.beta_,
        model.mixing_,
    )
    assert again.n_features_in_ == model.n_features_in_
    assert again.labels_.names == model.labels_.names
    assert np.array_equal(again.labels_.codes, model.labels_.codes)
    for name, value in vars(model.diagnostics_).items():
        found = getattr(again.diagnostics_, name)
        if isinstance(value, dict):
            assert found.keys() == value.keys()
            assert all(np.array_equal(found[key], value[key]) for key in value), name
        else:
            assert np.array_equal(found, value), name
    own, theirs = model.get_params(), again.get_params()
    for name in own.keys() - {"callback", "random_state"}:
        assert np.array_equal(own[name], theirs[name]), name


def test_saving_again_gives_the_same_bytes(path: Path, tmp_path: Path) -> None:
    model = fitted("balanced")
    model.save(path)
    placed(model, "balanced")
    model.save(tmp_path / "two.ctsne")
    ctsne.load(path).save(tmp_path / "three.ctsne")
    assert path.read_bytes() == (tmp_path / "two.ctsne").read_bytes()
    assert path.read_bytes() == (tmp_path / "three.ctsne").read_bytes()
    ctsne.load(path).save(path)  # over the file that it is mapped from
    assert path.read_bytes() == (tmp_path / "two.ctsne").read_bytes()


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("loaded", [False, True])
def test_pickles_and_clones(path: Path, tmp_path: Path, prepared: bool, loaded: bool) -> None:
    model = fitted("joint")
    wanted = placed(model, "joint")
    if not prepared:
        model = fitted("joint")
    if loaded:
        model.save(path)
        model = ctsne.load(path)
    assert_same(wanted, placed(pickle.loads(pickle.dumps(model)), "joint"))
    joblib.dump(model, tmp_path / "model.joblib")
    assert_same(wanted, placed(joblib.load(tmp_path / "model.joblib"), "joint"))
    unfitted = clone(model)
    assert unfitted.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        unfitted.save(path)


def test_what_the_file_does_not_keep(path: Path) -> None:
    fitted("joint").save(path)
    model = ctsne.load(path)
    with pytest.raises(AttributeError, match="loaded from a file, which does not keep the simila"):
        model.affinities_  # noqa: B018
    with pytest.raises(ValueError, match="loaded from a file, which does not keep the simila"):
        model.resume(5)
    assert not hasattr(model, "affinities_")
    with pytest.raises(AttributeError, match="has no attribute 'other_'"):
        model.other_  # noqa: B018
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, labels=KNOWN)  # a new fit has them again
    assert model.affinities_.shape == (90, 90)
    assert model.resume(2).n_iter_ == 32


@pytest.mark.parametrize(
    "labels",
    [
        [1, 2, 3] * 30,
        [True, False, None] * 30,
        [0.5, 1.5] * 45,
        [datetime.date(2020, 1, day) for day in (1, 2, 3)] * 30,
        pd.date_range("2020-01-01", periods=3).to_list() * 30,
        pd.cut(np.arange(90), 3),
    ],
    ids=["whole", "bool", "float", "date", "timestamp", "interval"],
)
def test_labels_of_every_kind(path: Path, labels: Any) -> None:
    model = ConditionalTSNE(perplexity=6, n_iter=20, random_state=0).fit(X, labels=labels)
    model.save(path)
    again = ctsne.load(path)
    new = list(labels)[:30]
    assert_same(model.place(NEW, new), again.place(NEW, new))


def test_columns_and_their_names(path: Path) -> None:
    frame = pd.DataFrame(X, columns=[f"PC{i}" for i in range(10)])
    model = ConditionalTSNE(perplexity=6, n_iter=20, random_state=0)
    batch = pd.Series(KNOWN, name="batch")
    for labels, name in ((batch, "batch"), ({"batch": KNOWN}, "batch"), (KNOWN, "label")):
        model.fit(X, labels=labels).save(path)
        assert model.labels_.names == ctsne.load(path).labels_.names == (name,)
    labels = pd.DataFrame({"colour": KNOWN, "shape": DATA.hidden[:90]})
    model.fit(frame, labels=labels).save(path)
    again = ctsne.load(path)
    assert again.labels_.names == ("colour", "shape")
    assert np.array_equal(again.labels_.codes, model.labels_.codes)
    assert again.labels_.combined.names == model.labels_.combined.names
    assert again.strength_ == model.strength_
    assert list(again.feature_names_in_) == list(frame)
    table = pd.DataFrame(NEW, columns=list(frame))
    new = pd.DataFrame({"colour": DATA.known[90:], "shape": DATA.hidden[90:]})
    assert_same(model.place(table, new), again.place(table, new))
    with pytest.raises(ValueError, match="feature names"):
        again.transform(table[list(frame)[::-1]])


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    model = fitted("tsne")
    for wrong, says in (("model.npz", r"must end in \.ctsne"), ("none/model.ctsne", "no folder")):
        with pytest.raises(ValueError, match=says):
            model.save(tmp_path / wrong)
    with pytest.raises(TypeError, match="path"):
        model.save(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="perplexity"):
        model.set_params(perplexity=-1).save(tmp_path / "model.ctsne")
    assert not list(tmp_path.iterdir())


# Valid archives whose content is wrong

Change = Callable[[dict[str, Any]], object]


def _with(value: Any, *way: Any) -> Change:
    """Replace a value, or change it by a function."""

    def change(tree: Any) -> None:
        for key in way[:-1]:
            tree = tree[key]
        tree[way[-1]] = value(np.array(tree[way[-1]])) if callable(value) else value

    return change


def _without(*way: Any) -> Change:
    def change(tree: Any) -> None:
        for key in way[:-1]:
            tree = tree[key]
        del tree[way[-1]]

    return change


def _set(value: Any) -> Callable[[Any], Any]:
    def make(array: Any) -> Any:
        array.flat[0] = value
        return array

    return make


LABELS_OF = ("columns", 0, "labels")
CODES = ("columns", 0, "codes")
PARAMETERS = ("record", "parameters")
RESULTS = ("record", "results")
MAP = ("reference", "embedding")


@cache
def stored(way: str) -> bytes:
    """Return the file of a model, which is made once."""
    with tempfile.TemporaryDirectory() as folder:
        fitted(way).save(Path(folder) / "model.ctsne")
        return (Path(folder) / "model.ctsne").read_bytes()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_without("features"), "features"),
        (_with(1, "more"), "more"),
        (_with([], "record"), "record"),
        (_with("x", *PARAMETERS, "method"), "method"),
        (_with({"eval": 1}, *PARAMETERS, "strength"), "parameter"),
        (_with(3, *PARAMETERS, "n_components"), "parameters"),
        (_with(1, *PARAMETERS, "unknown"), "parameters"),
        (_with({"array": [90, 2]}, *PARAMETERS, "init"), "init"),
        (_with(np.zeros((9, 2)), *PARAMETERS, "init"), "init"),
        (_with(np.full((90, 3), np.nan), *PARAMETERS, "align"), "align"),
        (_with(None, *RESULTS, "n_iter"), "n_iter"),
        (_with(2.0, *RESULTS, "recall"), "recall"),
        (_with(3, *RESULTS, "alignment"), "alignment"),
        (_without(*RESULTS, "kl_divergence"), "kl_divergence"),
        (_with("x", *RESULTS, "strength"), "strength"),
        (_with(["x"], "record", "features"), "features"),
        (_with(0, "features", "count"), "count"),
        (_with(["a"], "features", "names"), "features"),
        (_with({"x": "y"}, "diagnostics", "alignment_scores"), "alignment_scores"),
        (_with({"1": np.zeros(90)}, "diagnostics", "column_shares"), "index"),
        (_with({"0": np.zeros(9)}, "diagnostics", "column_shares"), "column_shares"),
        (_with(3, "columns"), "columns"),
        (_with(["a", "b", "c"], *LABELS_OF), "labels"),
        (_with(["a", "a"], *LABELS_OF), "label"),
        (_with(3, "columns", 0, "name"), "name"),
        (_with([1], "reference", "used"), "labels"),
        (_with([0, 0], "reference", "used"), "labels"),
        (_with([], "reference", "used"), "labels"),
        (_with("x", "reference", "method"), "method"),
        (_with("cosine", "reference", "metric"), "reference"),
        (_with("mutual", "reference", "alignment", "name"), "alignment"),
        (_with(0, "reference", "scale"), "scale"),
        (_with(True, "reference", "perplexity"), "perplexity"),
        (_with([1] * 4, "reference", "fields", "nodes"), "fields"),
        (_without(*MAP), "embedding"),
        (_with(_set(np.nan), *MAP), "embedding"),
        (_with(_set(-3.8e10), *MAP), "embedding must be inside its mesh"),
        (_with(_set(100.0), *MAP), "embedding must be inside its mesh"),
        (_with(lambda array: 1e6 * array, *MAP), "embedding must be inside its mesh"),
        (_with(lambda array: array.astype(np.float64), *MAP), "embedding"),
        (_with(_set(-2), *CODES), "codes"),
        (_with(_set(2), *CODES), "codes"),
        (_with(lambda array: array[:, None], *CODES), "codes"),
        (_with(_set(-1), "reference", "combined"), "combinations"),
        (_with(_set(np.nan), "diagnostics", "perplexity"), "perplexity"),
        (_with(_set(1.5), "reference", "columns", 0, "share"), "share"),
        (_with(_set(0), "reference", "columns", 0, "alpha"), "alpha"),
        (_with(np.zeros(2), "more"), "more"),
        (_with(np.zeros(2), "reference", "index", "more"), "index"),
    ],
)
def test_content_that_does_not_fit_is_refused(path: Path, change: Change, named: str) -> None:
    path.write_bytes(stored("joint"))
    tree = read_archive(path, "model")
    change(tree)
    write_archive(path, "model", tree)
    with pytest.raises(ValueError) as caught:
        ctsne.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path} is not a valid ctsne model") and "\n" not in message
    assert named in message.removeprefix(str(path))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strength", 0.5),
        ("strength", {"colour": 0.5}),
        ("beta", {"colour": 0.5, "other": 0.5}),
        ("mixing", 0.5),
        ("mixing", {"other": 0.5}),
        ("mixing", {"colour": {"blue": 0.5}}),
    ],
)
def test_results_of_several_columns_are_given_by_column(path: Path, name: str, value: Any) -> None:
    labels = {"colour": KNOWN, "shape": DATA.hidden[:90]}
    model = ConditionalTSNE(perplexity=6, n_iter=10, random_state=0).fit(X, labels=labels)
    model.save(path)
    again = ctsne.load(path)
    assert "label colour" in again._repr_html_()
    tree = read_archive(path, "model")
    _with(plain_value(value), *RESULTS, name)(tree)
    write_archive(path, "model", tree)
    with pytest.raises(ValueError, match=f"is not a valid ctsne model: its {name} must be "):
        ctsne.load(path)


def _arrays(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield all arrays of a tree, each with what holds it."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(value, np.ndarray):
            yield tree, key
        elif isinstance(value, dict | list):
            yield from _arrays(value)


@pytest.mark.parametrize("way", ["joint", "balanced", "distances", "reduced", "local"])
def test_no_array_of_the_reference_can_be_anything(way: str, path: Path) -> None:
    """Each is refused if it is missing, cut or of another type; odd values give no infinity."""
    path.write_bytes(stored(way))
    tree = read_archive(path, "model")
    places = list(_arrays(tree["reference"]))
    assert len(places) > 10
    for holder, key in places:
        array = holder.pop(key)
        one = np.atleast_1d(array)
        for odd in (None, one[:-1], array.astype(np.float16), one[None]):
            if odd is not None and (odd.shape, odd.dtype) == (array.shape, array.dtype):
                continue  # an empty array is what it was
            write_archive(path, "model", tree if odd is None else _changed(tree, holder, key, odd))
            holder.pop(key, None)
            with pytest.raises(ValueError, match="is not a valid ctsne model"):
                ctsne.load(path)
        holder[key] = array


def _changed(tree: Any, holder: Any, key: Any, value: Any) -> Any:
    holder[key] = value
    return tree


def test_a_mesh_too_coarse_for_its_map_is_refused(path: Path) -> None:
    """Another one would be made for labels that are new, of the largest size there is."""
    path.write_bytes(stored("joint"))
    tree = read_archive(path, "model")
    for way in (MAP, ("reference", "fields", "origin"), ("reference", "fields", "spacing")):
        _with(lambda value: np.asarray(1e9 * value, value.dtype), *way)(tree)
    tree["reference"]["fields"]["spacing"] = float(tree["reference"]["fields"]["spacing"])
    write_archive(path, "model", tree)
    with pytest.raises(ValueError, match="embedding must be inside its mesh"):
        ctsne.load(path)


@pytest.mark.parametrize("width", [1e-20, 1.0, 300.0])
def test_maps_of_any_width_are_kept(path: Path, width: float) -> None:
    start = width * X[:, :2] / np.abs(X).max()
    model = fitted("joint", init=start, n_iter=1, early_exaggeration_iter=0)
    assert np.ptp(model.embedding_) > 0.1 * width
    model.save(path)
    assert np.array_equal(ctsne.load(path).embedding_, model.embedding_)


def test_the_largest_values_that_data_may_have(path: Path) -> None:
    """Distances between them are larger than any of them."""
    large = X * (LARGEST_VALUE / np.abs(X).max())
    model = fitted("joint").fit(large, labels=KNOWN)
    assert model._reference.scale > LARGEST_VALUE
    model.save(path)
    np.testing.assert_array_equal(
        ctsne.load(path).transform(large[:20], KNOWN[:20]), model.transform(large[:20], KNOWN[:20])
    )


@pytest.mark.parametrize("way", ["state", "joint"])
def test_saving_and_loading_draw_no_random_numbers(way: str, tmp_path: Path) -> None:
    own = np.random.RandomState(3)
    model = fitted(way, random_state=own if way == "state" else None)
    before = [repr(state.get_state()) for state in (own, np.random)]
    model.save(tmp_path / "model.ctsne")
    ctsne.load(tmp_path / "model.ctsne").transform(NEW, LABELS)
    assert before == [repr(state.get_state()) for state in (own, np.random)]
