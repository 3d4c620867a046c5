"""The reference of L2P-CSR against numbers worked out by hand and limits that must hold."""

import math

import pytest
import torch

from .by_hand import near, numbers
from .contrastive_reference import contrastive
from .l2p_csr_reference import RELEASED, VARIANTS, Options, View, gradients_at, layers_of, step, updated_view

HALF_STEP = 0.5 / math.sqrt(2)  # lr_p along each of two equal coordinates


def by_hand(**options):
    """Two sentences of two tokens, d = 2, one site, z = weighted sum of the tokens; every p is 0.5.

    z_0 = (a, b) with a = (m_0 + f_0)/2, b = (m_1 + f_1)/2; z_1 is along (0, 1) whatever its masks. Where all
    masks are 1, cos(z_0, z_1) rises in b and falls in a, equally fast, in either view; the own cosines are
    stationary. So p of sentence 0 goes down for token 0 and feature 0, up for token 1 and feature 1.
    """
    embeddings = numbers([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]).requires_grad_()
    real = torch.tensor([[True, True], [True, True]])
    half = torch.full((2, 2), 0.5, dtype=torch.float64)
    named = {"real": real, "p_tok": ([half], [half]), "p_fea": ([half], [half]), "k": 0, "t": 1, "phi": 0.2}
    if options.get("feature_mask") == "batch":
        named["p_fea"] = ([half[:1]], [half[:1]])

    def encode(points, weights, view):
        return (points * weights[0]).sum(1) if weights else points.sum(1)

    return step(encode, embeddings, **named | {"temperature": 1.0} | options)


class Problem:
    """Three sentences of 2-3 real tokens, d = 4: tanh blocks with three sites, a fixed shift per view."""

    def __init__(self):
        generator = torch.Generator().manual_seed(0)

        def draw(*shape):
            return torch.rand(*shape, generator=generator, dtype=torch.float64)

        self.real = torch.tensor([[True] * 3, [True] * 3, [True, True, False]])
        self.embeddings = (2 * draw(3, 3, 4) - 1).requires_grad_()
        self.blocks = [(2 * draw(4, 4) - 1).requires_grad_() for _ in range(2)]
        self.shifts = {"z": 0.1 * draw(3, 3, 4), "z_pos": 0.1 * draw(3, 3, 4)}
        self.p_tok, self.p_fea = (tuple([draw(3, n) for _ in range(3)] for _ in (0, 1)) for n in (3, 4))
        self.noise = tuple(0.1 * (2 * draw(3, 3, 4) - 1) for _ in (0, 1))
        self.views = []

    def encode(self, points, weights, view):
        self.views.append(view)
        hidden = points + self.shifts[view.removeprefix("inner_")]
        for site in range(3):
            hidden = torch.tanh(hidden @ self.blocks[site - 1]) if site else hidden
            hidden = hidden * weights[site] if site < len(weights) else hidden
            hidden = hidden + (hidden * self.real[:, :, None]).sum(1, keepdim=True) / 3  # tokens meet
        return torch.tanh((hidden * self.real[:, :, None]).sum(1))

    def arguments(self, **options):
        p_tok, p_fea, noise = self.p_tok, self.p_fea, None
        if options.get("variant") == "embedding_noise":
            p_tok, p_fea, noise = ((), ()), ((), ()), self.noise
        if options.get("sites") == "below_k":
            p_tok, p_fea = (tuple(of_view[:2] for of_view in pair) for pair in (p_tok, p_fea))
        if options.get("feature_mask") == "batch":
            p_fea = tuple([p[:1] for p in of_view] for of_view in p_fea)
        return {"real": self.real, "p_tok": p_tok, "p_fea": p_fea, "noise": noise}

    def step(self, **options):
        return step(self.encode, self.embeddings, **self.arguments(**options), **options)


