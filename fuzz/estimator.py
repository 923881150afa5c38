"""Attack ``ConditionalTSNE``: random parameters and input, mostly valid, a few things wrong."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import inputs
import numpy as np
from checks import check_finite, check_state, check_unchanged, fingerprint, global_state
from harness import Finding, expect_typed
from inputs import Rng, odd, pick
from sklearn.base import clone

from ctsne import ConditionalTSNE, load
from ctsne.labels import encode_column

LIMIT = 60.0

METHODS = ("joint", "revised", "balanced", "original", "tsne")
NAMES = tuple(ConditionalTSNE().get_params())


class CallbackError(Exception):
    """What a failing callback of these cases raises."""


#: What a call may raise.
TYPED = (ValueError, TypeError, MemoryError, CallbackError)


@dataclass
class Case:
    """One fit: the data, the labels and the parameters."""

    n: int
    X: Any
    labels: Any
    parameters: dict[str, Any]
    y: Any = None
    numbers: Any = None
    calls: list[Any] = field(default_factory=list)  # what the callback was called with

    def fit(self, **changes: Any) -> ConditionalTSNE:
        return ConditionalTSNE(**{**self.parameters, **changes}).fit(
            self.X, self.y, labels=self.labels, numbers=self.numbers
        )


def start(folder: Path) -> None:
    """Import what only some cases need."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        Case(
            12, rng.normal(size=(12, 3)), inputs.names(rng, 12), {"perplexity": 3, "n_iter": 2}
        ).fit()


def attack(rng: Rng, folder: Path) -> str | None:
    """Fit one random case, and check everything a fit promises."""
    case = make_case(rng)
    follow_up = rng.integers(100)
    given = {"X": case.X, "labels": case.labels, "y": case.y, **case.parameters}
    given["numbers"] = case.numbers
    seed = given.pop("random_state", None)
    before = {name: fingerprint(value) for name, value in given.items()}
    seed_before = fingerprint(seed)
    state = global_state(random=seed is not None and seed is not np.random)
    name, result = expect_typed(case.fit, TYPED)
    if name in ("ValueError", "TypeError") and not case.calls:
        check_unchanged(seed_before, fingerprint(seed), "random_state (of a refused fit)")
    if name == "ok":
        check_fit(result, case)
        check_more(result, case, int(follow_up), rng)
        if follow_up >= 70:
            check_placing(result, case, folder, rng)
        if follow_up >= 80:
            check_trust(result)
        if follow_up >= 85:
            check_extended(result, case, folder, rng)
    for each, value in given.items():
        check_unchanged(before[each], fingerprint(value), each)
    check_state(state)
    return name


# ---- cases ---------------------------------------------------------------------------------------


def make_case(rng: Rng) -> Case:
    """Make valid data and parameters, then change some of them."""
    size = rng.random()
    low, high = (0, 4) if size < 0.03 else (200, 700) if size > 0.99 else (4, 61)
    n = int(rng.integers(low, high))  # from some 200 points on, maps use meshes
    X = inputs.points(rng, n, int(rng.integers(1, 9)) if rng.random() < 0.98 else 0)
    case = Case(n, X, None, valid_parameters(rng, n))
    wrong = int(pick(rng, (0, 0, 0, 0, 1, 1, 2, 3)))
    bad_table = wrong > 0 and rng.random() < 0.3
    broken = 0.2 if wrong else 0
    case.labels = inputs.labels(rng, n, broken=broken) if rng.random() < 0.85 else None
    if rng.random() < 0.25:
        case.numbers = inputs.numbers(rng, n, broken=broken)
        if rng.random() < 0.2 and not isinstance(case.numbers, dict):
            case.parameters["numbers_period"] = pick(rng, (24, 1, 1e-3, 1e300))
    if rng.random() < 0.1 and case.labels is not None:
        knob = "beta" if case.parameters["method"] in ("revised", "original") else "strength"
        case.parameters[knob] = per_label(rng, case.labels)
    if case.parameters["metric"] == "precomputed":
        case.X = inputs.distances(rng, X)
        if rng.random() < 0.6:
            case.X = inputs.graph(rng, case.X, int(rng.integers(1, n + 2)))
            if bad_table:
                case.X = inputs.broken_sparse(rng, case.X.toarray()) if n else case.X
        else:
            case.X = inputs.table(rng, case.X, values=0.1, broken=0.5 * bad_table)
    else:
        case.X = inputs.table(rng, X, values=0.35 if wrong else 0.15, broken=0.7 * bad_table)
    for _ in range(wrong - bad_table):
        parameter = pick(rng, NAMES)
        case.parameters[parameter] = odd_parameter(rng, parameter, case)
    n_iter = case.parameters["n_iter"]
    if isinstance(n_iter, int | np.integer) and n_iter > 300:
        case.parameters["n_iter"] = 3  # valid, and as slow as it was asked to be
    if "callback" in case.parameters and case.parameters["callback"] is None:
        case.parameters["callback"] = make_callback(rng, case)
    if rng.random() < 0.02:
        case.y = odd(rng)
    return case


