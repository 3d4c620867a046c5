"""The reference of V-advCSE against numbers worked out by hand and limits that must hold."""

import math

import pytest
import torch

from .by_hand import near, numbers
from .contrastive_reference import contrastive
from .geometry_reference import norm
from .v_adv_cse_reference import (
    Options,
    divergence,
    gradient_at,
    gradient_share,
    linear_optimum,
    log_distribution,
    log_softmax,
    moved,
    step,
    virtual,
)

DIVERGENCES = ("kl", "symmetric_kl", "js")
READINGS = ("features", "in_batch")
P, Q = numbers(0.25, 0.75), numbers(0.5, 0.5)


def random(*shape, seed=0, scale=1.0):
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def problem(b=3):
    """Sentences of 2-3 real tokens, d = 4, through tanh(sum of real tokens @ mixing); no dropout."""
    real = torch.ones(b, 3, dtype=torch.bool)
    real[-1, 2] = False
    mixing = random(4, 4, seed=1).requires_grad_()

    def encode(points, view):
        return torch.tanh((points * real[: len(points), :, None]).sum(1) @ mixing)

    return encode, random(b, 3, 4, seed=2), real, mixing


class TestDivergence:
    def test_softmax(self):
        near(log_softmax(numbers(0.0, math.log(3))), torch.log(P))
        near(log_softmax(numbers(1000.0, 1000.0)), torch.log(Q))

    def test_by_hand(self):
        p, q, m = torch.log(P), torch.log(Q), (0.375, 0.625)
        forwards = 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
        back = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
        near(divergence(p, q, "kl"), numbers(forwards)[0])
        near(divergence(q, p, "kl"), numbers(back)[0])
        near(divergence(p, q, "symmetric_kl"), numbers((forwards + back) / 2)[0])
        to_mixture = 0.25 * math.log(0.25 / m[0]) + 0.75 * math.log(0.75 / m[1])
        of_other = 0.5 * math.log(0.5 / m[0]) + 0.5 * math.log(0.5 / m[1])
        near(divergence(p, q, "js"), numbers((to_mixture + of_other) / 2)[0])

    def test_js_is_symmetric_and_at_most_log_2(self):
        for seed in range(20):
            p, q = (log_softmax(random(5, seed=2 * seed + k, scale=10.0)) for k in (0, 1))
            near(divergence(p, q, "js"), divergence(q, p, "js"))
            assert 0 < float(divergence(p, q, "js")) <= math.log(2)
        apart = [log_softmax(numbers(0.0, sign * 60.0)) for sign in (-1, 1)]
        near(divergence(*apart, "js"), numbers(math.log(2))[0])
        assert float(divergence(*apart, "kl")) == pytest.approx(60)

    @pytest.mark.parametrize(("name", "share"), [("kl", 1.0), ("symmetric_kl", 1.0), ("js", 0.25)])
    def test_near_distributions_differ_by_half_the_variance_of_the_logits(self, name, share):
        logits, change = random(6), random(6, seed=1, scale=1e-4)
        p, q = log_softmax(logits), log_softmax(logits + change)
        weights = torch.exp(p)
        variance = float((weights * change**2).sum() - (weights * change).sum() ** 2)
        assert float(divergence(p, q, name)) == pytest.approx(share * variance / 2, rel=1e-3)


