"""The reference of DCL against numbers worked out by hand, and how far power norm's backward is from a gradient."""

import math
from dataclasses import replace

import pytest
import torch

from .by_hand import near, numbers
from .dcl_reference import (
    Head,
    State,
    alignment,
    alignment_of,
    backward,
    batch_forward,
    corrupted,
    forward,
    masked_lm,
    moved_target,
    next_psi,
    pair_cosines,
    power_backward,
    power_forward,
    step,
    uniformity,
)

A = 0.9


def random(*shape, seed):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def fresh(width):
    """psi_0 = 1, nu_0 = 0."""
    return State(psi=torch.ones(width, dtype=torch.float64), nu=torch.zeros(width, dtype=torch.float64))


def settled(width, seed):
    """Statistics as after some steps."""
    return State(psi=random(width, seed=seed).abs() + 0.5, nu=random(width, seed=seed + 1))


def a_head(n, h, m, seed):
    w1, w2 = random(h, n, seed=seed), random(m, h, seed=seed + 1)
    b1, b2 = random(h, seed=seed + 2), random(m, seed=seed + 3)
    gain, bias = 1 + 0.1 * random(h, seed=seed + 4), 0.1 * random(h, seed=seed + 5)
    return Head(w1=w1, b1=b1, gain=gain, bias=bias, w2=w2, b2=b2)


class TestPowerNorm:
    gain, bias = numbers(2.0), numbers(1.0)
    state = State(psi=numbers(2.0), nu=numbers(0.5))
    x = numbers([1.0], [3.0])

    def test_forward(self):
        scaled, y = power_forward(self.x, self.gain, self.bias, self.state.psi)
        near(scaled, numbers([0.5], [1.5]))
        near(y, numbers([2.0], [4.0]))
        near(next_psi(self.x, self.state.psi, A), torch.sqrt(numbers(0.9 * 4 + 0.1 * 5)))

    def test_backward(self):
        scaled, _ = power_forward(self.x, self.gain, self.bias, self.state.psi)
        d_y = numbers([1.0], [-2.0])  # G = (2, -4), mean X^^2 = 1.25, mean G X^ = (1 - 6)/2
        d_x, d_gain, d_bias, nu = power_backward(d_y, scaled, self.gain, self.state, A)
        near(d_x, numbers([(2 - 0.25) / 2], [(-4 - 0.75) / 2]))
        near(d_gain, numbers(0.5 - 3.0))
        near(d_bias, numbers(-1.0))
        near(nu, numbers(0.5 * (1 - 0.125) + 0.1 * -2.5))

    def test_psi_1_is_affine(self):
        x, gain, bias = random(5, 3, seed=0), random(3, seed=1), random(3, seed=2)
        near(power_forward(x, gain, bias, fresh(3).psi)[1], x * gain + bias)

    def test_first_step_has_the_true_gradient_of_its_forward(self):
        self.compare(State(psi=settled(3, 3).psi, nu=fresh(3).nu), excess=lambda state, scaled: 0 * scaled)

    def test_later_steps_miss_it_by_nu_x_hat_over_psi(self):
        self.compare(settled(3, 3), excess=lambda state, scaled: -state.nu * scaled / state.psi)

    def compare(self, state, excess):
        x, gain, bias, d_y = (random(*s, seed=k) for k, s in enumerate([(5, 3), (3,), (3,), (5, 3)]))
        scaled, _ = power_forward(x, gain, bias, state.psi)
        d_x, d_gain, d_bias, _ = power_backward(d_y, scaled, gain, state, A)
        true = [torch.zeros_like(leaf) for leaf in (x, gain, bias)]
        for leaf, gradient in zip((x, gain, bias), true, strict=True):  # by differences, psi held still
            for place in torch.cartesian_prod(*map(torch.arange, leaf.shape)).reshape(-1, leaf.dim()):
                values = []
                for by in (1e-6, -1e-6):
                    at = tuple(place.tolist())
                    leaf[at] += by
                    values.append(float((power_forward(x, gain, bias, state.psi)[1] * d_y).sum()))
                    leaf[at] -= by
                gradient[at] = (values[0] - values[1]) / 2e-6
        torch.testing.assert_close(d_x - true[0], excess(state, scaled), rtol=0, atol=1e-8)
        torch.testing.assert_close(d_gain, true[1], rtol=0, atol=1e-8)
        torch.testing.assert_close(d_bias, true[2], rtol=0, atol=1e-8)

    def test_gradcheck_fails_but_at_nu_0(self):
        class PowerNorm(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, nu):
                scaled, y = power_forward(x, torch.ones(3).double(), torch.zeros(3).double(), psi)
                ctx.save_for_backward(scaled, nu)
                return y

            @staticmethod
            def backward(ctx, d_y):
                scaled, nu = ctx.saved_tensors
                ones = torch.ones(3, dtype=torch.float64)
                return power_backward(d_y, scaled, ones, State(psi=psi, nu=nu), A)[0], None

        psi, nu = settled(3, 5).psi, settled(3, 5).nu
        x = random(4, 3, seed=7).requires_grad_()
        assert torch.autograd.gradcheck(PowerNorm.apply, (x, 0 * nu))
        assert not torch.autograd.gradcheck(PowerNorm.apply, (x, nu), raise_exception=False)

    def test_on_a_batch_that_repeats_it_becomes_the_gradient_of_x_over_its_quadratic_mean(self):
        x, gain, bias, d_y = random(6, 2, seed=8), numbers(1.5, 0.5), numbers(0.0, 0.3), random(6, 2, seed=9)
        state, errors = fresh(2), []
        leaf = x.clone().requires_grad_()
        y = gain * leaf / torch.sqrt((leaf**2).mean(0)) + bias
        true = torch.autograd.grad(y, leaf, d_y)[0]
        for _ in range(300):
            scaled, found = power_forward(x, gain, bias, state.psi)
            d_x, _, _, nu = power_backward(d_y, scaled, gain, state, A)
            state = State(psi=next_psi(x, state.psi, A), nu=nu)
            errors.append(float((d_x - true).norm() / true.norm()))
        near(found, y.detach())
        assert errors[0] > 0.1
        assert errors[-1] < 1e-10


