"""What to do next with a map: labels that stay apart, why, and what the change would reach."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne._core.vocabulary import SUGGESTED_MIXING
from ctsne.evaluate import mixing
from ctsne.fit import advice
from ctsne.fit.advice import Advice, Apart
from ctsne.labels import encode_labels
from ctsne.layout import Layout

RNG = np.random.default_rng(0)
# Three types in two batches that differ by a shift along one feature.
TYPE = np.array(["B", "NK", "T"])[np.arange(600) % 3]
BATCH = np.where(np.arange(600) % 2, "one", "two")
X = RNG.normal(size=(600, 6))
X[:, 0] += 6.0 * (TYPE == "T")
X[:, 1] += 6.0 * (TYPE == "NK")
X[:, 2] += 4.0 * (BATCH == "one")
COMMON: dict[str, Any] = {"random_state": 0, "perplexity": 20}


def fitted(points: Any = X, labels: Any = BATCH, **parameters: Any) -> ConditionalTSNE:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of points without counterparts
        model = ConditionalTSNE(**{**COMMON, **parameters})
        return model.fit(points, labels={"batch": labels})


def test_labels_that_need_more_strength() -> None:
    model = fitted(strength=0.2, align="none")
    found = model.advise(other={"type": TYPE})
    assert found is not None and found.cause == "strength" and found.target == SUGGESTED_MIXING
    assert {each.label for each in found.apart} == {"one", "two"}
    assert found.mixing == {"batch": mixing(model.embedding_, BATCH)}
    # The value is stronger, and the estimate nearer to what it reaches than the mixing now.
    assert 0.2 < found.change["strength"] <= 1
    reached = mixing(fitted(align="none", **found.change).embedding_, BATCH)
    assert reached > found.mixing["batch"] + 0.1
    assert abs(found.reaches["batch"] - reached) < 0.5 * (reached - found.mixing["batch"])
    first, second = found.lines()
    assert first.startswith("labels that stay apart: ") and "one (mixing 0." in first
    assert f"strength={found.change['strength']!r} would mix batch to about" in second


def test_mixed_labels_take_one_line_and_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(X - 4.0 * (BATCH == "one")[:, None] * (np.arange(6) == 2), align="none")
    monkeypatch.setattr(Layout, "advance", lambda *_: pytest.fail("nothing to estimate"))
    found = model.advise()
    assert found is not None and not found.apart and not found.change and found.cause == ""
    assert found.lines() == ["all labels of batch are mixed to 0.8 of random or more"]


@pytest.mark.parametrize("align", ["none", "mutual"])
def test_a_private_population_is_named_and_nothing_in_use_is_advised(align: str) -> None:
    """Two thirds of one batch are of a type that the other one lacks, far from all others."""
    kind = np.where((TYPE != "B") & (BATCH == "one"), "T", TYPE)
    points = X + 40.0 * (kind == "T")[:, None] * (np.arange(6) == 4)
    points[:, 2] -= 4.0 * (BATCH == "one")
    kept = (BATCH == "one") | (TYPE == "B")
    model = fitted(points[kept], BATCH[kept], align=align)
    found = model.advise(other={"type": kind[kept]})
    assert found is not None and found.cause == "counterparts"
    first = found.apart[0]
    assert (first.label, first.where) == ("one", "T") and first.unmatched > 0.9
    assert found.change == ({"align": "local"} if align == "none" else {})
    text = " ".join(found.lines())
    assert "one (mixing" in text and "mostly T" in text and "no counterpart" in text
    assert ("best left apart" in text) == (align == "mutual")


def test_the_strongest_setting_and_values_per_label_get_no_stronger_one() -> None:
    for strength in (1.0, {"one": 0.1, "two": 0.2}):
        found = fitted(
            X + 9.0 * (BATCH == "one")[:, None], strength=strength, align="none"
        ).advise()
        assert found is not None and "strength" not in found.change


@pytest.mark.parametrize(
    ("method", "value"), [("revised", {"beta": 0.3}), ("balanced", {"strength": 0.1})]
)
def test_other_methods_have_their_own_knob(method: str, value: dict[str, float]) -> None:
    found = fitted(method=method, **value).advise()
    assert found is not None and found.cause == "strength"
    (name,) = value
    weaker, stronger = value[name], found.change[name]
    assert stronger > weaker if name == "strength" else stronger < weaker


def test_several_columns_change_the_one_that_stays_apart() -> None:
    labels = {"batch": BATCH, "noise": RNG.choice(["a", "b"], 600)}
    model = ConditionalTSNE(**COMMON, strength=0.2, align="none").fit(X, labels=labels)
    found = model.advise()
    assert found is not None and found.apart[0].column == "batch"
    assert found.change["strength"]["noise"] == 0.2 < found.change["strength"]["batch"]
    assert found.lines()[0].startswith("labels that stay apart: batch ")


def test_no_advice_without_labels_or_with_a_requested_mixing() -> None:
    assert fitted(mixing=0.3, n_iter=260).advise() is None
    assert ConditionalTSNE(method="tsne", n_iter=50, **COMMON).fit(X).advise() is None


def test_short_maps_and_many_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short map gets no estimate; many points get one from a sample, at less than its cost."""
    found = fitted(strength=0.2, align="none", n_iter=400).advise()
    assert found is not None and found.change and not found.reaches
    assert "should mix them further" in found.lines()[1]
    model = fitted(strength=0.2, align="none")
    whole = model.advise()
    monkeypatch.setattr(advice, "RUN_POINTS", 400)
    sizes: list[int] = []
    advance = Layout.advance

    def watched(self: Layout, n_iter: int) -> None:
        sizes.append(len(self.embedding) * n_iter)
        advance(self, n_iter)

    monkeypatch.setattr(Layout, "advance", watched)
    sampled = model.advise()
    assert whole is not None and sampled is not None and whole.change == sampled.change
    assert sampled.reaches["batch"] == pytest.approx(whole.reaches["batch"], abs=0.15)
    assert sum(sizes) <= 0.25 * 600 * 750


