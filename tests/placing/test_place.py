"""New points in a finished map: place, transform and extend."""

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError

import ctsne
from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.estimator import new_label_shifts, place_in
from ctsne.evaluate import mixing
from ctsne.labels import encode_labels
from ctsne.placing import place as placing
from ctsne.placing import reference
from ctsne.placing.reference import LazyReference

# New labels of the tests are made up, so that some of their points are far from the others.
pytestmark = pytest.mark.filterwarnings("ignore:.*new points have no neighbour:UserWarning")
METHODS = ("tsne", "original", "revised", "balanced", "joint")
ALIGNMENTS = ("none", "mutual", "local", "mean", "auto")
DATA = make_synthetic(300, random_state=0)
X, LABELS = DATA.X, DATA.known.astype(object)
OLD, NEW = slice(0, 220), slice(220, 300)
# Labels of new points: known ones, a new one, and missing ones.
GIVEN = LABELS[NEW].copy()
GIVEN[:15], GIVEN[15:25] = "green", None


def make(**parameters: Any) -> ConditionalTSNE:
    short = {"perplexity": 10, "n_iter": 120, "early_exaggeration_iter": 50, "random_state": 0}
    return ConditionalTSNE(**{**short, **parameters})


def fitted(**parameters: Any) -> ConditionalTSNE:
    return make(**parameters).fit(X[OLD], labels=LABELS[OLD])


def check_independent(model: ConditionalTSNE, rows: Any, labels: Any, **given: Any) -> None:
    """Check that order, threads, batches and storage change no bit."""
    together = model.place(rows, labels, **given)
    m = len(together.embedding)
    assert together.embedding.dtype == np.float32 and np.isfinite(together.embedding).all()
    order = np.random.default_rng(0).permutation(m)
    aligned = {name: each[order] for name, each in given.items()}
    turned = model.set_params(n_jobs=1).place(rows[order], labels[order], **aligned)
    for name, values in together.diagnostics().items():
        np.testing.assert_array_equal(turned.diagnostics()[name], values[order], err_msg=name)
    np.testing.assert_array_equal(turned.embedding, together.embedding[order])
    known = np.flatnonzero(labels != "green")  # the shift of a new label depends on its points
    for i in known[:: max(1, len(known) // 5)]:
        alone = {name: each[i : i + 1] for name, each in given.items()}
        one = model.transform(rows[i : i + 1], labels[i : i + 1], **alone)
        np.testing.assert_array_equal(one[0], together.embedding[i])
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.transform(rows, labels, **given), together.embedding)
    np.testing.assert_array_equal(
        reloaded(model).transform(rows, labels, **given), together.embedding
    )


def reloaded(model: ConditionalTSNE) -> ConditionalTSNE:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.ctsne")
        return ctsne.load(Path(folder) / "model.ctsne")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_every_method(method: str, n_components: int) -> None:
    model = fitted(method=method, n_components=n_components)
    check_independent(model, X[NEW], GIVEN)
    placed = model.place(X[NEW], GIVEN)
    assert placed.embedding.shape == (80, n_components)
    listed = method in ("revised", "balanced", "joint")
    assert (placed.other_share is None) == (placed.matched is None) == (not listed)
    if placed.other_share is not None and placed.matched is not None:
        assert (placed.other_share[:15] == 1).all() and np.isnan(placed.matched[:15]).all()
        assert (placed.other_share[15:25] == 0).all() and (placed.matched[15:25] == 1).all()


@pytest.mark.parametrize("align", ALIGNMENTS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_every_alignment(align: str, metric: str) -> None:
    check_independent(fitted(align=align, metric=metric), X[NEW], GIVEN)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sparse", [False, True])
def test_distances(method: str, sparse: bool) -> None:
    distances = cdist(X, X)
    known, new = distances[OLD, OLD], distances[NEW, OLD]
    dense = make(method=method, metric="precomputed", init="random").fit(known, labels=LABELS[OLD])
    if not sparse:
        check_independent(dense, new, GIVEN)
        return
    complete = sp.csr_array(known)
    model = make(method=method, metric="precomputed", init="random").fit(
        complete, labels=LABELS[OLD]
    )
    rank = np.argsort(np.argsort(new, axis=1), axis=1)
    few = sp.csr_array(np.where(rank < np.arange(20, 100)[:, None], new, 0))  # of any length
    check_independent(model, few, GIVEN)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"method": "tsne"},
        {"method": "revised", "beta": 0.1},
        {"align": "mutual"},
        {"dof": 0.5},
        {"metric": "cosine"},
        {"pca": 4},
        {"method": "original", "n_components": 3, "n_iter": 150},
        {"odds": 5.0, "method": "tsne"},
        {"strength": {"blue": 0.2, "orange": 0.9}},
    ],
)
def test_points_of_the_fit_land_next_to_themselves(parameters: dict[str, Any]) -> None:
    model = fitted(**{"n_iter": 400, **parameters})
    y = model.embedding_
    again = model.transform(X[OLD], LABELS[OLD])
    moved = np.linalg.norm(again - y, axis=1)
    assert np.median(moved) < 0.03 * np.ptp(y, axis=0).max()
    nearer = (cdist(again, y) < moved[:, None] * (1 - 1e-6)).sum(axis=1)
    assert np.median(nearer) <= 3