class TestByHand:
    def test_one_step(self):
        found = by_hand()
        moved = numbers([0.5 - HALF_STEP, 0.5 + HALF_STEP], [0.5, 0.5])
        for view, weights in zip(found.learned, found.weights, strict=True):
            near(view.tokens[0], moved)
            near(view.features[0], moved)
            near(weights[0], numbers([[0.0, 0.5], [0.5, 1.0]], [[1.0, 1.0], [1.0, 1.0]]))
        near(found.inner_losses[0], numbers(math.log(1 + math.exp(math.sqrt(0.5) - 1)))[0])
        near(found.loss.detach(), numbers(math.log(2))[0])  # z_0 and z_1 now point the same way

    def test_no_update_leaves_all_kept(self):
        for options in ({"t": 0}, {"variant": "no_learning"}):
            found = by_hand(**options)
            near(found.loss.detach(), numbers(math.log(1 + math.exp(math.sqrt(0.5) - 1)))[0])
            assert found.num_gradients == 0
            assert float(found.weights[1][0].min()) == 1

    def test_without_one_of_the_masks(self):
        moved = numbers([0.5 - HALF_STEP, 0.5 + HALF_STEP], [0.5, 0.5])
        still = numbers([0.5, 0.5], [0.5, 0.5])
        tokens_only, features_only = by_hand(variant="no_feature_mask"), by_hand(variant="no_token_mask")
        near(tokens_only.learned[1].tokens[0], moved)
        near(tokens_only.learned[1].features[0], still)
        near(tokens_only.weights[1][0][0], numbers([0.5, 0.5], [1.0, 1.0]))
        near(features_only.learned[0].tokens[0], still)
        near(features_only.learned[0].features[0], moved)
        near(features_only.weights[0][0][0], numbers([0.5, 1.0], [0.5, 1.0]))

    def test_a_mask_left_out_keeps_everything(self):
        low = torch.full((2, 2), 0.1, dtype=torch.float64)
        tokens = by_hand(variant="no_token_mask", p_tok=([low], [low]), t=0)
        features = by_hand(variant="no_feature_mask", p_fea=([low], [low]), t=0)
        both = by_hand(p_tok=([low], [low]), p_fea=([low], [low]), t=0)
        assert tokens.weights[0][0].unique().tolist() == features.weights[1][0].unique().tolist() == [1.0]
        assert both.weights[0][0].unique().tolist() == [0.0]  # weakened twice

    def test_continual_mask(self):
        found = by_hand(variant="continual_mask", phi=0.2)
        low, high = 0.5 - HALF_STEP, 0.5 + HALF_STEP
        near(found.weights[0][0][0], numbers([low, 0.5], [0.5, high]))  # phi has no say
        cosine = high / math.hypot(low, high)  # of z_0 = (low, high) with z_1, in both views
        near(found.loss.detach(), numbers(math.log(1 + math.exp(cosine - 1)))[0])

    def test_released(self):
        found = by_hand(**RELEASED | {"t": 1, "step_size": 0.4})
        for view in found.learned:
            near(view.tokens[0], numbers([0.1, 0.9], [0.5, 0.5]))  # sign(0) = 0 in sentence 1
            near(view.features[0], numbers([0.5 - 0.8 * HALF_STEP, 0.5 + 0.8 * HALF_STEP]).reshape(1, 2))
        # p_fea is 0.217 > phi: features are kept, for both sentences alike
        near(found.weights[0][0], numbers([[0.5, 0.5], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]))

    def test_embedding_noise(self):
        nothing = torch.zeros(2, 2, 2, dtype=torch.float64)
        given = {"p_tok": ((), ()), "p_fea": ((), ()), "noise": (nothing, nothing)}
        found = by_hand(variant="embedding_noise", **given, noise_step_size=0.2)
        # z_0 = (1, 1) goes towards (0, 1) along (-1, 1), z_1 = (0, 1) towards (1, 1) along (1, 0); two tokens each
        of_0, of_1 = numbers([-0.1, 0.1], [-0.1, 0.1]), numbers([0.2, 0.0], [0.2, 0.0]) / math.sqrt(2)
        for view in found.learned:
            near(view.noise, torch.stack([of_0, of_1]))
        assert found.weights == ([], [])
        near(found.z.detach(), numbers([0.8, 1.2], [0.4 / math.sqrt(2), 1.0]))
        short = by_hand(variant="embedding_noise", **given, noise_step_size=0.2, noise_radius=0.1)
        near(short.learned[0].noise, torch.stack([of_0, of_1]) / 2)

    def test_sites(self):
        assert layers_of(2, "through_k") == [0, 1, 2]
        assert layers_of(2, "below_k") == [0, 1]
        with pytest.raises(AssertionError):
            by_hand(k=1)