def test_lines_of_long_lists_stay_short() -> None:
    apart = tuple(Apart("batch", place, 0.1) for place in range(40))
    lines = Advice(0.8, {"batch": 0.1}, apart, "strength").lines()
    assert "and 37 more" in lines[0] and max(map(len, lines)) < 150


REAL = {"fsdd": "speaker", "pancreas3": "study", "sc_mixology": "batch", "gas_drift": "batch"}


@pytest.mark.slow
@pytest.mark.skipif("CTSNE_DATA" not in os.environ, reason="needs the folder CTSNE_DATA")
def test_estimates_on_real_data() -> None:
    errors = []
    for name, label in REAL.items():
        with np.load(Path(os.environ["CTSNE_DATA"]) / f"{name}.npz") as stored:
            points, labels = stored["X"], stored[label]
        model = fitted(points, labels, strength=0.3, align="none", perplexity=30)
        found = model.advise()
        assert found is not None and found.reaches
        given = fitted(points, labels, align="none", perplexity=30, **found.change)
        errors.append(found.reaches["batch"] - mixing(given.embedding_, labels))
    assert np.median(np.abs(errors)) <= 0.05


def test_the_line_about_trust_names_what_most_of_the_points_are() -> None:
    trust = np.full(600, 0.9, np.float32)
    labels = encode_labels({"batch": BATCH})
    assert advice.doubt_line(trust) == "no point is likely to lie elsewhere"
    trust[0] = 0.1
    assert (
        advice.doubt_line(trust, labels)
        == "less than 1 % of the points would have mostly other neighbours in another map"
    )
    trust[(TYPE == "T") & (BATCH == "one")] = 0.2
    line = "17 % of the points would have mostly other neighbours in another map; mostly"
    assert advice.doubt_line(trust, labels, {"type": TYPE}) == f"{line} T of batch one"
    assert advice.doubt_line(trust, labels) == f"{line} of batch one"
    assert advice.doubt_line(trust, encode_labels(BATCH)) == f"{line} of label one"
    nothing = {"type": np.full(600, None)}
    assert advice.doubt_line(trust, None, nothing) == line.removesuffix("; mostly")
    matched = np.where(TYPE == "T", 0.01, 1.0)
    alone = advice.doubt_line(trust, labels, {"type": TYPE}, matched)
    assert alone == f"{line} T of batch one; 99 % of them have no counterpart under other labels"
    assert advice.doubt_line(trust, labels, {"type": TYPE}, 1 - matched) == f"{line} T of batch one"
    trust[:] = 0.2  # all points: no label has more than its share
    assert advice.doubt_line(trust, labels, {"type": TYPE}) == (
        "100 % of the points would have mostly other neighbours in another map"
    )


def test_groups_of_a_number_are_named_with_it() -> None:
    depth = X[:, 3] + 9.0 * np.linspace(0, 1, 600)
    points = X + 20.0 * depth[:, None] * (np.arange(6) == 3)
    model = ConditionalTSNE(**COMMON, strength=0.1).fit(points, numbers={"depth": depth})
    found = model.advise()
    assert found is not None
    assert found.lines()[0].startswith("labels that stay apart: depth ")