@pytest.mark.parametrize(("limit", "value"), [("POINTS_AT_ONCE", 7), ("VALUES_AT_ONCE", 70)])
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
    model = fitted(align="mutual")
    whole = model.transform(X[NEW], GIVEN)
    monkeypatch.setattr(placing, limit, value)
    assert len(placing._blocks(X[NEW])) == 12
    np.testing.assert_array_equal(model.transform(X[NEW], GIVEN), whole)


def test_a_given_representation() -> None:
    moved = 10 * X + 3 * (LABELS == "blue")[:, None]
    model = make(align=moved[OLD]).fit(X[OLD], labels=LABELS[OLD])
    assert model._reference.alignment.factor == pytest.approx(0.1, rel=0.2)
    check_independent(model, X[NEW], GIVEN, aligned=moved[NEW])
    with pytest.raises(ValueError, match=r"pass aligned=\.\.\., an array of shape"):
        model.transform(X[NEW], GIVEN)
    with pytest.raises(ValueError, match="aligned must have a row for each new point"):
        model.transform(X[NEW], GIVEN, aligned=moved[NEW][:, :2])
    with pytest.raises(ValueError, match="only for models that were fitted with an array"):
        fitted().transform(X[NEW], GIVEN, aligned=moved[NEW])


@pytest.mark.parametrize("align", ["mutual", "mean"])
def test_the_shift_of_a_new_label(align: str) -> None:
    rng = np.random.default_rng(1)
    centres = 9 * rng.normal(size=(4, 6))
    points = centres[rng.integers(0, 4, 600)] + rng.normal(size=(600, 6))
    labels = np.repeat(["a", "b", "c"], 200).astype(object)
    shift = 2.0 * np.eye(6)[0]
    points += np.repeat([0, 1, -1], 200)[:, None] * shift
    model = make(align=align).fit(points[:400], labels=labels[:400])
    found = new_label_shifts(model, points[400:], labels[400:])
    middle = model._reference.alignment.shifts[0]
    np.testing.assert_allclose(found["c"] - middle, shift, atol=1.0)
    parts = [
        place_in(model, points[begin:end], labels[begin:end], shifts=found).embedding
        for begin, end in ((400, 470), (470, 600))
    ]
    whole = model.transform(points[400:], labels[400:])
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    labels[590:] = None  # missing labels of a part have no shift
    again = place_in(model, points[470:], labels[470:], shifts=found).embedding
    np.testing.assert_array_equal(again[:-10], parts[1][:-10])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("align", ["none", "mutual", "local"])
