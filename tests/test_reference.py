"""The reference itself: hand-worked cases, identities and finite differences."""

import ast
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from . import reference as formulas

MIXED = np.array([0] * 6 + [1] * 2 + [-1] * 2)
LINE = [[0.0], [1.0], [3.0], [7.0]]


def clusters(n: int = 36, n_labels: int = 2, gap: float = 3.0, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % n_labels)
    X = rng.normal(size=(n, 4))
    X[:, 0] += gap * codes
    return X, codes


def paper_lists(X: Any, codes: Any, perplexity: float) -> tuple[Any, Any]:
    D2 = formulas.squared_distances(X)
    return D2, formulas.neighbor_lists(D2, codes, *formulas.list_lengths(codes, perplexity))[0]


def other_mass(rows: Any, indices: Any, codes: Any) -> Any:
    other = (codes[indices] != codes[:, None]) & (codes[indices] >= 0) & (codes >= 0)[:, None]
    return (rows * other).sum(axis=1)


def test_stands_alone() -> None:
    imported = set()
    for file in Path(str(formulas.__file__)).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add(str(node.module))
            elif isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
    assert imported == {
        "__future__",
        "collections.abc",
        "typing",
        "numpy",
        "numpy.typing",
        "scipy.special",
    }


class TestNeighbors:
    def test_distances(self) -> None:
        assert formulas.squared_distances([[0, 0], [3, 4]])[0].tolist() == [0, 25]
        # Far from the origin the norm expansion would lose everything.
        far = np.array([[1e8], [1e8 + 1]])
        assert formulas.squared_distances(far)[0, 1] == 1
        cosine = formulas.squared_distances([[1, 0], [0, 5], [-2, 0], [3, 0]], metric="cosine")
        np.testing.assert_allclose(cosine[0], [0, 1, 4, 0], atol=1e-15)

    def test_list_lengths(self) -> None:
        # Six neighbours. Label 0: only two others. Label 1: one of its own and two unlabelled.
        same, other = formulas.list_lengths(MIXED, 2.0)
        assert same.tolist() == [4] * 6 + [3] * 2 + [6] * 2
        assert (same + other).tolist() == [6] * 10
        # An odd length gives the odd one to the same label; n - 1 bounds the sum.
        same, other = formulas.list_lengths(np.array([0, 1] * 10), 3.0)
        assert (same[0], other[0]) == (5, 4)
        same, other = formulas.list_lengths(np.array([0, 1, 0, 1]), 3.0)
        assert (same[0], other[0]) == (1, 2)

    def test_list_lengths_balanced(self) -> None:
        # Shares 2/9 and 6/9 of six neighbours, rounded up; unlabelled points have one list.
        same, other = formulas.list_lengths_balanced(MIXED, 2.0, 1.0)
        assert other.tolist() == [2] * 6 + [4] * 2 + [0] * 2
        assert (same + other).tolist() == [6] * 10
        # Without strength half of each, as in the paper, as far as they go.
        same, other = formulas.list_lengths_balanced(MIXED, 2.0, 0.0)
        assert other.tolist() == [2] * 6 + [3] * 2 + [0] * 2
        # Of many labels, the own one keeps a point.
        same, other = formulas.list_lengths_balanced(np.arange(60) % 30, 2.0, 1.0)
        assert set(same) == {1} and set(other) == {5}
        same, other = formulas.list_lengths_balanced(MIXED, 2.0, [1.0, 0.0])
        assert other.tolist() == [2] * 6 + [3] * 2 + [0] * 2

    def test_list_lengths_joint(self) -> None:
        # 5/3 u = 4 points in each list, but label 0 has two others, and label 1 one of its own and
        # two unlabelled; n - 1 bounds the sum.
        same, other = formulas.list_lengths_joint(MIXED, 2.4)
        assert other.tolist() == [2] * 6 + [5] * 2 + [0] * 2
        assert (same + other).tolist() == [8] * 10
        same, other = formulas.list_lengths_joint(MIXED, 9.0)
        assert (same + other).tolist() == [9] * 10

    def test_neighbor_lists_order_and_ties(self) -> None:
        # Points 1, 2, 3 are equally far from 0, and 1 and 3 coincide; 4 is unlabelled.
        D2 = formulas.squared_distances([[0.0], [1.0], [-1.0], [1.0], [5.0]])
        codes = np.array([0, 0, 1, 0, -1])
        lengths = np.array([3, 3, 1, 3, 4]), np.array([1, 1, 3, 1, 0])
        indices, n_same = formulas.neighbor_lists(D2, codes, *lengths)
        assert indices[0].tolist() == [1, 3, 4, 2]
        assert indices[1].tolist() == [3, 0, 4, 2]
        assert indices[2].tolist() == [4, 0, 1, 3]
        assert indices[4].tolist() == [1, 3, 0, 2]
        assert n_same.tolist() == [3, 3, 1, 3, 4]


