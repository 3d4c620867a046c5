"""One optimiser step by the slow reference: own draws, sentences encoded one at a time and without padding."""

from typing import Any

import torch
from torch import Tensor

from rse_study.data.batches import Batch
from rse_study.methods import RobustSentEmbed
from rse_study.methods.method import Networks, RunContext
from tests.reference import step_reference


def reference(
    method: RobustSentEmbed, networks: Networks, batch: Batch, run: RunContext, step: int
) -> step_reference.Step:
    """The reference's answer with the same weights, draws and filled ids."""
    table = method.state(networks, run.streams).get("V")
    adversarial, detects = method.has_adversary, method.lambda2 > 0
    weakened = adversarial and method.masks.phi > 0
    p_tok, p_fea = _probabilities(method, batch, run, step, networks) if weakened else ([], [])
    empty = torch.zeros(networks.encoder.config.vocab_size, networks.encoder.hidden_size, dtype=torch.float64)
    return step_reference.step(
        networks.encoder.word_embeddings,
        Encode(networks, method, batch),
        Discriminate(networks, batch) if detects else None,
        ids=batch.ids,
        real=batch.mask,
        perturbable=batch.perturbable if method.perturbed_tokens == "content" else batch.mask,
        filled_ids=method.rtd.edited(batch, run, step) if detects else None,
        delta0=_delta0(method, batch, run, step, networks) if adversarial else None,
        table=(empty if table is None else table) if adversarial else None,
        rows=batch.rows.tolist(),
        p_tok=p_tok,
        p_fea=p_fea,
        temperature=method.temperature,
        lambda1=method.lambda1,
        lambda2=method.lambda2,
        second_positive=method.second_positive,
        adversarial_negatives=method.z_adv_negatives,
        z_adv_eta=method.z_adv_eta,
        rtd_reduction=method.rtd.reduction,
        rtd_h=method.rtd.h,
        ascent=_options(method),
    )


def _options(method: RobustSentEmbed) -> dict[str, Any]:
    """The same configuration in the reference's words."""
    blend, eta = method.blend, method.token_level
    ball, eta_ball = blend.pgd.ball, eta.ball
    return {
        "K": blend.pgd.num_steps, "T": blend.fgsm.num_steps, "rho": blend.rho, "rho_weighs": blend.weighs,
        "trajectories": blend.trajectories, "delta_gradient": method.delta_gradient,
        "alpha": blend.pgd.step_size, "beta": blend.fgsm.step_size,
        "delta_norm": ball.norm, "delta_scope": ball.scope, "delta_radius": ball.radius,
        "delta_given_norm": ball.given_for, "eta": eta.presence, "gamma": eta.step_size,
        "eta_norm": eta_ball.norm, "eta_scope": eta_ball.scope, "eta_radius": eta_ball.radius,
        "eta_given_norm": eta_ball.given_for, "n_i": eta.scaling, "strength": ball.strength,
        "l1_projection": {"exact": "euclidean", "rescale": "rescale"}[ball.projection],
        "write_back": eta.write_back, "phi": method.masks.phi, "mask_step_size": method.masks.step_size,
    }  # fmt: skip


def _delta0(method: RobustSentEmbed, batch: Batch, run: RunContext, step: int, networks: Networks) -> Tensor:
    """U(-sigma, sigma)/sqrt(d), one generator a sentence, over its real tokens."""
    width = networks.encoder.hidden_size
    delta = torch.zeros(*batch.ids.shape, width, dtype=torch.float64)
    for i, row in enumerate(batch.rows.tolist()):
        real = int(batch.mask[i].sum())
        drawn = torch.rand(real, width, generator=run.streams.generator("delta0", step, row))
        delta[i, :real] = (2 * drawn.double() - 1) * method.blend.pgd.sigma / width**0.5
    return delta


def _probabilities(
    method: RobustSentEmbed, batch: Batch, run: RunContext, step: int, networks: Networks
) -> tuple[list[Tensor], list[Tensor]]:
    """p ~ U(0, 1) of every site: the embedding block and k layers, or k sites in all (`below_k`)."""
    num_sites = method.masks.num_layers + (1 if method.masks.sites == "through_k" else 0)
    width = networks.encoder.hidden_size
    tokens = torch.zeros(num_sites, *batch.ids.shape, dtype=torch.float64)
    features = torch.zeros(num_sites, len(batch.ids), width, dtype=torch.float64)
    for i, row in enumerate(batch.rows.tolist()):
        real = int(batch.mask[i].sum())
        drawn = torch.rand(real, num_sites, generator=run.streams.generator("masks", step, row))
        tokens[:, i, :real] = drawn.T.double()
        of_features = torch.rand(num_sites, width, generator=run.streams.generator("masks", step, row, 1))
        features[:, i] = of_features.double()
    return list(tokens), list(features)