def valid_parameters(rng: Rng, n: int) -> dict[str, Any]:
    """Return few iterations, a perplexity that fits, and some other valid parameters."""
    parameters: dict[str, Any] = {
        "method": pick(rng, METHODS),
        "perplexity": pick(rng, (1, 1.5, 2, 5, 10, 30, max(1, n - 1), max(1, n / 3))),
        "metric": pick(rng, ("euclidean",) * 7 + ("cosine", "precomputed" if n < 61 else "cosine")),
        "n_iter": int(rng.integers(1, 13)) if rng.random() < 0.99 else 300,
        "n_jobs": pick(rng, (1, 1, 1, 1, 1, 2, None, -1)),
        "random_state": int(rng.integers(100)),
        "init": pick(rng, ("pca", "random", "random")),  # random is the fastest
    }
    parameters["perplexity"] = min(parameters["perplexity"], max(1, n - 1))
    if parameters["metric"] == "precomputed":
        parameters["init"] = pick(rng, ("random", "spectral"))
    for name in VALID:
        if rng.random() < 0.08:
            parameters[name] = pick(rng, VALID[name])
    if rng.random() < 0.05:
        parameters["init"] = 1e-4 * rng.normal(size=(n, parameters.get("n_components", 2)))
    if rng.random() < 0.05:
        parameters["align"] = rng.normal(size=(n, int(rng.integers(1, 5))))
    if rng.random() < 0.01 and parameters["method"] != "tsne":
        parameters["mixing"] = rng.random()
    return parameters


def per_label(rng: Rng, labels: Any) -> Any:
    """Return a mapping with a number per label, or a number if these are not labels."""
    name, known = expect_typed(lambda: encode_column(labels))
    return {each: rng.random() or 1 for each in known.names} if name == "ok" else 0.5


#: Valid values of the parameters, at their limits too. The callback None becomes a random one.
VALID: dict[str, tuple[Any, ...]] = {
    "n_components": (1, 2, 3, np.int64(2)),
    "strength": (0, 0.3, 1, 1.0, np.float32(0.5), 1e-300),
    "beta": (1, 1e-4, 1e-30, 0.5, 1e-300, 5e-324, np.float64(0.1)),
    "align": ("none", "mutual", "local", "mean", "auto"),
    "odds": (1, 2, 1e6, 20.0),
    "beta_low": (1, 0.5, 1e-4, 1e-30),
    "bandwidth": ("r", "p"),
    "pca": (None, "auto", 1, 2, 3),
    "recall": (0.5, 0.9, 1, 1.0),
    "init": ("pca", "random", "spectral"),
    "early_exaggeration": (1, 4, 1e-3, 100),
    "early_exaggeration_iter": (0, 1, 5, 1000),
    "exaggeration": (1, 4, 0.1),
    "learning_rate": ("auto", 1, 200.0, 1000, 1e-6),
    "dof": (1, 0.5, 2, 0.05, 10, 100, 1000),
    "callback": (None,),
    "callback_every": (1, 3, 50, 10**9),
    "random_state": (None, 0, 2**32 - 1),
    "verbose": (0, False),
}