class TestWeights:
    def test_rho(self) -> None:
        assert formulas.rho(np.array([0, 0, 0, 1, -1])) == 6 / 12
        assert formulas.rho(np.array([0, 1, 2])) == 0
        assert formulas.rho(np.array([0, 0])) == formulas.rho(np.array([0, -1])) == 1

    @pytest.mark.parametrize("beta", [1.0, 0.3, 1e-4, 1e-300])
    def test_mean_weight_of_a_random_pair_is_one(self, beta: float) -> None:
        share = formulas.rho(MIXED)
        log_beta, log_alpha = formulas.high_weights(MIXED, beta)
        np.testing.assert_allclose(beta * share + np.exp(log_alpha) * (1 - share), 1)
        np.testing.assert_allclose(np.exp(log_beta), beta)
        assert (log_alpha >= -1e-15).all()
        weights = formulas.low_weights(MIXED, beta)[:8, :8]
        assert weights.sum() / 56 == pytest.approx(1)

    def test_per_label(self) -> None:
        log_beta, log_alpha = formulas.high_weights(MIXED, [0.5, 0.1])
        for code, beta in enumerate([0.5, 0.1]):
            alone = formulas.high_weights(MIXED, beta)
            assert (log_beta[code], log_alpha[code]) == (alone[0][code], alone[1][code])
        weights = formulas.low_weights(MIXED, [0.4, 0.1])
        assert weights[0, 6] == weights[6, 0] == pytest.approx(0.2)
        assert (weights[8:, :8] == 1).all() and weights[8, 9] == 1
        assert (np.diag(weights) == 0).all()

    def test_nothing_to_factor_out(self) -> None:
        for codes in (np.zeros(4, int), np.full(4, -1)):
            for log_weights in formulas.high_weights(codes, 1e-9):
                assert not log_weights.any()
            assert (formulas.low_weights(codes, 1e-9) == 1 - np.eye(4)).all()
        # As many labels as points: no same pair to tell the others from.
        assert formulas.low_weights(np.arange(3), 0.5)[0].tolist() == [0, 1, 1]

    def test_tiny_betas_do_not_vanish_below(self) -> None:
        weights = formulas.low_weights(np.array([0, 0, 1, 1]), 1e-300)
        np.testing.assert_allclose(weights[0], [0, 3, 1e-300, 1e-300])