def test_several_columns(method: str, align: str) -> None:
    donor = np.array(["d1", "d2", None, "d3"], object)[np.arange(300) % 4]
    frame = pd.DataFrame({"batch": LABELS, "donor": donor})
    with_lists = method not in ("tsne", "original")
    model = make(method=method, align=align if with_lists else "none")
    model.fit(X[OLD], labels=frame[OLD])
    given = frame[NEW][["donor", "batch"]].reset_index(drop=True)
    given.loc[:5, "batch"], given.loc[4:9, "donor"], given.loc[10:14] = "green", "d9", None
    placed = model.place(X[NEW], given)
    order = np.random.default_rng(0).permutation(80)
    again = model.place(X[NEW][order], {name: given[name][order] for name in ("batch", "donor")})
    np.testing.assert_array_equal(again.embedding, placed.embedding[order])
    np.testing.assert_array_equal(
        model.transform(X[NEW], given[["batch", "donor"]].to_numpy()), placed.embedding
    )
    np.testing.assert_array_equal(reloaded(model).transform(X[NEW], given), placed.embedding)
    if method == "tsne":
        return
    with pytest.raises(ValueError, match=r"labels has 1 column, but the model was fitted with 2"):
        model.transform(X[NEW], LABELS[NEW])
    with pytest.raises(ValueError, match="labels has the columns 'a', 'b', but the model"):
        model.transform(X[NEW], given.set_axis(["a", "b"], axis=1))


def test_fields_of_new_combinations_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"batch": LABELS, "donor": np.arange(300) % 5})
    model = make(method="original").fit(X[OLD], labels=frame[OLD])
    given = frame[NEW].assign(batch=None).reset_index(drop=True)  # five new combinations
    placed = model.transform(X[NEW], given)
    assert len(model._reference._new_places) == 5
    model._lazy_reference.forget()
    monkeypatch.setattr(reference, "MOST_NODES", 0)
    np.testing.assert_array_equal(model.transform(X[NEW], given), placed)
    assert len(model._reference._new_places) == 1


def test_labels_match_by_value_or_text() -> None:
    numbers = np.where(LABELS == "blue", 1, 2)
    model = make().fit(X[OLD], labels=numbers[OLD])
    expected = model.transform(X[NEW], numbers[NEW])
    for given in (numbers[NEW].astype(str), numbers[NEW].astype(float), list(numbers[NEW])):
        np.testing.assert_array_equal(model.transform(X[NEW], given), expected)
    new = model.place(X[NEW], numbers[NEW] + 10)
    assert new.other_share is not None and (new.other_share == 1).all()


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("parameters", [{"method": "original"}, {"align": "mutual"}])
def test_unused_labels(parameters: dict[str, Any], several: bool, tmp_path: Path) -> None:
    rows = np.flatnonzero(LABELS[OLD] == "blue")
    names = np.where(np.arange(220) % 3, LABELS[OLD], "amber")  # the first label, left out below
    columns = {"a": names, "b": np.arange(220) % 2} if several else names
    kept = np.flatnonzero(names != "amber")
    plain = {"a": names[kept], "b": kept % 2} if several else names[kept]
    model = make(**parameters).fit(X[kept], labels=encode_labels(columns).take(kept))
    wanted = make(**parameters).fit(X[kept], labels=plain)
    given = {"a": LABELS[rows], "b": rows % 2} if several else LABELS[rows]
    placed = model.transform(X[rows], given)
    np.testing.assert_array_equal(placed, wanted.transform(X[rows], given))
    model.save(tmp_path / "model.ctsne")
    np.testing.assert_array_equal(
        ctsne.load(tmp_path / "model.ctsne").transform(X[rows], given), placed
    )


@pytest.mark.parametrize("pca", [None, 5])
def test_kinds_of_features_and_results(pca: int | None) -> None:
    for kind in (np.float32, np.int64):
        whole = np.round(X * 50).astype(kind)
        model = make(pca=pca).fit(whole[OLD], labels=LABELS[OLD])
        expected = model.transform(whole[NEW], LABELS[NEW])
        for convert in (pd.DataFrame, sp.csr_array, np.asfortranarray):
            found = model.transform(convert(whole[NEW]), LABELS[NEW])
            np.testing.assert_allclose(found, expected, atol=1e-3 if pca else 0)
        check_independent(model, whole[NEW], GIVEN)
    table = sp.random_array((150, 70), density=0.2, random_state=0, format="csr")
    model = make(method="tsne").fit(table[:100])
    wide = model.transform(table[100:])
    np.testing.assert_array_equal(model.transform(table[120:130]), wide[20:30])
    np.testing.assert_allclose(model.transform(table[100:].toarray()), wide, atol=1e-2)
    framed = model.set_output(transform="pandas").transform(table[100:])
    assert list(framed.columns) == ["ctsne_1", "ctsne_2"] and len(framed) == 50
    placed = model.place(table[100:])
    summary = f"{placed.far.sum()} farther than {placed.far_distance:.3g}"
    assert repr(placed) == f"<Placement of 50 points, {summary}>"


