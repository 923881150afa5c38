"""The reference itself: hand-worked cases, identities and finite differences."""

import ast
from pathlib import Path
from typing import Any

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
    return X, codes[:, None]


def lists_of(method: Any, X: Any, codes: Any, u: float, strength: Any = 1.0) -> tuple[Any, Any]:
    D2 = formulas.squared_distances(X)
    return D2, formulas.method_lists(method, D2, codes, u, [strength] * codes.shape[1])


def other_mass(rows: Any, codes: Any) -> Any:
    return (rows * formulas.are_different(codes[:, 0])).sum(axis=1)


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

    @pytest.mark.parametrize(
        ("method", "u", "strength", "total", "other"),
        [
            # Label 0 has only two others; label 1 has one of its own and two unlabelled.
            ("revised", 2.0, 1.0, 6, [2, 3, 0]),
            # Shares 2/9 and 6/9 of six neighbours, rounded up; without strength half, as above.
            ("balanced", 2.0, 1.0, 6, [2, 4, 0]),
            ("balanced", 2.0, 0.0, 6, [2, 3, 0]),
            ("balanced", 2.0, [1.0, 0.0], 6, [2, 3, 0]),
            # 5/3 u = 4 points in each list; n - 1 bounds the sum.
            ("joint", 2.4, 1.0, 8, [2, 5, 0]),
            ("joint", 9.0, 1.0, 9, [2, 6, 0]),
        ],
    )
    def test_list_lengths(
        self, method: Any, u: float, strength: Any, total: int, other: list[int]
    ) -> None:
        _, lists = lists_of(method, np.zeros((10, 1)), MIXED[:, None], u, strength)
        expected = np.repeat(other, [6, 2, 2])
        np.testing.assert_array_equal(lists.lengths, np.stack([total - expected, expected], axis=1))

    def test_odd_rows_small_data_and_many_labels(self) -> None:
        for method, codes, u, expected in (
            ("revised", [0, 1] * 10, 3.0, [5, 4]),  # the odd one is of the same label
            ("revised", [0, 1, 0, 1], 3.0, [1, 2]),
            ("balanced", np.arange(60) % 30, 2.0, [1, 5]),  # the own label keeps a point
        ):
            column = np.array(codes)[:, None]
            _, lists = lists_of(method, np.zeros((len(column), 1)), column, u)
            assert (lists.lengths == expected).all()

    def test_lists_of_several_columns(self) -> None:
        codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [-1, 1]])
        assert formulas.patterns_of(codes) == (0, 1, 2, 3)
        assert formulas.pattern_matrix(codes)[0].tolist() == [0, 2, 1, 3, 2]
        wanted = formulas.wanted_lengths("joint", codes, tuple(range(8)), 6.0, [])
        assert wanted[0].tolist() == [5] * 8  # lists half as long if there are more than four
        D2 = formulas.squared_distances([[0.0], [1], [2], [3], [0.5]])
        lengths = formulas.filled_lengths(codes, [0, 1, 2, 1], (0, 1, 2, 3))
        lists = formulas.neighbor_lists(D2, codes, lengths, (0, 1, 2, 3))
        assert lists.indices[0].tolist() == [2, 4, 1, 3]
        assert [near.tolist() for near in lists.split(0)] == [[], [2], [4, 1], [3]]
        shares = formulas.product_shares(np.array([[0.5, 0.2]]), (0, 1, 3))
        np.testing.assert_allclose(shares, [[0.4 / 0.9, 0.4 / 0.9, 0.1 / 0.9]])
        assert formulas.is_nested(np.array([[0, 0], [1, 0], [2, 1], [3, -1]]), 0, 1)
        assert not formulas.is_nested(codes, 0, 1)

    def test_neighbor_lists_order_and_ties(self) -> None:
        # Points 1, 2, 3 are equally far from 0, and 1 and 3 coincide; 4 is unlabelled.
        D2 = formulas.squared_distances([[0.0], [1.0], [-1.0], [1.0], [5.0]])
        codes = np.array([0, 0, 1, 0, -1])[:, None]
        lengths = np.array([[3, 1], [3, 1], [1, 3], [3, 1], [4, 0]])
        indices = formulas.neighbor_lists(D2, codes, lengths, (0, 1)).indices
        assert indices[[0, 1, 2, 4]].tolist() == [
            [1, 3, 4, 2],
            [3, 0, 4, 2],
            [4, 0, 1, 3],
            [1, 3, 0, 2],
        ]


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
        D2, lists = lists_of("revised", X, codes, u)
        pairs = formulas.revised_weights(codes, [beta])
        for i, near in enumerate(lists.indices[:12]):
            d2, weights = D2[i, near], pairs[i, near]
            tau, reached = formulas.solve_precision(d2, weights, u)
            larger = tau * np.append(1.0, np.linspace(1 + 1e-6, 5, 4000))
            found = np.exp(formulas.entropy(weights - larger[:, None] * d2))
            assert reached and found[0] == pytest.approx(u, rel=1e-9)
            assert found[1:].max() < u

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