class TestLimits:
    @pytest.mark.parametrize("t", [0, 3])
    def test_phi_0_is_simcse_of_the_two_views(self, t):
        problem = Problem()
        found = problem.step(phi=0.0, t=t, temperature=0.5)
        views = [problem.encode(problem.embeddings, [], view) for view in ("z", "z_pos")]
        simcse = contrastive(views[0], [views[1]], [views[1]], temperature=0.5)
        near(found.loss.detach(), simcse.detach())
        leaves = [problem.embeddings, *problem.blocks]
        gradients = torch.autograd.grad(found.loss, leaves), torch.autograd.grad(simcse, leaves)
        for a, b in zip(*gradients, strict=True):
            near(a, b)
            assert float(a.abs().max()) > 1e-3

    def test_passes_and_their_views(self):
        problem = Problem()
        problem.step(t=2)
        assert problem.views == ["inner_z", "inner_z_pos"] * 2 + ["z", "z_pos"]

    def test_masks_of_the_last_update_are_used(self):
        problem = Problem()
        first, again = problem.step(t=2, phi=0.5), problem.step(t=3, phi=0.5)
        assert again.inner_losses[:2] == first.inner_losses
        assert again.inner_losses[2] == float(first.loss.detach())  # same dropout: the pass is the same
        assert again.inner_losses[2] != again.inner_losses[1]

    def test_each_view_takes_its_own_unit_step(self):
        problem = Problem()
        found, given = problem.step(t=1, phi=0.3, step_size=0.2), problem.arguments()
        nowhere = torch.zeros(3, 3, 4, dtype=torch.float64)
        both = zip(given["p_tok"], given["p_fea"], strict=True)
        views = tuple(View(tokens=p_tok, features=p_fea, noise=nowhere) for p_tok, p_fea in both)
        o = Options(phi=0.3)
        _, gradients = gradients_at(problem.encode, problem.embeddings, problem.real, views, o)
        for v in (0, 1):
            for site in range(3):
                for kind in ("tokens", "features"):
                    p, g = getattr(views[v], kind)[site], getattr(gradients[v], kind)[site]
                    moved = (p + 0.2 * g / g.norm(dim=1, keepdim=True)).clamp(0, 1)
                    near(getattr(found.learned[v], kind)[site], moved)
        assert not torch.equal(gradients[0].tokens[0], gradients[1].tokens[0])

    def test_noise_is_zero_on_padding(self):
        problem = Problem()
        for t in (0, 2):
            noise = problem.step(variant="embedding_noise", t=t).learned[0].noise
            assert noise[2, 2].tolist() == [0.0] * 4
            assert torch.equal(noise[:2], problem.noise[0][:2]) == (t == 0)

    def test_padding_keeps_its_p_and_a_zero_gradient_moves_nothing(self):
        problem = Problem()
        found = problem.step(t=2, phi=0.5)
        for v in (0, 1):
            for site in range(3):
                padded = problem.p_tok[v][site][2, 2]
                assert found.learned[v].tokens[site][2, 2] == padded
                assert not torch.equal(found.learned[v].tokens[site], problem.p_tok[v][site])
        view = View(tokens=[problem.p_tok[0][0]], features=[problem.p_fea[0][0]], noise=problem.noise[0])
        zero = View(tokens=[view.tokens[0] * 0], features=[view.features[0] * 0], noise=view.noise * 0)
        same = updated_view(view, zero, problem.real, Options())
        assert torch.equal(same.tokens[0], view.tokens[0])
        assert torch.equal(same.features[0], view.features[0])

    def test_alone_in_its_batch_nothing_is_learned(self):
        problem = Problem()
        problem.real, problem.shifts = problem.real[:1], {v: s[:1] for v, s in problem.shifts.items()}
        given = problem.p_tok, problem.p_fea
        pairs = [tuple([p[:1] for p in of_view] for of_view in pair) for pair in given]
        named = {"real": problem.real, "p_tok": pairs[0], "p_fea": pairs[1]}
        found = step(problem.encode, problem.embeddings[:1], **named)
        assert float(found.loss.detach()) == 0
        assert torch.equal(found.learned[1].tokens[2], pairs[0][1][2])

    @pytest.mark.parametrize("sites", ["through_k", "below_k"])
    def test_number_of_weights(self, sites):
        found = Problem().step(sites=sites, t=1)
        assert [len(weights) for weights in found.weights] == [len(layers_of(2, sites))] * 2

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_every_variant_is_its_own(self, variant):
        losses = [float(Problem().step(variant=v, phi=0.5, t=2).loss.detach()) for v in (variant, "full")]
        assert (losses[0] == losses[1]) == (variant == "full")

    def test_short_steps_of_the_continual_mask_raise_the_loss(self):
        losses = Problem().step(variant="continual_mask", t=4, step_size=1e-3).inner_losses
        assert losses == sorted(losses)
        assert len(set(losses)) == 4


