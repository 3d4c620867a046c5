"""Algorithm 1 in careful plain code, as the baseline of speed that counts.

A careful researcher writes this in PyTorch with Hugging Face's own classes: X+ encoded once, one gradient of the
inputs per inner step for PGD, FGSM and eta, one outer pass over all views, cosines as a product of normalised rows,
one autocast, a fused AdamW. It computes what `benchmarks.plain` does, padded as well, and costs (4 N + 20) P T, as our
step does before padding is skipped.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from benchmarks.plain import Gradients, PlainBatch, PlainDraws, PlainRobustSentEmbed


class CarefulRobustSentEmbed(PlainRobustSentEmbed):
    """The plain model with a step that computes nothing twice."""

    def adam(self) -> torch.optim.Optimizer:
        """Return AdamW as one operation."""
        return torch.optim.AdamW(self.parameters(), lr=self.settings.lr, weight_decay=0.0, fused=True)

    def loss(self, batch: PlainBatch, draws: PlainDraws) -> Tensor:
        """Return L_total of eq. 10, and update V."""
        s = self.settings
        with self.autocast():  # one for all passes, so that it casts each weight once
            delta, eta = self.perturbations(batch, draws.delta0) if s.num_steps else (None, None)
            self.train()
            x = self.word_embeddings(batch.ids)
            views = [x, x] if delta is None else [x, x, x + delta]
            vectors = self.f(torch.cat(views), batch.mask.repeat(len(views), 1))
            z, z_pos, *z_adv = F.normalize(vectors, dim=-1).chunk(len(views))
            logits = self.logits(z, z_pos)
            if not z_adv:
                total = own_column(logits)
            else:
                second = (z * z_adv[0]).sum(-1) / s.temperature
                own = torch.logaddexp(logits.diag(), second)
                total = (torch.cat([logits, second[:, None]], dim=1).logsumexp(1) - own).mean()
                total = total + s.lambda1 * own_column(self.logits(z_adv[0], z_pos))
            if s.lambda2:
                total = total + s.lambda2 * self.detection_loss(
                    batch, draws.masked, vectors[: len(batch.ids)], eta
                )
        return total

    def inner_gradients(self, batch: PlainBatch) -> Callable[[Float[Tensor, "b l d"]], Gradients]:
        """Return a function from delta + eta to one gradient for all three, from one X+."""
        with torch.no_grad():
            x = self.word_embeddings(batch.ids)
            z_pos = F.normalize(self.f(x, batch.mask), dim=-1)

        def gradients_at(perturbation: Tensor) -> Gradients:
            point = (x + perturbation).requires_grad_()
            z = F.normalize(self.f(point, batch.mask), dim=-1)
            (gradient,) = torch.autograd.grad(own_column(self.logits(z, z_pos)), [point])
            gradient = gradient * batch.perturbable[..., None]
            return gradient, gradient, gradient

        return gradients_at

    def logits(self, z: Float[Tensor, "b d"], others: Float[Tensor, "b d"]) -> Float[Tensor, "b b"]:
        """Return cosines over tau of normalised rows, in the precision of the rows."""
        with torch.autocast(z.device.type, enabled=False):
            return z @ others.T / self.settings.temperature


def own_column(logits: Float[Tensor, "b b"]) -> Tensor:
    """Return L_con of eq. 9 with one positive, the cross-entropy of own columns."""
    return F.cross_entropy(logits, torch.arange(len(logits), device=logits.device))
