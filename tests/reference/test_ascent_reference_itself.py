"""The reference of Algorithm 1 against numbers worked out by hand in each test."""

import math

import pytest
import torch

from .ascent_reference import ascend, gradient_at, inner_loss, step_gradients
from .by_hand import near, numbers
from .players_reference import Options
from .weakening_reference import threshold, weight


def problem(encode=lambda points, weights: points[:, 0, :] + 2 * points[:, 1, :]):
    """Two sentences of two tokens, d = 2; at X, z = ((1, 0), (0, 1)) and z_pos is the same: see TestAscent."""
    embeddings = numbers([[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]])
    arguments = {
        "table": torch.zeros(4, 2, dtype=torch.float64), "ids": torch.tensor([[0, 1], [2, 3]]),
        "perturbable": torch.tensor([[False, True], [True, True]]),
        "real": torch.ones(2, 2, dtype=torch.bool),
    }  # fmt: skip
    eye, zeros = torch.eye(2, dtype=torch.float64), torch.zeros(2, 2, 2, dtype=torch.float64)
    return (encode, embeddings, eye, zeros), arguments


class TestAscent:
    # At z_i = e_i, d cos(z_i, e_i) = 0 and d cos(z_i, e_j) = e_j: the loss rises along e_j, so every token of
    # sentence 0 has its gradient along (0, 1), every token of sentence 1 along (1, 0), token 1 twice as long.

    def test_first_step(self):
        arguments, named = problem()
        found = ascend(*arguments, **named, K=1, T=1, alpha=1e-2, beta=1e-3, temperature=1.0)
        near(found.delta_pgd, numbers([[0, 0], [0, 1e-2]], [[5e-3, 0], [1e-2, 0]]))  # linf over the sentence
        near(found.delta_fgsm, numbers([[0, 0], [0, 1e-3]], [[1e-3, 0], [1e-3, 0]]))
        near(found.delta_final, (found.delta_pgd + found.delta_fgsm) / 2)
        step_length = 2e-2 / math.sqrt(2)  # gamma is given for l2 and used for linf over d = 2
        near(found.eta, numbers([[0, 0], [0, step_length]], [[step_length, 0], [step_length, 0]]))
        near(found.table[1:], found.eta[[0, 1, 1], [1, 0, 1]])
        assert found.table[0].tolist() == [0.0, 0.0]

    @pytest.mark.parametrize(("strength", "size"), [("literal", 1e-2), ("matched", 1e-2)])
    def test_norm_and_scope_of_delta(self, strength, size):
        arguments, named = problem()
        options = {"K": 1, "T": 1, "alpha": size, "strength": strength, "delta_radius": 1.0, "eta": "none"}
        token = ascend(*arguments, **named, **options, delta_norm="l2", delta_scope="token").delta_pgd
        sentence = ascend(*arguments, **named, **options, delta_norm="l2").delta_pgd
        per_token = size * (math.sqrt(2) if strength == "matched" else 1)
        near(token, numbers([[0, 0], [0, per_token]], [[per_token, 0], [per_token, 0]]))
        alone, pair = size, size  # n = 2 coordinates for the one token of sentence 0, 4 for those of 1
        if strength == "matched":
            alone, pair = size * math.sqrt(2), size * 2
        near(sentence[0], numbers([0, 0], [0, alone]))
        near(sentence[1], numbers([pair / math.sqrt(5), 0], [2 * pair / math.sqrt(5), 0]))

    def test_finished_player_freezes(self):
        arguments, named = problem()
        one = ascend(*arguments, **named, K=1, T=1, alpha=1e-3)
        long = ascend(*arguments, **named, K=1, T=4, alpha=1e-3)
        assert torch.equal(one.delta_pgd, long.delta_pgd)
        assert long.delta_fgsm[0, 1, 1] == pytest.approx(4e-3)
        assert not torch.equal(one.eta, long.eta)

    def test_joint_state_starts_from_the_mix(self):
        arguments, named = problem()
        options = {"alpha": 1e-3, "beta": 3e-3, "rho": 0.25, "trajectories": "joint_state", "eta": "none"}
        found = ascend(*arguments, **named, K=2, T=2, **options)
        mixed = 0.25 * 1e-3 + 0.75 * 3e-3  # after step 1, on token 1 of sentence 0
        assert found.delta_pgd[0, 1, 1] == pytest.approx(mixed + 1e-3)
        assert found.delta_fgsm[0, 1, 1] == pytest.approx(mixed + 3e-3)

    def test_rho_weighs_either(self):
        arguments, named = problem()
        paper = ascend(*arguments, **named, rho=0.9, K=1, T=1)
        released = ascend(*arguments, **named, rho=0.9, rho_weighs="fgsm", K=1, T=1)
        near(paper.delta_final, 0.9 * paper.delta_pgd + 0.1 * paper.delta_fgsm)
        near(released.delta_final, 0.1 * paper.delta_pgd + 0.9 * paper.delta_fgsm)

    @pytest.mark.parametrize(
        ("trajectories", "delta_gradient", "eta", "per_step"),
        [
            ("shared", "with_eta", "present", 1), ("shared", "without_eta", "present", 2),
            ("separate", "with_eta", "present", 2), ("separate", "without_eta", "present", 3),
            ("shared", "without_eta", "none", 1), ("separate", "without_eta", "none", 2),
        ],
    )  # fmt: skip
    def test_number_of_gradients(self, trajectories, delta_gradient, eta, per_step):
        arguments, named = problem()
        found = ascend(
            *arguments, **named, K=1, T=3, trajectories=trajectories, delta_gradient=delta_gradient, eta=eta
        )
        assert found.num_gradients == 3 * per_step

    @pytest.mark.parametrize(
        ("trajectories", "delta_gradient", "expected"),
        [  # the points seen by PGD, FGSM and eta, for delta_pgd = 1, delta_fgsm = 5, eta = 100, rho = 3/4
            ("shared", "with_eta", (102, 102, 102)),
            ("shared", "without_eta", (2, 2, 102)),
            ("joint_state", "without_eta", (2, 2, 102)),
            ("separate", "with_eta", (101, 105, 102)),
            ("separate", "without_eta", (1, 5, 102)),
        ],
    )
    def test_where_gradients_are_taken(self, trajectories, delta_gradient, expected):
        o = Options(rho=0.75, trajectories=trajectories, delta_gradient=delta_gradient)
        at = numbers(1.0), numbers(5.0), numbers(100.0)
        pgd, fgsm, rest, _ = step_gradients(lambda at: [at, -at], *at, o)
        assert (float(pgd), float(fgsm), float(rest[0])) == expected
        assert torch.equal(rest[1], -rest[0])

    def test_separate_eta_takes_the_mix_of_gradients_not_the_gradient_of_the_mix(self):
        o = Options(rho=0.75, trajectories="separate")
        _, _, rest, _ = step_gradients(lambda at: [at**2], numbers(1.0), numbers(5.0), numbers(0.0), o)
        assert float(rest[0]) == 0.75 * 1 + 0.25 * 25

    def test_start_is_masked_and_projected(self):
        (encode, embeddings, z_pos, _), named = problem()
        named["table"] = torch.ones(4, 2, dtype=torch.float64)
        delta0 = torch.full((2, 2, 2), 5.0, dtype=torch.float64)
        found = ascend(encode, embeddings, z_pos, delta0, **named, eta_norm="l2")
        assert found.delta_start.tolist() == [[[0, 0], [0.03, 0.03]], [[0.03, 0.03], [0.03, 0.03]]]
        near(found.eta_start[0, 1], numbers(0.2, 0.2) / math.sqrt(2))
        assert found.eta_start[0, 0].tolist() == [0, 0]

    def test_matched_radius_counts_perturbable_coordinates_only(self):
        (encode, embeddings, z_pos, _), named = problem()
        delta0 = torch.full((2, 2, 2), 5.0, dtype=torch.float64)
        found = ascend(encode, embeddings, z_pos, delta0, **named, delta_norm="l2")
        radii = [float(found.delta_start[s].norm()) for s in (0, 1)]
        assert radii == pytest.approx([0.03 * math.sqrt(2), 0.03 * math.sqrt(4)])

    def test_masks_rise_where_keeping_raises_the_loss(self):
        # z_0 = (w, 0) -> cosines fixed; make feature 1 of token 1 pull z_0 to e_1: keeping it raises the loss.
        (_, embeddings, z_pos, delta0), named = problem()
        embeddings[0, 1, 1] = 1.0

        def encode(points, weights):
            weakened = points * weights[0]
            return weakened[:, 0, :] + weakened[:, 1, :]

        p_tok, p_fea = ([torch.full((2, 2), 0.5, dtype=torch.float64)] for _ in range(2))
        named |= {"p_tok": p_tok, "p_fea": p_fea, "phi": 0.2, "K": 1, "T": 1, "eta": "none"}
        found = ascend(encode, embeddings, z_pos, delta0, **named)
        # z_0 = (a, b), a = (m_0 + f_0)/2, b = (m_1 + f_1)/2: the loss falls in a, rises in b, by equal amounts here
        step_length = 0.5 / math.sqrt(2)
        near(found.p_tok[0][0], numbers(0.5 - step_length, 0.5 + step_length))
        near(found.p_fea[0][0], numbers(0.5 - step_length, 0.5 + step_length))
        near(found.weights[0][0], numbers([0.0, 0.5], [0.5, 1.0]))

    def test_gradient_against_differences(self):
        generator = torch.Generator().manual_seed(1)
        sizes = (3, 2, 3), (3, 3), (3, 3)
        point, z_pos, mixing = (torch.randn(s, generator=generator, dtype=torch.float64) for s in sizes)

        def encode(points, weights):
            return torch.tanh((points * weights[0]).sum(1) @ mixing)

        real = torch.tensor([[True, True], [True, True], [True, False]])
        masks = [threshold(torch.rand(3, n, generator=generator, dtype=torch.float64), 0.4) for n in (2, 3)]
        gradients = gradient_at(encode, point, z_pos, [masks[0]], [masks[1]], real, 0.5)
        leaves = [point, *masks]
        for k, leaf in enumerate(leaves):
            for place in torch.cartesian_prod(*map(torch.arange, leaf.shape)):
                losses = []
                for change in (1e-6, -1e-6):
                    moved = [x.clone() for x in leaves]
                    moved[k][tuple(place)] += change
                    losses.append(
                        inner_loss(encode, moved[0], [weight(moved[1], moved[2], real)], z_pos, 0.5)
                    )
                slope = float(losses[0] - losses[1]) / 2e-6
                assert float(gradients[k][tuple(place)]) == pytest.approx(slope, abs=1e-8)