class TestGradient:
    @pytest.mark.parametrize(
        "options",
        [
            {}, {"variant": "continual_mask"}, {"variant": "no_feature_mask"}, {"feature_mask": "batch"},
            {"variant": "embedding_noise"},
        ],
        ids=str,
    )  # fmt: skip
    def test_against_differences_in_both_views(self, options):
        problem = Problem()
        o = Options(phi=0.3, temperature=0.5, **options)
        given = problem.arguments(**options)
        views = tuple(
            View(
                tokens=given["p_tok"][v],
                features=given["p_fea"][v],
                noise=given["noise"][v] if given["noise"] else torch.zeros(3, 3, 4, dtype=torch.float64),
            )
            for v in (0, 1)
        )
        _, gradients = gradients_at(problem.encode, problem.embeddings, problem.real, views, o)
        checked = [(v, kind, site, place) for v in (0, 1) for kind, site, place in [
            ("tokens", 0, (0, 1)), ("tokens", 2, (2, 0)), ("tokens", 1, (2, 2)), ("features", 1, (0, 3)),
        ]]  # fmt: skip
        if o.variant == "embedding_noise":
            checked = [(v, "noise", 0, (1, 2, 3)) for v in (0, 1)]
        for v, kind, site, place in checked:
            values = [self.loss(problem, views, o, v, kind, site, place, by) for by in (1e-6, -1e-6)]
            of_view = getattr(gradients[v], kind)
            found = float((of_view if kind == "noise" else of_view[site])[place])
            assert found == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-8)
            assert (found != 0) == (place != (2, 2))  # padding

    def loss(self, problem, views, o, v, kind, site, place, by):
        """The loss with one entry of one mask (or of the noise) moved, by formulas of its own."""
        z = []
        for w, view in enumerate(views):
            masks = {k: [p.clone() for p in getattr(view, k)] for k in ("tokens", "features")}
            if o.variant != "continual_mask":
                masks = {k: [(p >= o.phi).double() for p in ps] for k, ps in masks.items()}
            if o.variant == "no_feature_mask":
                masks["features"] = [torch.ones_like(p) for p in masks["features"]]
            noise = view.noise.clone()
            if w == v:
                (noise if kind == "noise" else masks[kind][site])[place] += by
            weights = [(m[:, :, None] + f[:, None, :]) / 2 for m, f in zip(*masks.values(), strict=True)]
            weights = [torch.where(problem.real[:, :, None], weight, 1.0) for weight in weights]
            z.append(problem.encode(problem.embeddings + noise, weights, ("inner_z", "inner_z_pos")[w]))
        return float(contrastive(z[0], [z[1]], [z[1]], temperature=o.temperature).detach())