class TestVirtual:
    def test_two_readings(self):
        clean, perturbed = numbers([0.0, math.log(3)], [0.0, 0.0]), numbers([0.0, 0.0], [0.0, 0.0])
        total = 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
        near(virtual(clean, perturbed, Options(divergence="kl")), numbers(total)[0])
        # keys e_1 and e_2: a sentence at its own key has cosines (1, 0), one between them (s, s)
        clean, perturbed = torch.eye(2, dtype=torch.float64), numbers([5.0, 5.0], [0.0, 2.0])
        o = Options(divergence="kl", distribution="in_batch", key_temperature=1 / math.log(3))
        near(torch.exp(log_distribution(clean, clean, o)), numbers([0.75, 0.25], [0.25, 0.75]))
        near(virtual(clean, perturbed, o), numbers(total)[0])

    @pytest.mark.parametrize("distribution", READINGS)
    @pytest.mark.parametrize("name", DIVERGENCES)
    def test_no_perturbation_no_distance_and_no_gradient(self, name, distribution):
        encode, embeddings, _, _ = problem()
        o = Options(divergence=name, distribution=distribution)
        clean = encode(embeddings, "clean").detach()
        near(virtual(clean, clean, o), numbers(0.0)[0])
        assert float(gradient_at(encode, embeddings, clean, 0 * embeddings, o).abs().max()) < 1e-13

    @pytest.mark.parametrize("distribution", READINGS)
    @pytest.mark.parametrize("name", DIVERGENCES)
    def test_gradient_against_differences(self, name, distribution):
        encode, embeddings, _, _ = problem()
        o = Options(divergence=name, distribution=distribution, key_temperature=0.5)
        clean, r = encode(embeddings, "clean").detach(), random(3, 3, 4, seed=3, scale=0.1)
        gradient = gradient_at(encode, embeddings, clean, r, o)
        assert float(gradient[-1, 2].abs().max()) == 0  # padding
        for place in [(0, 0, 0), (0, 2, 3), (1, 1, 2), (2, 0, 1)]:
            values = []
            for change in (1e-6, -1e-6):
                there = r.clone()
                there[place] += change
                values.append(virtual(clean, encode(embeddings + there, "inner"), o).detach())
            assert float(gradient[place]) == pytest.approx(float(values[0] - values[1]) / 2e-6, abs=1e-9)


class TestMove:
    r = numbers([[0.0, 0.0], [0.0, 0.0]])
    g = numbers([[3.0, 0.0], [0.0, -4.0]])
    real = torch.tensor([[True, True]])

    def test_l2(self):
        near(moved(self.r, self.g, self.real, Options()), numbers([[0.3, 0.0], [0.0, -0.4]]))
        near(moved(self.r, self.g, self.real, Options(radius=0.25)), numbers([[0.15, 0.0], [0.0, -0.2]]))
        raw = Options(gradient="raw", step_size=0.1)
        near(moved(self.r, self.g, self.real, raw), numbers([[0.3, 0.0], [0.0, -0.4]]))

    def test_linf_is_matched_over_the_four_coordinates(self):
        near(moved(self.r, self.g, self.real, Options(norm="linf")), numbers([[0.1875, 0.0], [0.0, -0.25]]))
        literal = Options(norm="linf", strength="literal")
        near(moved(self.r, self.g, self.real, literal), numbers([[0.375, 0.0], [0.0, -0.5]]))
        by_l2 = Options(norm="linf", gradient="unit_l2", radius=0.7)  # radius 0.35 cuts 0.4, not 0.3
        near(moved(self.r, self.g, self.real, by_l2), numbers([[0.3, 0.0], [0.0, -0.35]]))

    def test_padding_neither_moves_nor_counts(self):
        real = torch.tensor([[True, False]])
        found = moved(self.r, self.g, real, Options(norm="linf"))
        near(found, numbers([[0.5 / math.sqrt(2), 0.0], [0.0, 0.0]]))

    @pytest.mark.parametrize("p", ["l2", "linf"])
    def test_closed_form_beats_a_thousand_points(self, p):
        g = random(5, seed=4).tolist()
        best, value = linear_optimum(g, 0.7, p)
        assert norm(best, p) == pytest.approx(0.7)
        assert math.fsum(a * b for a, b in zip(g, best, strict=True)) == pytest.approx(value)
        points = random(1000, 5, seed=5)
        sizes = points.norm(dim=1) if p == "l2" else points.abs().amax(1)
        points = 0.7 * points / sizes[:, None]  # on the sphere, where a linear function is largest
        reached = points @ numbers(*g)
        assert 0.8 * value < float(reached.max()) < value

    @pytest.mark.parametrize("p", ["l2", "linf"])
    def test_long_step_of_a_linear_objective_ends_there(self, p):
        o = Options(norm=p, step_size=1e6, radius=0.7, strength="literal")
        best, _ = linear_optimum(self.g.flatten().tolist(), 0.7, p)
        near(moved(self.r, self.g, self.real, o).flatten(), numbers(*best))