class Encode:
    """f, sentence by sentence through the blocks of BERT; head by its formula."""

    def __init__(self, networks: Networks, method: RobustSentEmbed, batch: Batch) -> None:
        self.networks, self.head, self.batch = networks, method.head, batch
        self.inner_moments: list[tuple[Tensor, Tensor]] = []

    def __call__(self, points: Tensor, weights: list[Tensor], view: str) -> tuple[Tensor, Tensor]:
        pooled = torch.stack([self._sentence(points, weights, i) for i in range(len(points))])
        for hook in self.networks.encoder._forward_hooks.values():  # as if the encoder itself had been called
            pooled = hook(self.networks.encoder, (points, self.batch.mask, self.batch.ids), pooled)
        if self.head == "none":
            return pooled, pooled
        if self.head == "linear_tanh":
            linear = self.networks.head.linear
            return torch.tanh(pooled @ linear.weight.T + linear.bias), pooled
        return self._batch_norm_head(pooled, view), pooled

    def _sentence(self, points: Tensor, weights: list[Tensor], i: int) -> Tensor:
        backbone, real = self.networks.encoder.backbone, int(self.batch.mask[i].sum())
        factors = [weight[i : i + 1, :real] for weight in weights] + [1.0] * (1 + len(backbone.encoder.layer))
        hidden = backbone.embeddings(inputs_embeds=points[i : i + 1, :real]) * factors[0]
        outputs = []
        for layer, factor in zip(backbone.encoder.layer, factors[1:], strict=False):
            hidden = layer(hidden) * factor
            outputs.append(hidden)
        pooling = self.networks.encoder.pooling
        if pooling == "cls":
            return hidden[0, 0]
        if pooling == "prompt":
            return hidden[0, self.batch.ids[i].tolist().index(self.networks.encoder.mask_token_id)]
        if pooling == "mean":
            return hidden[0].mean(0)
        return ((outputs[0] + outputs[-1]) / 2)[0].mean(0)

    def _batch_norm_head(self, x: Tensor, view: str) -> Tensor:
        """Linear, BN, ReLU, Linear, BN: own moments; in the inner loop those of the pass that gave z_pos."""
        head, own = self.networks.head, view != "inner"
        hidden = x @ head.first.weight.T
        first = (hidden.mean(0), hidden.var(0, unbiased=False)) if own else self.inner_moments[0]
        hidden = (hidden - first[0]) / torch.sqrt(first[1] + 1e-5)
        hidden = torch.relu(hidden * head.first_norm.gain + head.first_norm.bias) @ head.second.weight.T
        second = (hidden.mean(0), hidden.var(0, unbiased=False)) if own else self.inner_moments[1]
        if view == "inner_pos":
            self.inner_moments = [(m.detach(), v.detach()) for m, v in (first, second)]
        return (hidden - second[0]) / torch.sqrt(second[1] + 1e-5)


class Discriminate:
    """P(original) of every token; padded positions too, which see the sentence but are not seen."""

    def __init__(self, networks: Networks, batch: Batch) -> None:
        self.discriminator, self.batch = networks.discriminator, batch

    def __call__(self, embeddings: Tensor, h: Tensor) -> Tensor:
        return torch.stack([self._sentence(embeddings[i : i + 1], h[i], i) for i in range(len(embeddings))])

    def _sentence(self, embeddings: Tensor, h: Tensor, i: int) -> Tensor:
        backbone, real = self.discriminator.encoder.backbone, self.batch.mask[i]
        positions = torch.where(real, torch.arange(len(real)), 0)[None]
        hidden = backbone.embeddings(inputs_embeds=embeddings, position_ids=positions)
        hidden = torch.cat([h[None, None], hidden[:, 1:]], dim=1)
        unseen = torch.zeros(1, 1, len(real), len(real), dtype=torch.float64)
        unseen[..., ~real] = -torch.inf
        for layer in backbone.encoder.layer:
            hidden = layer(hidden, unseen)
        logits = hidden[0] @ self.discriminator.output.weight[0] + self.discriminator.output.bias
        return torch.sigmoid(logits)
