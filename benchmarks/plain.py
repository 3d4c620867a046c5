"""RobustSentEmbed's Algorithm 1 in plain code, as the baseline of speed.

Written from the paper's equations 2 to 10 for readers, not for speed. It is padded, and built as a first version and
as the published code: X+ is encoded again in each inner step; PGD, FGSM and the token-level perturbation each ask for
a gradient of their own; `backward` goes through all weights there too; three outer passes; a cosine of [b b d]. Where
the paper is silent it takes this project's defaults (docs/methods.md), for the norm linf.

With P encoder parameters and T tokens a step costs (20 N + 18) P T, and 6 P T and the generator's pass for
replaced-token detection.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from benchmarks.plain_formulas import contrastive_loss, token_shares, uniform, unit


@dataclass(frozen=True, kw_only=True)
class PlainSettings:
    """The paper's symbols, with a trial's defaults."""

    num_steps: int = 5
    """K = T = N; 0: no adversarial view, as in SimCSE"""
    alpha: float = 1e-5
    """step of PGD, for linf"""
    beta: float = 1e-3
    """step of FGSM"""
    gamma: float = 2e-2
    """step of the token-level perturbation, for l2 in one token"""
    rho: float = 0.5
    """weight of PGD against FGSM"""
    delta_radius: float = 3e-2
    """bound of the sentence-level perturbation, for linf"""
    eta_radius: float = 0.2
    """bound of the token-level perturbation, for l2 in one token"""
    sigma: float = 0.1
    """delta0 and V are uniform between -sigma/sqrt(d) and sigma/sqrt(d)"""
    lambda1: float = 1 / 128
    lambda2: float = 0.005
    """0: no replaced-token detection"""
    temperature: float = 0.05
    masked_share: float = 0.2
    """share of a sentence's tokens that the generator replaces"""
    pooling: Literal["cls", "mean"] = "cls"
    lr: float = 7e-6
    max_norm: float = 1.0
    """bound on the gradient of all parameters together"""
    precision: Literal["float32", "bf16"] = "float32"
    """bf16: autocast of encoder passes, generator and discriminator"""


Gradients = tuple[Float[Tensor, "b l d"], Float[Tensor, "b l d"], Float[Tensor, "b l d"]]
"""for PGD, FGSM and eta"""


@dataclass(frozen=True)
class PlainBatch:
    """Sentences of one length, as a Hugging Face tokenizer pads them."""

    ids: Int[Tensor, "b l"]
    mask: Bool[Tensor, "b l"]
    """True = real token"""
    perturbable: Bool[Tensor, "b l"]
    """real and not special"""


@dataclass(frozen=True)
class PlainDraws:
    """The random draws of a step, except dropout."""

    delta0: Float[Tensor, "b l d"]
    masked: Bool[Tensor, "b l"]
    """tokens that the generator replaces"""


class PlainDiscriminator(nn.Module):
    """D of eq. 8, original or replaced, with the sentence's vector at position 0."""

    def __init__(self, backbone: Any) -> None:
        super().__init__()
        self.backbone = copy.deepcopy(backbone)
        self.output = nn.Linear(backbone.config.hidden_size, 1)

    def forward(
        self, embeddings: Float[Tensor, "b l d"], mask: Bool[Tensor, "b l"], h: Float[Tensor, "b d"]
    ) -> Float[Tensor, "b l"]:
        """Return logits that are positive where a token looks original.

        `embeddings` belong to the edited sentences, `h` to the original ones.
        """

        def put_h_first(module: nn.Module, inputs: object, embedded: Tensor) -> Tensor:
            return torch.cat([h[:, None], embedded[:, 1:]], dim=1)

        hook = self.backbone.embeddings.register_forward_hook(put_h_first)
        hidden = self.backbone(inputs_embeds=embeddings, attention_mask=mask.long()).last_hidden_state
        hook.remove()
        return self.output(hidden).squeeze(-1)


