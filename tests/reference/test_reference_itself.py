"""The references against numbers worked out by hand, each derived in the test that holds it."""

import math

import pytest
import torch

from .by_hand import near, numbers
from .contrastive_reference import contrastive_anchor, cosine, regulariser_term, robust_term
from .geometry_reference import length, project, project_l1, project_l1_by_enumeration, unit
from .players_reference import Options, step_eta, token_scales
from .rtd_reference import accuracy, rtd
from .table_reference import write_back
from .weakening_reference import threshold, updated, weight

BOTH = torch.tensor([[True, True]])


class TestGeometry:
    def test_unit_of_each_norm(self):
        assert unit([3.0, -4.0], "l2") == [0.6, -0.8]
        assert unit([3.0, -1.0], "l1") == [0.75, -0.25]
        assert unit([3.0, -4.0], "linf") == [0.75, -1.0]
        assert unit([0.0, 0.0], "l2") == [0.0, 0.0]

    def test_projections(self):
        assert project([3.0, -0.5], 1.0, "linf") == [1.0, -0.5]
        assert project([3.0, -4.0], 2.5, "l2") == pytest.approx([1.5, -2.0])
        # threshold 1: (3 - 1) + (2 - 1) = 3, and |0.5| < 1 vanishes
        assert project([3.0, -2.0, 0.5], 3.0, "l1") == pytest.approx([2.0, -1.0, 0.0], abs=1e-14)
        assert project([3.0, -3.0], 3.0, "l1", l1_projection="rescale") == [1.5, -1.5]
        assert project([3.0, 1.0], 2.0, "l1", l1_projection="rescale") == [1.5, 0.5]
        assert project([0.3, -0.2], 1.0, "l1") == [0.3, -0.2]

    def test_bisection_agrees_with_enumeration(self):
        generator = torch.Generator().manual_seed(0)
        for size in range(1, 13):
            vector = torch.randn(size, generator=generator, dtype=torch.float64).tolist()
            vector += vector[:2]  # ties
            for radius in (0.0, 0.1, 1.0, 100.0):
                by_enumeration = project_l1_by_enumeration(vector, radius)
                assert project_l1(vector, radius) == pytest.approx(by_enumeration, abs=1e-13)

    def test_matched_strength(self):
        assert length(0.03, given_norm="linf", used_norm="l2", count=16) == pytest.approx(0.12)
        assert length(0.03, given_norm="linf", used_norm="l1", count=16) == pytest.approx(0.48)
        assert length(0.2, given_norm="l2", used_norm="linf", count=16) == pytest.approx(0.05)
        assert length(0.2, given_norm="l2", used_norm="l1", count=16, strength="literal") == 0.2


class TestContrastive:
    z = numbers([1.0, 0.0], [0.0, 2.0])
    z_pos = numbers([2.0, 0.0], [1.0, 0.0])  # cosines with z: row 0: 1, 1; row 1: 0, 0
    z_adv = numbers([0.0, 3.0], [0.0, 1.0])  # cosines with z: row 0: 0, 0; row 1: 1, 1

    def test_cosine(self):
        assert float(cosine(numbers(3.0, 4.0), numbers(4.0, 3.0))) == pytest.approx(24 / 25)
        zero = torch.zeros(2, dtype=torch.float64, requires_grad=True)
        (gradient,) = torch.autograd.grad(cosine(zero, numbers(1.0, 1.0)), zero)
        assert gradient.tolist() == [0.0, 0.0]

    def test_one_anchor(self):
        loss = contrastive_anchor(0, self.z, [self.z_pos], [self.z_pos], temperature=0.5)
        near(loss, numbers(math.log(2))[0])
        e = math.e  # temperature 1; anchor 1: own e^0 + e^1, other e^0
        expected = -math.log((1 + e) / (1 + e + 1))
        loss = contrastive_anchor(1, self.z, [self.z_pos, self.z_adv], [self.z_pos], temperature=1.0)
        near(loss, numbers(expected)[0])

    def test_second_positive_and_negatives(self):
        e, both = math.e, (self.z, self.z_pos, self.z_adv)
        # anchor 0: z_pos own e, z_adv own 1, other z_pos e, other z_adv 1; anchor 1: 1, e, 1, e
        inside = (-math.log((e + 1) / (2 * e + 1)) - math.log((1 + e) / (2 + e))) / 2
        outside = math.log(2) + (-math.log(1 / (1 + e)) - math.log(e / (e + 1))) / 2
        included = (-math.log((e + 1) / (2 * e + 2)) - math.log((1 + e) / (2 + 2 * e))) / 2
        near(robust_term(*both, temperature=1.0), numbers(inside)[0])
        near(robust_term(*both, temperature=1.0, second_positive="outside"), numbers(outside)[0])
        near(robust_term(*both, temperature=1.0, second_positive="none"), numbers(math.log(2))[0])
        near(robust_term(*both, temperature=1.0, adversarial_negatives="included"), numbers(included)[0])

    def test_regulariser(self):
        # z_adv against z_pos: every cosine 0; z_adv_i against z_adv_j: cosine 1
        near(regulariser_term(self.z_pos, self.z_adv, temperature=1.0), numbers(math.log(2))[0])
        included = regulariser_term(self.z_pos, self.z_adv, temperature=1.0, adversarial_negatives="included")
        near(included, numbers(math.log(2 + math.e))[0])