def odd_parameter(rng: Rng, name: str, case: Case) -> Any:
    """Return a value for a parameter that is wrong, or right by chance."""
    kind = rng.integers(10)
    if name in ("init", "align") and kind < 5:
        columns = pick(rng, (1, 2, 2, 3, 0))
        return inputs.table(rng, rng.normal(size=(case.n, columns)), broken=0.3)
    if name == "random_state" and kind < 3:
        return np.random.RandomState(3)
    if name in ("strength", "beta", "odds", "beta_low") and kind < 4:
        keys = pick(
            rng, (("a", "b", "c", "d"), ("a",), (0, 1, 2), ("0", "1"), (None,), ("a", "A"), (1j,))
        )
        return {
            key: pick(rng, (0, 0.5, 1, 2, -1, np.nan, "x", None, True, 10**400)) for key in keys
        }
    if name == "callback" and kind < 6:
        return None
    if kind < 6:
        return odd(rng)
    if kind < 7:
        return pick(rng, VALID.get(name, (0,)))
    return pick(rng, EXTREME.get(name, (-1, 1e300, 0)))


#: Numbers just inside and outside of what is allowed, and far outside.
EXTREME: dict[str, tuple[Any, ...]] = {
    "n_components": (0, 4, 2.0, 10**9),
    "n_iter": (0, -5, 2.0, 50, 300),
    "method": ("TSNE", "umap", ""),
    "perplexity": (0, 0.5, 1, 1 + 1e-12, 59, 59.5, 1e4, 3, 2.5, 1e300),
    "strength": (-1e-9, 1 + 1e-9, 1e-20, 0.9999999),
    "beta": (0, 1 + 1e-9, -1, 1e-308, 1e-320),
    "odds": (0.5, 1e7, 1 + 1e-12, 1e5),
    "beta_low": (0, 1.5, 1e-300, 1e-12),
    "mixing": (0, 1, 0.5, 1.5, -0.1),
    "pca": (0, -1, 8, 9, 100, 10**9, 2.0),
    "recall": (0, 0.49, 1.01, 0.999999),
    "early_exaggeration": (0, -1, 1e300, 1e-300, 1e10, 1e5),
    "early_exaggeration_iter": (-1, 10**18, 3),
    "exaggeration": (0, -1, 1e300, 1e-300, 1e10, 1e5),
    "learning_rate": (0, -1, 1e300, 1e-300, 1e10, "big", 1e5),
    "dof": (0, 0.01, 0.049, 1000.5, 300, 1e9, 0.06, 500),
    "callback_every": (0, -1, 2.5, 2**70),
    "n_jobs": (0, -2, -100, 3, 1000, 2**40),
    "random_state": (-1, 2**32, 2**31, 1.5),
    "verbose": (1, 2, True, -1, 100),
}


def make_callback(rng: Rng, case: Case) -> Any:
    """Return a callback that behaves, stops, fails, answers oddly or writes into the map."""
    kind = rng.integers(6)
    answer = odd(rng) if kind == 0 else None

    def callback(iteration: int, loss: float, embedding: np.ndarray) -> Any:
        case.calls.append(iteration)
        check_finite(float(loss), "the loss given to the callback")
        check_finite(embedding, "the map given to the callback")
        if kind == 1:
            raise CallbackError("the callback failed")
        if kind == 2:
            return True
        if kind == 3 and embedding.flags.writeable:
            embedding[:] = np.nan
        return answer

    if kind == 4:
        return lambda: None
    return callback


# ---- checks --------------------------------------------------------------------------------------