class PlainRobustSentEmbed(nn.Module):
    """Encoder, head, discriminator and table of perturbations, with a training step."""

    V: Tensor

    def __init__(
        self, backbone: Any, settings: PlainSettings, generator: Any = None, mask_token_id: int = 0
    ) -> None:
        super().__init__()
        self.settings, self.mask_token_id = settings, mask_token_id
        self.backbone = backbone
        width = backbone.config.hidden_size
        self.head = nn.Sequential(nn.Linear(width, width), nn.Tanh())
        self.discriminator = PlainDiscriminator(backbone) if settings.lambda2 else None
        self.generator = [generator]  # in a list, so that the frozen model is no submodule
        words = backbone.get_input_embeddings().weight
        self.register_buffer("V", uniform(words.shape, settings.sigma, words))
        self.optimizer: torch.optim.Optimizer | None = None

    def step(self, batch: PlainBatch, draws: PlainDraws) -> Tensor:
        """Take one optimiser step; return its loss."""
        if self.optimizer is None:
            self.optimizer = self.adam()
        loss = self.loss(batch, draws)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters(), self.settings.max_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def adam(self) -> torch.optim.Optimizer:
        """Return AdamW as PyTorch runs it by default on a GPU: by foreach operations."""
        return torch.optim.AdamW(self.parameters(), lr=self.settings.lr, weight_decay=0.0, foreach=True)

    def autocast(self) -> torch.autocast:
        """Return the context of a pass, which bf16 alone changes."""
        return torch.autocast(self.V.device.type, torch.bfloat16, enabled=self.settings.precision == "bf16")

    def loss(self, batch: PlainBatch, draws: PlainDraws) -> Tensor:
        """Return L_total of eq. 10, and update V."""
        s = self.settings
        delta, eta = self.perturbations(batch, draws.delta0) if s.num_steps else (None, None)
        self.train()
        z = self.f(self.word_embeddings(batch.ids), batch.mask)
        z_pos = self.f(self.word_embeddings(batch.ids), batch.mask)
        if delta is None:
            total = contrastive_loss(z, [z_pos], z_pos, s.temperature)
        else:
            z_adv = self.f(self.word_embeddings(batch.ids) + delta, batch.mask)
            total = contrastive_loss(z, [z_pos, z_adv], z_pos, s.temperature)
            total = total + s.lambda1 * contrastive_loss(z_adv, [z_pos], z_pos, s.temperature)
        if s.lambda2:
            total = total + s.lambda2 * self.detection_loss(batch, draws.masked, z, eta)
        return total

    def f(self, embeddings: Float[Tensor, "b l d"], mask: Bool[Tensor, "b l"]) -> Float[Tensor, "b d"]:
        """Return the sentence vectors of word embeddings."""
        with self.autocast():
            hidden = self.backbone(inputs_embeds=embeddings, attention_mask=mask.long()).last_hidden_state
            pooled = hidden[:, 0]
            if self.settings.pooling == "mean":
                real = mask[..., None].to(hidden.dtype)
                pooled = (hidden * real).sum(1) / real.sum(1)
            return self.head(pooled).to(embeddings.dtype)

    def word_embeddings(self, ids: Int[Tensor, "b l"]) -> Float[Tensor, "b l d"]:
        """Return X: the lookup alone, before position, type and LayerNorm."""
        return self.backbone.get_input_embeddings()(ids)

    def perturbations(
        self, batch: PlainBatch, delta0: Float[Tensor, "b l d"]
    ) -> tuple[Float[Tensor, "b l d"], Float[Tensor, "b l d"]]:
        """Return delta_final and eta after N steps (eqs 2 to 7), without dropout."""
        self.eval()
        s, width = self.settings, delta0.shape[-1]
        gamma, eta_radius = s.gamma / math.sqrt(width), s.eta_radius / math.sqrt(width)  # linf for l2
        perturbable = batch.perturbable[..., None]
        pgd = fgsm = (delta0 * perturbable).clamp(-s.delta_radius, s.delta_radius)
        eta = (self.V[batch.ids] * perturbable).clamp(-eta_radius, eta_radius)
        gradients_at = self.inner_gradients(batch)
        for _ in range(s.num_steps):
            delta = s.rho * pgd + (1 - s.rho) * fgsm
            g_pgd, g_fgsm, g_eta = gradients_at(delta + eta)
            pgd = (pgd + s.alpha * unit(g_pgd, (1, 2))).clamp(-s.delta_radius, s.delta_radius)  # eq. 5
            fgsm = (fgsm + s.beta * g_fgsm.sign()).clamp(-s.delta_radius, s.delta_radius)  # eq. 6
            eta = token_shares(eta) * (eta + gamma * unit(g_eta, (2,)))  # eqs 2 and 3
            eta = eta.clamp(-eta_radius, eta_radius)  # eq. 4
        self.zero_grad()  # the inner steps' gradients of weights are not for the optimiser
        self.write_back(batch, eta)
        return s.rho * pgd + (1 - s.rho) * fgsm, eta  # eq. 7

    def inner_gradients(self, batch: PlainBatch) -> Callable[[Float[Tensor, "b l d"]], Gradients]:
        """Return a function from delta + eta to an inner step's gradients, 0 but at words."""
        perturbable = batch.perturbable[..., None]

        def gradients_at(perturbation: Tensor) -> Gradients:
            with torch.no_grad():
                z_pos = self.f(self.word_embeddings(batch.ids), batch.mask)
            g_pgd = self.gradient(batch, perturbation, z_pos) * perturbable
            g_fgsm = self.gradient(batch, perturbation, z_pos) * perturbable
            g_eta = self.gradient(batch, perturbation, z_pos) * perturbable
            return g_pgd, g_fgsm, g_eta

        return gradients_at

    def gradient(
        self, batch: PlainBatch, perturbation: Float[Tensor, "b l d"], z_pos: Float[Tensor, "b d"]
    ) -> Float[Tensor, "b l d"]:
        """Return the gradient of L_con(f(X + perturbation), {X+}) for the perturbation."""
        perturbation = perturbation.detach().requires_grad_()
        z = self.f(self.word_embeddings(batch.ids) + perturbation, batch.mask)
        contrastive_loss(z, [z_pos], z_pos, self.settings.temperature).backward()
        assert perturbation.grad is not None
        return perturbation.grad

    def write_back(self, batch: PlainBatch, eta: Float[Tensor, "b l d"]) -> None:
        """Set V[w] to the mean of eta over a token's occurrences in the batch."""
        tokens, place = batch.ids[batch.perturbable].unique(return_inverse=True)
        total = eta.new_zeros(len(tokens), eta.shape[-1]).index_add(0, place, eta[batch.perturbable])
        self.V[tokens] = total / place.bincount()[:, None]

    def detection_loss(
        self,
        batch: PlainBatch,
        masked: Bool[Tensor, "b l"],
        h: Float[Tensor, "b d"],
        eta: Float[Tensor, "b l d"] | None,
    ) -> Tensor:
        """Return L_RTD of eq. 8 for sentences x with h = f(x), a mean over real tokens.

        Position 0 is left out, because it holds h.
        """
        with torch.no_grad(), self.autocast():
            hidden = batch.ids.masked_fill(masked, self.mask_token_id)
            guesses = self.generator[0](input_ids=hidden, attention_mask=batch.mask.long()).logits.argmax(-1)
        edited = torch.where(masked, guesses, batch.ids)
        embeddings = self.word_embeddings(edited)
        if eta is not None:
            embeddings = embeddings + eta
        assert self.discriminator is not None
        with self.autocast():
            logits = self.discriminator(embeddings, batch.mask, h).to(h.dtype)
        is_original = (edited == batch.ids).to(logits.dtype)
        counts = batch.mask.clone()
        counts[:, 0] = False
        return F.binary_cross_entropy_with_logits(logits[counts], is_original[counts])


def draw(batch: PlainBatch, model: PlainRobustSentEmbed) -> PlainDraws:
    """Draw what a step needs from torch's global generator."""
    settings, shape = model.settings, (*batch.ids.shape, model.V.shape[-1])
    scores = torch.rand(batch.ids.shape, device=batch.ids.device).masked_fill(~batch.perturbable, -1.0)
    num_masked = (settings.masked_share * batch.perturbable.sum(1)).round().clamp(min=1).long()
    rank = scores.argsort(1, descending=True).argsort(1)
    masked = (rank < num_masked[:, None]) & batch.perturbable
    return PlainDraws(uniform(shape, settings.sigma, model.V), masked)