class TestPrecision:
    def test_perplexity(self) -> None:
        assert formulas.perplexity(np.full(7, 1 / 7)) == pytest.approx(7)
        assert formulas.perplexity([1.0, 0.0]) == 1

    def test_two_neighbors_by_hand(self) -> None:
        # Row (.8, .2): exp(-2 tau) = 1/4, whatever is added to both distances.
        tau, reached = formulas.solve_precision(
            np.array([5.0, 7.0]), np.zeros(2), formulas.perplexity([0.8, 0.2])
        )
        assert reached and tau == pytest.approx(np.log(4) / 2)

    def test_smallest_sigma_of_two_solutions(self) -> None:
        # Weight 10 on the far point: exp(-2 tau) * 10 is 1/4 or 4.
        weights = np.log([1.0, 10.0])
        u = formulas.perplexity([0.8, 0.2])
        tau, reached = formulas.solve_precision(np.array([5.0, 7.0]), weights, u)
        assert reached and tau == pytest.approx(np.log(40) / 2)

    def test_out_of_reach(self) -> None:
        # Two points have at most perplexity 2, where their weighted similarities are equal.
        tau, reached = formulas.solve_precision(np.array([5.0, 7.0]), np.log([1.0, 10.0]), 2.5)
        assert not reached and tau == pytest.approx(np.log(10) / 2)
        tau, reached = formulas.solve_precision(np.array([5.0, 7.0]), np.zeros(2), 2.5)
        assert not reached and tau == pytest.approx(0, abs=1e-6)
        # Three nearest points at the same distance have at least perplexity 3.
        d2 = np.array([1.0, 1.0, 1.0, 2.0])
        tau, reached = formulas.solve_precision(d2, np.zeros(4), 2.0)
        assert not reached and np.exp(-tau) < 1e-12

    def test_equal_distances(self) -> None:
        assert formulas.solve_precision(np.ones(3), np.zeros(3), 3.0) == (0.0, True)
        assert formulas.solve_precision(np.ones(3), np.zeros(3), 2.0) == (0.0, False)

    @pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
    def test_scale_of_the_data_does_not_matter(self, scale: float) -> None:
        d2 = np.random.default_rng(3).random(20)
        weights = np.where(np.arange(20) < 10, np.log(1e-4), 0.5)
        expected, _ = formulas.solve_precision(d2, weights, 5.0)
        tau, reached = formulas.solve_precision(d2 * scale, weights, 5.0)
        assert reached and tau * scale == pytest.approx(expected)

    @pytest.mark.parametrize("beta", [0.1, 1e-8, 1e-300])
    def test_exact_and_smallest_by_brute_force(self, beta: float) -> None:
        X, codes = clusters()
        u = 4.0
        D2, indices = paper_lists(X, codes, u)
        log_beta, log_alpha = formulas.high_weights(codes, beta)
        for i in range(12):
            d2 = D2[i, indices[i]]
            weights = np.where(codes[indices[i]] == codes[i], log_beta[0], log_alpha[0])
            tau, reached = formulas.solve_precision(d2, weights, u)
            larger = tau * np.append(1.0, np.linspace(1 + 1e-6, 5, 4000))
            logits = weights - larger[:, None] * d2
            p = np.exp(logits - logits.max(axis=1, keepdims=True))
            found = [formulas.perplexity(row / row.sum()) for row in p]
            assert reached and found[0] == pytest.approx(u, rel=1e-9)
            assert max(found[1:]) < u

    def test_solution_of_the_authors_program(self) -> None:
        # Far points of great weight fill a wide kernel, near ones a narrow one: three solutions.
        d2 = np.append(np.linspace(1, 2, 10), np.linspace(60, 70, 10))
        weights = np.where(np.arange(20) < 10, -200.0, 0.0)
        wide, reached = formulas.search_precision(d2, weights, 5.0, 8.0)
        smallest, _ = formulas.solve_precision(d2, weights, 5.0)
        assert reached and wide < smallest / 2
        rows = [np.exp(weights - tau * (d2 - d2.min())) for tau in (wide, smallest)]
        for row, begin in zip(rows, (10, 0), strict=True):
            assert formulas.perplexity(row / row.sum()) == pytest.approx(5.0, rel=1e-9)
            assert row[begin : begin + 10].sum() / row.sum() > 0.99
        # From a kernel so narrow that only near points count, halving finds the near solution.
        assert formulas.search_precision(d2, weights, 5.0, 0.125)[0] == pytest.approx(smallest)

    @pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
    def test_search_without_weights_has_one_solution(self, scale: float) -> None:
        d2 = np.random.default_rng(3).random(20)
        found, reached = formulas.search_precision(d2, np.zeros(20), 5.0, scale)
        assert reached and found == pytest.approx(
            formulas.solve_precision(d2, np.zeros(20), 5.0)[0]
        )

    @pytest.mark.parametrize("scale", [0.1, 5.0])
    def test_search_that_finds_no_interval(self, scale: float) -> None:
        for d2, weights, u in [
            (np.array([5.0, 7.0]), np.log([1.0, 10.0]), 2.5),
            (np.array([1.0, 1.0, 1.0, 2.0]), np.zeros(4), 2.0),
            (np.ones(3), np.log([1.0, 1.0, 2.0]), 2.0),
            (np.ones(3), np.log([1.0, 1.0, 2.0]), 2.9),
        ]:
            expected = formulas.solve_precision(d2, weights, u)
            assert formulas.search_precision(d2, weights, u, scale) == expected
            assert not expected[1]