def test_tsne_by_hand() -> None:
    # Three neighbours on a cross: all equally far from the centre, so p is uniform there.
    X = [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]
    D2, lists = lists_of("tsne", X, np.zeros((4, 1), int), 2.0)
    np.testing.assert_allclose(formulas.tsne_rows(D2, lists, 2.0)[0], [0, 1 / 3, 1 / 3, 1 / 3])


class TestRevised:
    def test_bandwidth_r_has_the_perplexity_and_p_the_ratio(self) -> None:
        X, codes = clusters()
        given = *lists_of("revised", X, codes, 4.0), codes, 4.0
        np.testing.assert_allclose(formulas.perplexity(formulas.revised_rows(*given, [1e-3])), 4.0)
        plain, weighted = (
            formulas.revised_rows(*given, [beta], bandwidth="p") for beta in (1.0, 0.2)
        )
        np.testing.assert_allclose(plain, formulas.tsne_rows(*given[:2], 4.0))
        # r = beta p or alpha p up to one factor a row: the odds of the labels move by beta/alpha.
        share = formulas.rho(codes[:, 0])
        odds = [m / (1 - m) for m in (other_mass(rows, codes) for rows in (plain, weighted))]
        np.testing.assert_allclose(odds[1] / odds[0], (1 - 0.2 * share) / (1 - share) / 0.2)

    def test_unlabelled_points_are_plain_and_as_neighbors_weigh_as_the_own_label(self) -> None:
        X, codes = clusters(20)
        codes[:5] = -1
        D2, lists = lists_of("revised", X, codes, 3.0)
        plain = formulas.tsne_rows(D2, lists, 3.0)
        rows = formulas.revised_rows(D2, lists, codes, 3.0, [1e-3], bandwidth="p")
        np.testing.assert_allclose(rows[:5], plain[:5])
        near, own = lists.indices[5], codes[5, 0]
        of_near = codes[near, 0]
        unlabelled, same, other = (
            rows[5, near[chosen][0]] / plain[5, near[chosen][0]]
            for chosen in (of_near < 0, of_near == own, of_near == 1 - own)
        )
        assert same == pytest.approx(unlabelled)
        log_beta, log_alpha = formulas.high_weights(codes[:, 0], 1e-3)
        assert same / other == pytest.approx(np.exp(log_beta[own] - log_alpha[own]))

    def test_columns_multiply(self) -> None:
        codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        weights = formulas.revised_weights(codes, [0.5, [0.1, 0.2]])
        (a, b), (c, d) = (
            [w[0] for w in formulas.high_weights(codes[:, k], beta)]
            for k, beta in enumerate((0.5, [0.1, 0.2]))
        )
        np.testing.assert_allclose(weights[0], [a + c, a + d, b + c, b + d])


class TestBalanced:
    def rows(self, column: Any, u: float, strength: Any) -> tuple[Any, Any]:
        """Conditional rows, and the share of other labels in plain ones."""
        X, codes = np.random.default_rng(5).normal(size=(len(column), 4)), column[:, None]
        D2, lists = lists_of("balanced", X, codes, u, strength)
        plain = formulas.tsne_rows(D2, lists, lists.indices.shape[1] / 2)
        rows = formulas.balanced_rows(D2, lists, codes, u, [strength])
        return rows, other_mass(plain, codes)

    @pytest.mark.parametrize("strength", [0.0, 0.02, 0.5, 1.0, [0.3, 0.9]])
    def test_share_and_perplexity_are_exact(self, strength: Any) -> None:
        column = np.repeat([0, 1, -1], [30, 15, 5])
        rows, natural = self.rows(column, 6.0, strength)
        t = formulas.per_point(strength, column)
        random = np.repeat([15 / 49, 30 / 49, 0], [30, 15, 5])
        expected = natural + t * (random - natural)
        np.testing.assert_allclose(other_mass(rows, column[:, None]), expected)
        np.testing.assert_allclose(formulas.perplexity(rows), 6.0)

    def test_empty_lists(self) -> None:
        rows, _ = self.rows(np.arange(12), 3.0, 0.2)
        np.testing.assert_allclose(other_mass(rows, np.arange(12)[:, None]), 1)
        rows, _ = self.rows(np.zeros(12, int), 3.0, 1.0)
        np.testing.assert_allclose(formulas.perplexity(rows), 3.0)