def test_without_labels() -> None:
    with pytest.warns(UserWarning, match="no labels given, so the new points are placed next to"):
        placed = fitted().place(X[NEW])
    assert placed.other_share is not None and (placed.other_share == 0).all()
    model = make(method="tsne").fit(X[OLD])
    np.testing.assert_array_equal(model.transform(X[NEW], GIVEN), model.transform(X[NEW]))


def test_far_points() -> None:
    model = make(method="tsne").fit(X[OLD])
    held_out = model.place(X[NEW])
    assert held_out.far.mean() <= 0.03  # of 80 points
    assert (held_out.far == (held_out.distance > held_out.far_distance)).all()
    nearest = cdist(X[NEW], X[OLD]).min(axis=1)
    np.testing.assert_allclose(held_out.distance, nearest, rtol=1e-5)
    said = r"80 of 80 new points have no neighbour in the map closer than"
    with pytest.warns(UserWarning, match=said) as caught:
        assert model.place(X[NEW] + 100).far.all()
    assert len(caught) == 1


@pytest.mark.filterwarnings("ignore:all points of X are identical:UserWarning")
@pytest.mark.filterwarnings("ignore:2 of 2 labels have too few points:UserWarning")
def test_small_maps() -> None:
    model = make(perplexity=2, method="tsne").fit(X[:4])
    assert model.transform(X[:1]).shape == (1, 2)
    same = make(perplexity=2).fit(np.zeros((6, 3)), labels=list("ababab"))
    assert np.isfinite(same.transform(np.zeros((2, 3)), ["a", "c"])).all()


def test_bad_input_is_refused() -> None:
    with pytest.raises(NotFittedError):
        make().place(X[NEW])
    model = fitted()
    bad = X[NEW].copy()
    bad[3, 1] = np.nan
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (X[NEW][:, :3], {}, "features"),
        (bad, {}, "NaN"),
        (X[0], {}, "Reshape"),
        (X[:0], {}, "minimum of 1"),
        (X[NEW], {"labels": ["a"]}, "labels"),
        (X[NEW], {"perplexity": 0}, "perplexity"),
        (X[NEW], {"perplexity": "5"}, "perplexity"),
    ]
    for values, given, says in cases:
        with pytest.raises((ValueError, TypeError), match=says):
            model.place(values, **given)
    donors = pd.DataFrame({"batch": LABELS, "donor": np.arange(300) % 3})
    turned = {"batch": donors["batch"][NEW], "donor": donors["donor"][NEW][::-1]}
    with pytest.raises(ValueError, match="order"):
        make().fit(X[OLD], labels=donors[OLD]).transform(pd.DataFrame(X)[NEW], turned)
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(10)])
    named = make().fit(frame[OLD], labels=LABELS[OLD])
    with pytest.raises(ValueError, match="feature names"):
        named.place(frame[NEW].rename(columns={"gene 1": "other"}), GIVEN)
    distances = make(metric="precomputed", init="random", method="tsne")
    distances.fit(cdist(X, X)[OLD, OLD])
    with pytest.raises(ValueError, match="features"):
        distances.place(np.ones((3, 4)))
    with pytest.raises(ValueError, match="not negative"):
        distances.place(-np.ones((3, 220)))
    with pytest.raises(ValueError, match="no distances for the new point in row 1"):
        distances.place(sp.csr_array(np.eye(220)[:2] * [[1], [0]]))
    with pytest.raises(ValueError, match="extend needs features"):
        distances.extend(np.ones((3, 220)))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"align": "mutual"},
        {"method": "tsne"},
        {"metric": "cosine"},
        {"pca": 4},
        {"method": "revised", "beta": {"blue": 0.1, "orange": 0.01}},
        {"method": "original"},
        {"n_components": 1},
    ],
)
def test_extending(parameters: dict[str, Any]) -> None:
    model = fitted(**{"n_iter": 400, **parameters})
    before, strength, beta = model.embedding_, model.strength_, model.beta_
    assert model.extend(X[NEW], GIVEN, n_iter=30) is model
    assert model.embedding_.shape == (300, before.shape[1]) and model.n_iter_ == 430
    if isinstance(beta, dict):  # a new label has the mean of the others
        beta = {**beta, "green": 0.055}
    assert (model.strength_, model.beta_) == (strength, beta)
    assert model.affinities_.shape == (300, 300)
    assert model.labels_.columns[0].names == ("blue", "orange", "green")
    assert model.labels_.combined.codes[OLD].tolist() == [
        int(label == "orange") for label in LABELS[OLD]
    ]
    assert 0 < model.procrustes_ < 0.2
    # It goes on like any other model, and without what only a fit leaves.
    assert model.transform(X[:3], LABELS[:3]).shape == (3, before.shape[1])
    model._lazy_reference = LazyReference(None, model._reference)
    assert len(model.extend(X[:9], LABELS[:9], n_iter=2).resume(2).embedding_) == 309