def all_affinities(X: Any, codes: Any, u: float, metric: Any) -> dict[str, Any]:
    return {
        "tsne": formulas.tsne_affinities(X, u, metric=metric),
        "revised r": formulas.revised_affinities(X, codes, u, 1e-3, metric=metric),
        "revised p": formulas.revised_affinities(X, codes, u, 1e-3, bandwidth="p", metric=metric),
        "balanced": formulas.balanced_affinities(X, codes, u, 0.5, metric=metric),
        "joint": formulas.joint_affinities(X, codes, u, 0.5, metric=metric),
    }


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_similarities_are_a_symmetric_distribution(metric: Literal["euclidean", "cosine"]) -> None:
    X, codes = clusters(24, 3)
    codes[:4] = -1
    for name, P in all_affinities(X, codes, 3.0, metric).items():
        assert P.sum() == pytest.approx(1), name
        assert (P >= 0).all() and (P == P.T).all() and not np.diag(P).any(), name


def test_without_labels_everything_is_tsne() -> None:
    X, _ = clusters(20)
    results = all_affinities(X, np.full(20, -1), 3.0, "euclidean")
    # The rows of joint are shorter: 5 instead of 9 points.
    D2, codes = formulas.squared_distances(X), np.full(20, -1)
    indices, _ = formulas.neighbor_lists(D2, codes, np.full(20, 5), np.zeros(20, int))
    shorter = formulas.symmetrize(indices, formulas.tsne_rows(D2, indices, 3.0))
    np.testing.assert_allclose(results.pop("joint"), shorter, atol=1e-12)
    for name, P in results.items():
        np.testing.assert_allclose(P, results["tsne"], atol=1e-12, err_msg=name)


def test_tsne_by_hand() -> None:
    # Three neighbours on a cross: all equally far from the centre, so p is uniform there.
    X = [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]
    D2 = formulas.squared_distances(X)
    rows = formulas.tsne_rows(D2, np.array([[1, 2, 3]]), 2.0)
    np.testing.assert_allclose(rows[0], 1 / 3)


class TestRevised:
    def test_bandwidth_r_has_the_perplexity_and_p_the_ratio(self) -> None:
        X, codes = clusters()
        D2, indices = paper_lists(X, codes, 4.0)
        for row in formulas.revised_rows(D2, indices, codes, 4.0, 1e-3):
            assert formulas.perplexity(row) == pytest.approx(4.0, rel=1e-9)
        plain = formulas.revised_rows(D2, indices, codes, 4.0, 1.0, bandwidth="p")
        weighted = formulas.revised_rows(D2, indices, codes, 4.0, 0.2, bandwidth="p")
        np.testing.assert_allclose(plain, formulas.tsne_rows(D2, indices, 4.0))
        # r = beta p or alpha p up to one factor a row: the odds of the labels move by beta/alpha.
        share = formulas.rho(codes)
        odds = [m / (1 - m) for m in (other_mass(r, indices, codes) for r in (plain, weighted))]
        np.testing.assert_allclose(odds[1] / odds[0], (1 - 0.2 * share) / (1 - share) / 0.2)

    def test_scale_of_the_data(self) -> None:
        X, codes = clusters(30, gap=8.0)
        D2, indices = paper_lists(X, codes, 3.0)
        scale = float(np.abs(X - X.mean(axis=0)).max())
        rows = formulas.revised_rows(D2, indices, codes, 3.0, 1e-9, scale=scale)
        expected = formulas.symmetrize(indices, rows)
        np.testing.assert_array_equal(formulas.revised_affinities(X, codes, 3.0, 1e-9), expected)
        far = 2.0**-40 * (X + 100)
        np.testing.assert_allclose(
            formulas.revised_affinities(far, codes, 3.0, 1e-9), expected, rtol=1e-6, atol=1e-12
        )

    def test_unlabelled_points_are_plain_and_as_neighbors_weigh_as_the_own_label(self) -> None:
        X, codes = clusters(20)
        codes[:5] = -1
        D2, indices = paper_lists(X, codes, 3.0)
        plain = formulas.tsne_rows(D2, indices, 3.0)
        rows = formulas.revised_rows(D2, indices, codes, 3.0, 1e-3, bandwidth="p")
        np.testing.assert_allclose(rows[:5], plain[:5])
        i = 5
        unlabelled = np.flatnonzero(codes[indices[i]] < 0)[0]
        same = np.flatnonzero(codes[indices[i]] == codes[i])[0]
        other = np.flatnonzero((codes[indices[i]] != codes[i]) & (codes[indices[i]] >= 0))[0]
        ratio = (rows[i] / plain[i])[[same, unlabelled, other]]
        assert ratio[0] == pytest.approx(ratio[1])
        log_beta, log_alpha = formulas.high_weights(codes, 1e-3)
        expected = np.exp(log_beta[codes[i]] - log_alpha[codes[i]])
        assert ratio[0] / ratio[2] == pytest.approx(expected)

    @pytest.mark.parametrize("bandwidth", ["r", "p"])
    def test_tiny_beta(self, bandwidth: Literal["r", "p"]) -> None:
        X, codes = clusters(20)
        D2, indices = paper_lists(X, codes, 3.0)
        rows = formulas.revised_rows(D2, indices, codes, 3.0, 1e-300, bandwidth=bandwidth)
        np.testing.assert_allclose(rows.sum(axis=1), 1)
        if bandwidth == "p":
            assert other_mass(rows, indices, codes) == pytest.approx(1)