class TestRtd:
    probability = numbers([0.9, 0.5, 0.25, 0.5])
    ids, filled = torch.tensor([[1, 5, 6, 0]]), torch.tensor([[1, 5, 9, 0]])
    real = torch.tensor([[True, True, True, False]])

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({}, (math.log(2) - math.log(0.75)) / 2),
            ({"reduction": "sum"}, math.log(2) - math.log(0.75)),
            ({"reduction": "mean_padding"}, (2 * math.log(2) - math.log(0.75)) / 3),
            ({"reduction": "sum", "skips_first": False}, -math.log(0.9) + math.log(2) - math.log(0.75)),
        ],
    )
    def test_reductions(self, options, expected):
        near(rtd(self.probability, self.ids, self.filled, self.real, **options), numbers(expected)[0])

    def test_accuracy(self):
        assert accuracy(numbers([0.0, 0.6, 0.6, 0.0]), self.ids, self.filled, self.real) == 0.5


class TestWeakening:
    def test_threshold_and_weight(self):
        assert threshold(numbers([0.05, 0.04]), 0.05).tolist() == [[1.0, 0.0]]
        assert threshold(numbers([0.0, 1.0]), 0.0).tolist() == [[1.0, 1.0]]
        real = torch.tensor([[True, True, False]])
        product = weight(numbers([1.0, 0.0, 0.0]), numbers([1.0, 0.0]), real)
        assert product.tolist() == [[[1.0, 0.5], [0.5, 0.0], [1.0, 1.0]]]

    def test_update(self):
        p, counts = numbers([0.5, 0.9, 0.2], [0.5, 0.5, 0.5]), torch.tensor([[True, True, False]] * 2)
        g = numbers([-0.6, 0.8, 9.0], [0.0, 0.0, 1.0])
        near(updated(p, g, counts, step_size=0.5), numbers([0.2, 1.0, 0.2], [0.5, 0.5, 0.5]))


class TestEta:
    eta = numbers([[3.0, 4.0], [0.0, 1.0]])

    def test_scales(self):
        assert token_scales(self.eta, BOTH, "l2") == [[1.0, 0.2]]
        assert token_scales(torch.zeros_like(self.eta), BOTH, "l2") == [[1.0, 1.0]]

    @pytest.mark.parametrize(
        ("n_i", "expected"),
        [
            ("before", [[3.0, 5.0], [0.2, 0.2]]),  # n = (1, 1/5)
            ("after", [[3.0, 5.0], [math.sqrt(2 / 34), math.sqrt(2 / 34)]]),  # n = (1, sqrt 2 / sqrt 34)
            ("none", [[3.0, 5.0], [1.0, 1.0]]),
        ],
    )
    def test_step(self, n_i, expected):
        o = Options(n_i=n_i, eta_norm="l2", gamma=1.0, eta_radius=100.0)
        gradient = numbers([[0.0, 7.0], [5.0, 0.0]])
        near(step_eta(self.eta, gradient, BOTH, o), numbers(expected))

    def test_new_eta_is_projected(self):
        o = Options(n_i="none", eta_norm="l2", gamma=1.0, eta_radius=0.5)
        near(step_eta(torch.zeros_like(self.eta), self.eta, BOTH, o), numbers([[0.3, 0.4], [0.0, 0.5]]))

    @pytest.mark.parametrize(
        ("rule", "rows", "word"),
        [
            ("mean", None, 4.0),
            ("last", None, 6.0),
            ("last", [1, 0], 2.0),
            ("accumulate", None, 14.0),
            ("none", None, 9.0),
        ],
    )
    def test_write_back(self, rule, rows, word):
        table, ids = numbers([7.0], [9.0]), torch.tensor([[0, 1], [1, 1]])
        perturbable = torch.tensor([[False, True], [True, False]])
        end, start = numbers([[50.0], [2.0]], [[6.0], [50.0]]), numbers([[0.0], [1.0]], [[2.0], [0.0]])
        new = write_back(table, ids, perturbable, start, end, rule=rule, rows=rows)
        assert new.tolist() == [[7.0], [word]]