@pytest.mark.parametrize("name", ["align", "init", "strength"])
def test_parameters_grow_with_the_map(name: str, tmp_path: Path) -> None:
    moved = 10 * X + 3 * (LABELS == "blue")[:, None]
    value = {
        "align": moved[OLD],
        "init": X[OLD, :2],
        "strength": {"blue": 0.4, "orange": 0.6},
    }[name]
    aligned = moved[NEW] if name == "align" else None
    model = fitted(**{name: value})
    model.extend(X[NEW], GIVEN, aligned=aligned, n_iter=5)
    if name == "strength":
        assert model.strength == model.strength_ == {"blue": 0.4, "orange": 0.6, "green": 0.5}
    if name == "align":  # is in the unit of the user again
        np.testing.assert_allclose(model.align, moved, rtol=1e-5)
        assert model._reference.alignment.factor == pytest.approx(0.1, rel=0.2)
    model.save(tmp_path / "model.ctsne")
    placed = ctsne.load(tmp_path / "model.ctsne").transform(X[NEW], GIVEN, aligned=aligned)
    np.testing.assert_array_equal(placed, model.transform(X[NEW], GIVEN, aligned=aligned))


@pytest.mark.filterwarnings("ignore:mixing=:UserWarning")
def test_columns_and_mixing_of_an_extended_map() -> None:
    frame = pd.DataFrame({"batch": LABELS, "donor": np.arange(300) % 3})
    frame.loc[260:, "donor"] = 7
    model = make(mixing=0.5).fit(X[OLD], labels=frame[OLD])
    model.extend(X[NEW], frame[NEW].reset_index(drop=True), n_iter=5)
    assert model.labels_.columns[1].names == (0, 1, 2, 7)
    assert model.embedding_.shape == (300, 2)
    wanted = {name: mixing(model.embedding_, frame[name]) for name in frame}
    assert model.mixing_ == pytest.approx(wanted, abs=1e-6)


def test_new_points_that_a_shift_moves_to_zero_are_placed() -> None:
    labels = np.repeat(["a", "b"], 40)
    X = np.random.default_rng(0).normal(3, size=(80, 3)) * np.repeat([[2, 1, 1], [1, 2, 1]], 40, 0)
    model = ConditionalTSNE(perplexity=5, n_iter=20, metric="cosine", align="mean", random_state=0)
    shifts = model.fit(X, labels=labels)._reference.alignment.shifts
    shifts[0] = -1.0, 0.0, 0.0
    with pytest.warns(UserWarning, match="no neighbour in the map closer"):
        assert np.isfinite(model.transform(np.array([[2.0, 0.0, 0.0]]), ["a"])).all()