class TestBalanced:
    def rows(self, codes: Any, u: float, strength: Any) -> tuple[Any, Any, Any]:
        """Conditional rows, their neighbours, and the share of other labels in plain ones."""
        X = np.random.default_rng(5).normal(size=(len(codes), 4))
        D2 = formulas.squared_distances(X)
        lengths = formulas.list_lengths_balanced(codes, u, strength)
        indices, n_same = formulas.neighbor_lists(D2, codes, *lengths)
        plain = formulas.tsne_rows(D2, indices, indices.shape[1] / 2)
        rows = formulas.balanced_rows(D2, indices, n_same, codes, u, strength)
        return rows, indices, other_mass(plain, indices, codes)

    @pytest.mark.parametrize("strength", [0.0, 0.02, 0.5, 1.0, [0.3, 0.9]])
    def test_share_and_perplexity_are_exact(self, strength: Any) -> None:
        codes = np.array([0] * 30 + [1] * 15 + [-1] * 5)
        rows, indices, natural = self.rows(codes, 6.0, strength)
        t = np.append(np.broadcast_to(strength, 2), 0.0)[codes]
        random = np.repeat([15 / 49, 30 / 49, 0], [30, 15, 5])
        expected = natural + t * (random - natural)
        np.testing.assert_allclose(other_mass(rows, indices, codes), expected)
        for row in rows:
            assert formulas.perplexity(row) == pytest.approx(6.0, rel=1e-9)

    def test_less_than_one_point_of_other_labels(self) -> None:
        # 5 % of the weight is 0.3 of six points.
        D2 = formulas.squared_distances(np.random.default_rng(0).normal(size=(21, 3)))
        codes = np.arange(21) % 2
        same, other = formulas.list_lengths(codes, 6.0)
        indices, n_same = formulas.neighbor_lists(D2, codes, same, other)
        rows = formulas.split_rows(D2, indices, n_same, np.full(21, 0.05), 6.0)
        np.testing.assert_allclose(other_mass(rows, indices, codes), 0.05)
        for row in rows:
            assert formulas.perplexity(row) == pytest.approx(6.0, rel=1e-9)

    def test_the_other_list_makes_up_for_a_short_one(self) -> None:
        codes = np.array([0] * 30 + [1] * 2)
        rows, indices, natural = self.rows(codes, 6.0, 0.7)
        expected = natural + 0.7 * (30 / 31 - natural)
        np.testing.assert_allclose(other_mass(rows, indices, codes)[30:], expected[30:])
        assert formulas.perplexity(rows[31]) == pytest.approx(6.0, rel=1e-9)

    def test_less_than_one_point_of_the_own_label(self) -> None:
        # Twenty labels leave 5 % of the mass, 0.3 of six points, to the own one.
        codes = np.arange(60) % 20
        rows, indices, _ = self.rows(codes, 6.0, 1.0)
        np.testing.assert_allclose(other_mass(rows, indices, codes), 57 / 59)
        for row in rows:
            assert formulas.perplexity(row) == pytest.approx(6.0, rel=1e-9)

    def test_empty_lists(self) -> None:
        rows, indices, _ = self.rows(np.arange(12), 3.0, 0.2)
        np.testing.assert_allclose(other_mass(rows, indices, np.arange(12)), 1)
        rows, *_ = self.rows(np.zeros(12, int), 3.0, 1.0)
        for row in rows:
            assert formulas.perplexity(row) == pytest.approx(3.0, rel=1e-9)