def check_fit(model: ConditionalTSNE, case: Case) -> None:
    """Check the attributes of a fitted model."""
    n_components = model.n_components
    embedding = model.embedding_
    if type(embedding) is not np.ndarray or embedding.dtype != np.float32:
        raise Finding(f"embedding_ is {type(embedding).__name__} of {embedding.dtype}")
    shape = (case.X.shape[0] if hasattr(case.X, "shape") else len(case.X), n_components)
    if embedding.shape != shape:
        raise Finding(f"embedding_ has a wrong shape\n{embedding.shape}, not {shape}")
    check_finite(embedding, "embedding_")
    check_finite(float(model.kl_divergence_), "kl_divergence_")
    check_finite(model.affinities_, "affinities_")
    if abs(float(model.affinities_.sum()) - 1) > 1e-4:
        raise Finding(f"affinities_ do not sum to one\n{model.affinities_.sum()}")
    diagnostics = model.diagnostics_
    for name in (
        "perplexity",
        "other_share",
        "largest_weight",
        "matched",
        "recall",
        "alignment_scores",
    ):
        check_finite(getattr(diagnostics, name), f"diagnostics_.{name}")
    for name in ("sigma", "sigma_other"):
        check_finite(getattr(diagnostics, name), f"diagnostics_.{name}", infinite=True)
    if not case.calls and model.n_iter_ != model.n_iter:
        raise Finding(f"n_iter_ is {model.n_iter_}, not {model.n_iter}")
    for name, value in model.get_params(deep=False).items():
        if name in case.parameters and value is not case.parameters[name]:
            raise Finding(f"fit replaced the parameter {name}")


def check_more(model: ConditionalTSNE, case: Case, chance: int, rng: Rng) -> None:
    """Check, now and then, what a fitted model can do beyond its attributes."""
    repeatable = isinstance(model.random_state, int | np.integer) and not case.calls
    if chance < 4 and repeatable:
        check_same(model, case.fit(), "a second fit")
    elif chance < 8 and repeatable:
        check_same(model, case.fit(n_jobs=2 if model.n_jobs == 1 else 1), "a fit with other n_jobs")
    elif chance < 10:
        copy = clone(model)
        if vars(copy).keys() != model.get_params(deep=False).keys():
            raise Finding("a clone has more than parameters")
        copy.set_params(**model.get_params())
        repr(copy)
    elif chance < 12 and model.callback is None and not callable(model.init):
        check_same(model, pickle.loads(pickle.dumps(model)), "a pickled model")
    elif chance < 14:
        model._repr_html_()
        repr(model)
        if len(model.get_feature_names_out()) != model.n_components:
            raise Finding("get_feature_names_out has a wrong length")
    elif chance < 18:
        before = model.n_iter_
        name, _ = expect_typed(lambda: model.resume(pick(rng, (1, 2, 5, 0, -1, "x", None))))
        check_finite(model.embedding_, "embedding_ after resume")
        check_finite(float(model.kl_divergence_), "kl_divergence_ after resume")
        if name != "ok" and model.n_iter_ != before and not case.calls:
            raise Finding("a refused resume changed the model")


def check_placing(model: ConditionalTSNE, case: Case, folder: Path, rng: Rng) -> None:
    """Check that a model places points, its own too, and that a saved one gives the same bits."""
    placed = place_own(model, case)
    check_finite(placed.embedding, "embedding of placed points")
    check_finite(placed.distance, "distance of placed points")
    path = folder / "model.ctsne"
    name, error = expect_typed(lambda: model.save(path))
    if name != "ok":
        if "cannot be told apart" not in str(error):
            raise Finding(f"a fitted model cannot be saved: {name}\n{error}")
        return
    loaded = load(path)
    path.unlink()
    if not np.array_equal(placed.embedding, place_own(loaded, case).embedding):
        raise Finding("a loaded model places points elsewhere")
    given = new_points(model, case, rng)
    (name, one), (again, two) = (
        expect_typed(lambda each=each: each.place(case.X, **given)) for each in (model, loaded)
    )
    if name != again:
        raise Finding(f"a loaded model places new points otherwise: {name}, {again}\n{one}\n{two}")
    if name == "ok":
        check_finite(one.embedding, "embedding of new points")
        if not np.array_equal(one.embedding, two.embedding):
            raise Finding("a loaded model places new points elsewhere")