class TestHead:
    @pytest.mark.parametrize("norm", ["power", "batch", "none"])
    def test_backward_is_autograd_of_the_plain_formula(self, norm):
        head, state = a_head(4, 5, 3, 10), settled(5, 22)
        x, d_out = random(6, 4, seed=20), random(6, 3, seed=21)
        trace = forward(head, x, state, norm)
        d_x, gradients, nu = backward(head, trace, d_out, state, norm, A)
        leaves = {n: getattr(head, n).clone().requires_grad_() for n in gradients}
        leaves["x"] = x.clone().requires_grad_()
        before = leaves["x"] @ leaves["w1"].T + leaves["b1"]
        normed = {
            "power": lambda: leaves["gain"] * before / state.psi + leaves["bias"],
            "batch": lambda: torch.nn.functional.batch_norm(
                before, None, None, leaves["gain"], leaves["bias"], training=True
            ),
            "none": lambda: before,
        }[norm]()
        out = torch.relu(normed) @ leaves["w2"].T + leaves["b2"]
        near(trace.out, out.detach())
        value = (out * d_out).sum()
        if norm == "power":  # a term whose gradient is what power norm's backward takes away
            value = value - (state.nu * (before / state.psi).detach() * before / state.psi).sum()
        true = torch.autograd.grad(value, list(leaves.values()), materialize_grads=True)
        for name, expected in zip(leaves, true, strict=True):
            near(d_x if name == "x" else gradients[name], expected)
        assert torch.equal(nu, state.nu) == (norm != "power")

    def test_batch_forward(self):
        x, gain, bias = random(6, 3, seed=1), random(3, seed=2), random(3, seed=3)
        expected = torch.nn.functional.batch_norm(x, None, None, gain, bias, training=True)
        near(batch_forward(x, gain, bias), expected)

    def test_biases_may_be_missing(self):
        head, x = a_head(4, 5, 3, 10), random(6, 4, seed=20)
        without = forward(replace(head, b1=None, b2=None), x, fresh(5), "power")
        zeros = replace(head, b1=torch.zeros(5).double(), b2=torch.zeros(3).double())
        near(without.out, forward(zeros, x, fresh(5), "power").out)