class TestJoint:
    def lists(self, X: Any, codes: Any, u: float) -> tuple[Any, Any, Any]:
        D2 = formulas.squared_distances(X)
        return D2, *formulas.neighbor_lists(D2, codes, *formulas.list_lengths_joint(codes, u))

    def mass(self, rows: Any, codes: Any) -> Any:
        different = (codes[:, None] != codes) & (codes >= 0) & (codes >= 0)[:, None]
        return (rows * different).sum(axis=1)

    def test_share_reaches_its_target(self) -> None:
        X, codes = clusters()
        codes[:6] = -1
        D2, indices, n_same = self.lists(X, codes, 4.0)
        labelled = codes >= 0
        n_other = [(labelled & (codes != code)).sum() for code in codes[labelled]]
        half = indices.shape[1] / 2
        w0 = other_mass(formulas.tsne_rows(D2, indices, half), indices, codes)[labelled].mean()
        w1 = np.mean(n_other) / (len(codes) - 1)
        for strength in (0.0, 0.4, 1.0):
            rows = formulas.joint_rows(D2, indices, n_same, codes, 4.0, strength)
            share = self.mass(rows, codes)[labelled].mean()
            assert share == pytest.approx(w0 + 0.65 * strength**0.75 * (w1 - w0), rel=1e-9)
            assert not self.mass(rows, codes)[~labelled].any()

    def test_rows_are_short_and_have_the_perplexity(self) -> None:
        X, codes = clusters()
        D2, indices, n_same = self.lists(X, codes, 4.0)
        for strength in (0.0, 0.4, 1.0):
            for row in formulas.joint_rows(D2, indices, n_same, codes, 4.0, strength):
                assert np.count_nonzero(row) <= 7  # of 5/3 u, rounded up
                assert formulas.perplexity(row[row > 0]) == pytest.approx(4.0, rel=1e-6)

    def test_strength_per_label(self) -> None:
        X, codes = clusters()
        D2, indices, n_same = self.lists(X, codes, 4.0)
        rows = formulas.joint_rows(D2, indices, n_same, codes, 4.0, [0.2, 0.8])
        for code, strength in enumerate([0.2, 0.8]):
            alone = formulas.joint_rows(D2, indices, n_same, codes, 4.0, strength)
            np.testing.assert_allclose(rows[codes == code], alone[codes == code])

    def test_points_that_nobody_names_get_little(self) -> None:
        codes = np.array([0, 0, 0, 1, 1, 1])
        log_odds = np.zeros(6)
        matched = np.array([1, 1, 0, 1, 1, 1.0])
        shares = formulas.joint_shares(log_odds, matched, codes, 1.0)
        odds = shares / (1 - shares)
        assert odds[2] == pytest.approx(0.02 * odds[0])
        np.testing.assert_allclose(odds[[1, 3, 4, 5]], odds[0])

    def test_matched_by_hand(self) -> None:
        # Point 0 is named by both of the other label, point 1 by none.
        indices = np.array([[1, 2], [0, 2], [3, 0], [2, 0]])
        codes = np.array([0, 0, 1, 1])
        matched = formulas.matched_shares(indices, np.ones(4, int), codes)
        # Named 2, 0, 2, 0 times where 1 is expected; the mean of each with its own neighbour.
        assert matched.tolist() == [1.0, 1.0, 1.0, 1.0]
        alone = formulas.matched_shares(indices[:, 1:], np.zeros(4, int), codes)
        assert alone.tolist() == [1.0, 0.0, 1.0, 0.0]
        missing = formulas.matched_shares(indices, np.array([1, 1, 1, 2]), np.array([0, 0, 1, -1]))
        assert missing[3] == 1

    def test_out_of_reach(self) -> None:
        X, codes = clusters(24, gap=1e4)
        D2, indices, n_same = self.lists(X, codes, 2.0)
        rows = formulas.joint_rows(D2, indices, n_same, codes, 2.0, 1.0)
        np.testing.assert_allclose(rows.sum(axis=1), 1)
        assert np.isfinite(rows).all()

    def test_odds(self) -> None:
        assert formulas.joint_odds([0.0, 0.5, 1.0]) == pytest.approx([1, 10**0.5, 100])
        # Same-label pairs weigh alpha, others beta, and the mean of all pairs is one.
        for odds in (1.0, 3.0, 100.0):
            beta = formulas.beta_from_odds(MIXED, odds).item()
            weights = formulas.low_weights(MIXED, beta)
            assert weights[0, 1] / weights[0, 6] == pytest.approx(odds)
            assert weights[:8, :8].sum() / 56 == pytest.approx(1)