def place_own(model: ConditionalTSNE, case: Case) -> Any:
    """Place the points of the fit."""
    name, placed = expect_typed(
        lambda: model.place(
            case.X, case.labels, numbers=case.numbers, aligned=own_alignment(model, case)
        )
    )
    if name != "ok":
        raise Finding(f"a fitted model refuses its own points: {name}\n{placed}")
    return placed


def own_alignment(model: ConditionalTSNE, case: Case) -> Any:
    """Return the representation that a map was aligned in, if it was given as an array."""
    return case.parameters["align"] if model.diagnostics_.alignment == "array" else None


def new_points(model: ConditionalTSNE, case: Case, rng: Rng) -> dict[str, Any]:
    """Return labels and numbers for the points of the fit that may be others, or do not fit."""
    labels, numbers = case.labels, case.numbers
    if rng.random() < 0.6:
        labels = pick(rng, (None, inputs.labels(rng, case.n), inputs.names(rng, case.n)))
    if rng.random() < 0.4:
        numbers = pick(rng, (None, inputs.numbers(rng, case.n)))
    given = {"labels": labels, "numbers": numbers, "aligned": own_alignment(model, case)}
    if rng.random() < 0.3:
        given["perplexity"] = pick(rng, (1, 2, 1.5, 1e9, 0, "x"))
    return given


def check_trust(model: ConditionalTSNE) -> None:
    """Check that trust is from 0 to 1 for every point."""
    name, trust = expect_typed(model.trust)
    if name != "ok":
        raise Finding(f"a fitted model has no trust: {name}\n{trust}")
    check_finite(trust, "trust")
    if trust.shape != model.embedding_.shape[:1] or trust.min() < 0 or trust.max() > 1:
        raise Finding(f"trust is wrong\n{trust!r:.500}")


def check_extended(model: ConditionalTSNE, case: Case, folder: Path, rng: Rng) -> None:
    """Check a map that takes in its own points once more, or others; it must be whole again."""
    given = {"labels": case.labels, "numbers": case.numbers, "aligned": own_alignment(model, case)}
    own = rng.random() < 0.5
    if not own:
        given = new_points(model, case, rng)
        given.pop("perplexity", None)
    n, done = len(model.embedding_), model.n_iter_
    name, found = expect_typed(
        lambda: model.extend(case.X, **given, n_iter=int(rng.integers(1, 4))), TYPED
    )
    if name != "ok":
        if own and model.metric != "precomputed" and model.callback is None:
            raise Finding(f"a fitted model refuses to take in its own points: {name}\n{found}")
        if model.callback is None and (len(model.embedding_), model.n_iter_) != (n, done):
            raise Finding(f"a refused extend changed the model: {name}\n{found}")
        return
    if len(model.embedding_) != 2 * n:
        raise Finding(f"an extended map has {len(model.embedding_)} points, not {2 * n}")
    check_finite(model.embedding_, "embedding_ after extend")
    check_finite(float(model.kl_divergence_), "kl_divergence_ after extend")
    if not 0 <= model.procrustes_ <= 1:
        raise Finding(f"procrustes_ is wrong\n{model.procrustes_}")
    check_trust(model)
    if own:
        check_placing(model, case, folder, rng)


def check_same(model: ConditionalTSNE, other: ConditionalTSNE, what: str) -> None:
    """Check that two models are the same, bit for bit."""
    if not np.array_equal(model.embedding_, other.embedding_):
        difference = np.abs(model.embedding_ - other.embedding_).max()
        raise Finding(f"{what} gives another map\nlargest difference: {difference}")
    if model.kl_divergence_ != other.kl_divergence_:
        raise Finding(f"{what} gives another loss\n{model.kl_divergence_} {other.kl_divergence_}")