class TestStep:
    def run(self, norm="power", state=None, mlm=None, same=False):
        words = {"x": random(4, 6, seed=1), "x_aug": random(4, 6, seed=1 if same else 2)}
        encoder = (random(5, 6, seed=3) / 2).requires_grad_()
        target_encoder = random(5, 6, seed=4) / 2
        projection, predictor, target = a_head(5, 7, 4, 30), a_head(4, 7, 4, 40), a_head(5, 7, 4, 50)
        state = state or settled(7, 60)
        result = step(
            lambda points, view: torch.tanh(points @ encoder.T),
            lambda points, view: torch.tanh(points @ target_encoder.T),
            words["x"], words["x_aug"], projection=projection, predictor=predictor, target_projection=target,
            projection_state=state, predictor_state=settled(7, 62), target_state=settled(7, 64), norm=norm, mlm=mlm,
        )  # fmt: skip
        return result, encoder, words

    def test_loss_of_8_by_hand(self):
        predictions, targets = numbers([1.0, 0.0], [1.0, 1.0]), numbers([3.0, 0.0], [-2.0, 2.0])
        near(alignment_of(predictions, targets), numbers(1.0)[0])  # cosines 1 and 0

    def test_both_directions_and_mlm_add_up(self):
        result, _, _ = self.run(mlm=numbers(0.25)[0])
        for value, prediction, target in (
            (result.align, result.predictions["x"], result.targets["x_aug"]),
            (result.align_swapped, result.predictions["x_aug"], result.targets["x"]),
        ):
            cosines = torch.nn.functional.cosine_similarity(prediction, target, dim=-1)
            near(value, (2 - 2 * cosines).mean())
        near(result.loss, result.align + result.align_swapped + 0.25)

    @pytest.mark.parametrize("norm", ["power", "batch", "none"])
    def test_gradients_down_to_the_encoder(self, norm):
        # nu = 0 in both heads: then even power norm's backward is the gradient, psi held still
        state = replace(settled(7, 60), nu=torch.zeros(7, dtype=torch.float64))
        words = {"x": random(4, 6, seed=1), "x_aug": random(4, 6, seed=2)}
        projection, predictor = a_head(5, 7, 4, 30), a_head(4, 7, 4, 40)

        def run(weights):
            return step(
                lambda points, view: torch.tanh(points @ weights.T), lambda points, view: points[:, :5],
                words["x"], words["x_aug"], projection=projection, predictor=predictor,
                target_projection=a_head(5, 7, 4, 50), projection_state=state, predictor_state=state,
                target_state=state, norm=norm,
            )  # fmt: skip

        weights = (random(5, 6, seed=3) / 2).requires_grad_()
        result = run(weights)
        encoded, gradients = ([of[v] for v in words] for of in (result.encoded, result.encoded_gradients))
        torch.autograd.backward(encoded, gradients)
        checked = [(weights.data, weights.grad, (0, 1)), (weights.data, weights.grad, (4, 5))]
        for head, gradients in (
            (projection, result.projection_gradients),
            (predictor, result.predictor_gradients),
        ):
            checked += [(getattr(head, n), g, (1,) * g.dim()) for n, g in gradients.items()]
        for leaf, gradient, place in checked:
            values = []
            for by in (1e-6, -1e-6):
                leaf[place] += by
                values.append(float(run(weights).loss.detach()))
                leaf[place] -= by
            assert float(gradient[place]) == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-8)

    def test_statistics_are_moved_by_the_first_view_alone(self):
        result, encoder, words = self.run()
        projection, state = a_head(5, 7, 4, 30), settled(7, 60)
        before = torch.tanh(words["x"] @ encoder.detach().T) @ projection.w1.T + projection.b1
        near(result.projection_state.psi, torch.sqrt(A * state.psi**2 + (1 - A) * (before**2).mean(0)))
        predictor, of_predictor = a_head(4, 7, 4, 40), settled(7, 62)
        second = forward(predictor, result.projections["x"], of_predictor, "power")
        prediction = second.out.requires_grad_()
        d_out = torch.autograd.grad(alignment_of(prediction, result.targets["x_aug"]), prediction)[0]
        d_projected, _, nu = backward(predictor, second, d_out, of_predictor, "power", A)
        near(result.predictor_state.nu, nu)
        near(result.predictor_state.psi, next_psi(second.before, of_predictor.psi, A))
        first = forward(projection, result.encoded["x"].detach(), state, "power")
        near(result.projection_state.nu, backward(projection, first, d_projected, state, "power", A)[2])
        same, _, _ = self.run(same=True)
        near(same.projection_state.psi, result.projection_state.psi)
        assert not torch.equal(same.projections["x_aug"], result.projections["x_aug"])

    @pytest.mark.parametrize("norm", ["batch", "none"])
    def test_other_norms_leave_them(self, norm):
        result, _, _ = self.run(norm=norm)
        assert torch.equal(result.projection_state.psi, settled(7, 60).psi)
        assert torch.equal(result.predictor_state.nu, settled(7, 62).nu)

    def test_target_moves_towards_online(self):
        target, online = {"w": numbers(1.0, 0.0)}, {"w": numbers(0.0, 1.0)}
        near(moved_target(target, online)["w"], numbers(0.996, 0.004))
        assert moved_target(target, online, decay=1.0)["w"].tolist() == [1, 0]
        assert target["w"].tolist() == [1, 0]