class TestLayout:
    def test_kernel(self) -> None:
        assert formulas.kernel(3.0) == 0.25
        assert formulas.kernel(3.0, 3.0) == 0.25  # (1 + 3/3)^-2
        assert formulas.normalizer([[0.0], [1.0], [2.0]]) == pytest.approx(2 * (0.5 + 0.5 + 0.2))
        weights = np.full((2, 2), 3.0)
        assert formulas.normalizer([[0.0], [1.0]], weights) == 3.0

    @pytest.mark.parametrize("dims", [1, 2, 3])
    @pytest.mark.parametrize("dof", [0.5, 1.0, 3.0])
    @pytest.mark.parametrize("conditioned", [False, True])
    def test_gradient_by_finite_differences(self, dims: int, dof: float, conditioned: bool) -> None:
        X, codes = clusters(12, 2)
        codes[0] = -1
        P = formulas.tsne_affinities(X, 2.0)
        weights = formulas.low_weights(codes, [0.1, 0.01]) if conditioned else None
        Y = np.random.default_rng(2).normal(size=(12, dims))
        expected = np.empty_like(Y)
        for at in np.ndindex(Y.shape):
            step = np.zeros_like(Y)
            step[at] = 1e-5
            ends = [
                formulas.kl_divergence(P, Y + sign * step, weights=weights, dof=dof)
                for sign in (1, -1)
            ]
            expected[at] = (ends[0] - ends[1]) / 2e-5
        found = formulas.gradient(P, Y, weights=weights, dof=dof)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)

    @pytest.mark.parametrize("dof", [0.5, 1.0, 3.0])
    def test_nothing_to_gain_where_p_is_q(self, dof: float) -> None:
        Y = np.random.default_rng(4).normal(size=(9, 2))
        codes = np.arange(9) % 2
        weights = formulas.low_weights(codes, 0.1)
        Q = weights * formulas.kernel(formulas.squared_distances(Y), dof)
        Q /= Q.sum()
        assert formulas.kl_divergence(Q, Y, weights=weights, dof=dof) == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(formulas.gradient(Q, Y, weights=weights, dof=dof), 0, atol=1e-15)


class TestEvaluation:
    def test_sets_by_hand(self) -> None:
        # From 0 the map has 3 nearest, of another label; the nearest such in the data is 2.
        sets = formulas.adjusted_sets([[0], [5], [9], [1]], LINE, np.array([0, 0, 1, 1]), 1)
        assert sets[0] == ({3}, {2})
        assert formulas.adjusted_sets([[0], [5], [9], [1]], LINE, None, 1)[0] == ({3}, {1})

    def test_area_and_jaccard_by_hand(self) -> None:
        exchanged, line = [[0], [2], [1], [3]], [[0], [1], [2], [3]]
        # R(1) = -1/2 and R(2) = 1/4, weighted 1 and 1/2.
        assert formulas.rnx_area(exchanged, line, None, 2) == pytest.approx(-0.25)
        assert formulas.adjusted_jaccard(exchanged, line, None, 2) == pytest.approx(2 / 3)

    def test_lisi_by_hand(self) -> None:
        # All in one place: three neighbours weigh the same, two of one label and one of another.
        values = formulas.lisi_values(np.zeros((4, 1)), np.array([0, 0, 0, 1]), 1)
        assert values.tolist() == pytest.approx([1.8, 1.8, 1.8, 1.0])
        # The unlabelled neighbour counts for nothing, and has no value itself.
        values = formulas.lisi_values(np.zeros((4, 1)), np.array([0, 0, -1, 1]), 1)
        np.testing.assert_allclose(values, [2, 2, np.nan, 1])
