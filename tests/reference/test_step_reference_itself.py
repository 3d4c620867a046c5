"""The reference of the whole step against numbers worked out by hand in each test."""

import math

import pytest
import torch

from .by_hand import near, numbers
from .contrastive_reference import contrastive
from .step_reference import step


class TestStep:
    def run(self, **options):
        words = torch.eye(4, dtype=torch.float64).requires_grad_()
        views = []

        def encode(points, weights, view):
            views.append(view)
            pooled = (points * weights[0] if weights else points).sum(1)
            return torch.tanh(pooled), pooled

        def discriminate(embeddings, h):
            return torch.sigmoid(embeddings.sum(-1) + h.sum(-1, keepdim=True))

        named = {
            "ids": torch.tensor([[0, 1], [0, 2]]), "filled_ids": torch.tensor([[0, 3], [0, 2]]),
            "real": torch.ones(2, 2, dtype=torch.bool), "perturbable": torch.tensor([[False, True]] * 2),
            "delta0": torch.zeros(2, 2, 4, dtype=torch.float64), "table": torch.zeros(4, 4, dtype=torch.float64),
        } | options  # fmt: skip
        return step(lambda ids: words[ids], encode, discriminate, **named), views, words

    def test_parts_add_up(self):
        result, views, words = self.run(lambda1=0.5, lambda2=0.25, temperature=1.0, ascent={"K": 1, "T": 2})
        assert views == ["inner_pos", "inner", "inner", "z", "z_pos", "z_adv"]
        near(result.loss.detach(), (result.robust + 0.5 * result.regulariser + 0.25 * result.rtd).detach())
        moved = words[torch.tensor([[0, 1], [0, 2]])] + result.ascent.delta_final
        near(result.z_adv.detach(), torch.tanh(moved.sum(1)).detach())
        assert torch.autograd.grad(result.loss, words)[0].abs().sum() > 0

    def test_without_adversary_and_rtd_it_is_simcse(self):
        result, views, _ = self.run(delta0=None, table=None, lambda1=0.0, lambda2=0.0)
        assert views == ["z", "z_pos"]
        near(result.loss, contrastive(result.z, [result.z_pos], [result.z_pos], temperature=0.05))

    def test_rtd_reads_eta_by_position(self):
        result, _, _ = self.run(lambda1=0.0, lambda2=1.0, temperature=1.0, ascent={"K": 1, "T": 1})
        eta = result.ascent.eta
        # position 1 alone counts: sentence 0 was replaced (id 3 for 1), sentence 1 was not; each word sums to 1
        logits = [1 + float(eta[s, 1].sum()) + float(result.z[s].detach().sum()) for s in (0, 1)]
        replaced, original = 1 / (1 + math.exp(-logits[0])), 1 / (1 + math.exp(-logits[1]))
        near(result.rtd.detach(), numbers((-math.log(1 - replaced) - math.log(original)) / 2)[0])
        assert float(eta.abs().sum()) > 0

    def test_outer_view_and_h_follow_their_switches(self):
        p_tok, p_fea = [numbers([0.1, 0.9], [0.9, 0.9])], [torch.full((2, 4), 0.9, dtype=torch.float64)]
        named = {"lambda1": 0.1, "p_tok": p_tok, "p_fea": p_fea}
        named["ascent"] = {"K": 1, "T": 1, "phi": 0.3, "mask_step_size": 0.05}
        plain, _, words = self.run(**named)
        shifted, _, _ = self.run(**named, z_adv_eta="with", rtd_h="before_head")
        points = words[torch.tensor([[0, 1], [0, 2]])].detach() + plain.ascent.delta_final
        factors = plain.ascent.weights[0]
        assert factors[0, 0].tolist() == [0.5] * 4
        near(plain.z_adv.detach(), torch.tanh((points * factors).sum(1)))
        near(shifted.z_adv.detach(), torch.tanh(((points + shifted.ascent.eta) * factors).sum(1)))
        near(plain.z.detach(), shifted.z.detach())
        assert not torch.equal(plain.rtd, shifted.rtd)

    def test_no_view_refuses_its_weight(self):
        with pytest.raises(AssertionError):
            self.run(delta0=None, lambda1=0.1)