class TestJoint:
    def test_rows_are_short_and_have_the_perplexity(self) -> None:
        X, codes = clusters()
        codes[:6] = -1
        given = *lists_of("joint", X, codes, 4.0), codes, 4.0
        for strength in (0.0, 0.4, 1.0):
            rows = formulas.joint_rows(*given, [strength])
            assert (np.count_nonzero(rows, axis=1) <= 7).all()  # of 5/3 u, rounded up
            np.testing.assert_allclose(formulas.perplexity(rows), 4.0, rtol=1e-6)
            assert not other_mass(rows, codes)[:6].any()

    def test_strength_per_label(self) -> None:
        X, codes = clusters()
        given = *lists_of("joint", X, codes, 4.0), codes, 4.0
        rows = formulas.joint_rows(*given, [[0.2, 0.8]])
        for code, strength in enumerate([0.2, 0.8]):
            alone, own = formulas.joint_rows(*given, [strength]), codes[:, 0] == code
            np.testing.assert_allclose(rows[own], alone[own])

    def test_weights_of_two_columns(self) -> None:
        rng = np.random.default_rng(0)
        codes = rng.integers(0, 2, size=(40, 2))
        log_weights = rng.normal(size=(40, 4))
        differs = formulas.differing_lists((0, 1, 2, 3), 2)
        weights = formulas.solve_weights(log_weights, differs, codes, np.array([0.3, 0.6]))
        shares = np.exp(log_weights + weights @ differs)
        shares /= shares.sum(axis=1, keepdims=True)
        np.testing.assert_allclose((shares @ differs.T).mean(axis=0), [0.3, 0.6])
        # A nested column that is above its target gets no weight.
        codes[:, 1] += 2 * codes[:, 0]
        weights = formulas.solve_weights(log_weights, differs, codes, np.array([0.9, 0.1]))
        assert weights[1] == 0 < weights[0]

    def test_points_that_nobody_names_get_little(self) -> None:
        codes = np.repeat([0, 1], 3)[:, None]
        matched = np.array([1, 1, 0, 1, 1, 1.0])[:, None]
        shares = formulas.joint_shares(np.full((6, 2), 0.5), matched, (0, 1), codes, [1.0])
        odds = shares[:, 1] / shares[:, 0]
        assert odds[2] == pytest.approx(0.02 * odds[0])
        np.testing.assert_allclose(odds[[1, 3, 4, 5]], odds[0])

    def test_matched_by_hand(self) -> None:
        # Point 0 is named by both of the other label, point 1 by none.
        indices = np.array([[1, 2], [0, 2], [3, 0], [2, 0]])
        D2, codes = np.zeros((4, 4)), np.array([0, 0, 1, 1])[:, None]
        both = formulas.Lists(indices, np.ones((4, 2), int), (0, 1))
        # Named 2, 0, 2, 0 times where 1 is expected; the mean of each with its own neighbour.
        assert formulas.matched_shares(D2, both, codes)[:, 0].tolist() == [1, 1, 1, 1]
        other = formulas.Lists(indices[:, 1:], np.tile([0, 1], (4, 1)), (0, 1))
        assert formulas.matched_shares(D2, other, codes)[:, 0].tolist() == [1, 0, 1, 0]
        codes[3] = -1
        assert formulas.matched_shares(D2, both, codes)[3, 0] == 1

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
        P = formulas.affinities("tsne", X, codes, 2.0)
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

    def test_rnx_within_by_hand(self) -> None:
        # The type of 0, 1 and 2 is exchanged as above, that of 10 to 12 is kept; 99 has no type.
        map_, line = [[0], [2], [1], [10], [11], [12], [99]], [[0], [1], [2], [10], [11], [12], [9]]
        types = np.array([0, 0, 0, 1, 1, 1, -1])
        # One neighbour of two: right for point 2, wrong for 0; the tie of 1 goes to 0.
        kept = formulas.adjusted_rnx_values(map_[:3], line[:3], None, 1)
        expected = (kept.sum() + 3) / 6
        assert formulas.rnx_within(map_, line, None, types, 30) == pytest.approx(expected)
        assert expected < 1