class TestMeasures:
    def test_alignment_and_uniformity(self):
        x, y = numbers([1.0, 0.0], [0.0, 1.0]), numbers([0.0, 1.0], [0.0, 1.0])
        near(alignment(x, y), numbers(1.0)[0])  # squared distances 2 and 0
        near(alignment(x, y, alpha=1.0), numbers(math.sqrt(2) / 2)[0])
        near(uniformity(x), numbers(-4.0)[0])
        third = torch.cat([x, numbers([-1.0, 0.0])])  # squared distances 2, 4, 2
        near(uniformity(third, t=1.0), numbers(math.log((2 * math.exp(-2) + math.exp(-4)) / 3))[0])
        near(uniformity(y), numbers(0.0)[0])  # collapsed

    def test_pair_cosines(self):
        x, y = numbers([1.0, 0.0], [0.0, 2.0]), numbers([3.0, 0.0], [1.0, 1.0])
        assert pair_cosines(x, y) == pytest.approx(((1 + math.sqrt(0.5)) / 2, math.sqrt(0.5) / 2))


class TestMaskedLm:
    ids = torch.tensor([[1, 2, 0]])
    chosen = torch.tensor([[True, True, False]])

    def test_corruption(self):
        ids, kinds = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[0, 1, 2, 0]])
        chosen, drawn = torch.tensor([[True, True, True, False]]), torch.tensor([[9, 9, 9, 9]])
        assert corrupted(ids, chosen, kinds, drawn, 3).tolist() == [[3, 9, 7, 8]]

    def test_loss(self):
        logits = torch.log(numbers([[1.0, 2.0, 1.0], [1.0, 1.0, 8.0], [7.0, 1.0, 1.0]]))
        near(masked_lm(logits, self.ids, self.chosen), numbers((math.log(2) + math.log(10 / 8)) / 2)[0])
        by_torch = torch.nn.functional.cross_entropy(logits[self.chosen], self.ids[self.chosen])
        near(masked_lm(logits, self.ids, self.chosen), by_torch)