class TestStep:
    def run(self, b=3, **options):
        encode, embeddings, real, mixing = problem(b)
        embeddings = embeddings.requires_grad_()
        return step(encode, embeddings, real=real, r0=random(b, 3, 4, seed=6, scale=1e-3), **options), mixing

    def test_parts_add_up(self):
        result, _ = self.run(lambda_=0.5)
        alone = contrastive(result.z, [result.z_pos], [result.z_pos], temperature=0.05)
        near(result.loss.detach(), (alone + 0.5 * result.virtual).detach())
        assert float(result.virtual.detach()) > 0
        assert not result.r.requires_grad
        assert result.r[-1, 2].tolist() == [0.0] * 4

    @pytest.mark.parametrize("distribution", READINGS)
    @pytest.mark.parametrize("name", DIVERGENCES)
    def test_ascent_raises_the_distance(self, name, distribution):
        runs = [self.run(K=k, divergence=name, distribution=distribution)[0] for k in (0, 1, 2)]
        steps = [float(run.virtual.detach()) for run in runs]
        assert steps[0] < 1e-2 * steps[1]
        assert steps[1] < steps[2]

    def test_views_and_their_order(self):
        seen = []

        def encode(points, view):
            seen.append(view)
            return points.sum(1)

        step(encode, random(2, 2, 3), real=torch.ones(2, 2, dtype=torch.bool), r0=random(2, 2, 3), K=2)
        assert seen == ["z", "z_pos", "clean", "inner", "inner", "perturbed"]

    def test_raw_steps_do_not_depend_on_the_batch(self):
        encode, embeddings, real, _ = problem()
        r0 = random(3, 3, 4, seed=6, scale=1e-2)
        options = {"gradient": "raw", "K": 2, "step_size": 5.0}
        together = step(encode, embeddings, real=real, r0=r0, **options).r
        alone = step(encode, embeddings[:1], real=real[:1], r0=r0[:1], **options).r
        near(alone[0], together[0])
        assert float((alone - r0[:1]).abs().max()) > 1e-3

    def test_clean_branch_and_r_are_constants(self):
        result, mixing = self.run()
        _, embeddings, real, _ = problem()
        found = torch.autograd.grad(result.virtual, mixing)[0]
        values, moving = [], []
        for change in (1e-6, -1e-6):
            with torch.no_grad():
                there = mixing.clone()
                there[0, 1] += change
                points = (embeddings + result.r) * real[:, :, None]
                perturbed = torch.tanh(points.sum(1) @ there)
                clean = torch.tanh((embeddings * real[:, :, None]).sum(1) @ there)
                values.append(float(virtual(result.clean, perturbed, Options())))
                moving.append(float(virtual(clean, perturbed, Options())))
        assert float(found[0, 1]) == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-9)
        assert float(found[0, 1]) != pytest.approx((moving[0] - moving[1]) / 2e-6, rel=0.1)

    def test_word_embeddings_learn_through_the_perturbed_branch(self):
        encode, embeddings, real, _ = problem()
        embeddings = embeddings.requires_grad_()
        result = step(encode, embeddings, real=real, r0=random(3, 3, 4, seed=6, scale=1e-3))
        found = torch.autograd.grad(result.virtual, embeddings)[0]
        o = Options()  # at X + r, d/dX is d/dr
        there = gradient_at(encode, embeddings, result.clean, result.r, o)
        near(found, there)
        assert float(there.abs().max()) > 1e-3

    def test_no_step_leaves_r0_on_real_tokens_however_large(self):
        encode, embeddings, real, _ = problem()
        r0 = random(3, 3, 4, seed=6, scale=10.0)
        found = step(encode, embeddings, real=real, r0=r0, K=0).r
        assert torch.equal(found[:2], r0[:2])
        assert found[2, 2].tolist() == [0.0] * 4

    def test_share_is_linear_in_lambda(self):
        result, mixing = self.run()
        share = gradient_share(result, [mixing], 1e-6)
        parts = result.virtual, result.contrastive
        by_autograd = [torch.autograd.grad(part, mixing, retain_graph=True)[0].norm() for part in parts]
        assert share == pytest.approx(1e-6 * float(by_autograd[0] / by_autograd[1]))
        assert gradient_share(result, [mixing], 2e-6) == pytest.approx(2 * share)
