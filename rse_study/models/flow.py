"""BERT-flow: an invertible map of vectors to a standard normal distribution."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from rse_study.data.batches import Batches
from rse_study.data.tokenised import TokenisedCorpus
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.pooling import in_mode
from rse_study.models.rtd import seeded_linear
from rse_study.streams import Streams

LEVELS, STEPS, HIDDEN = 3, 3, 32
LEARNING_RATE, BATCH, SEED = 1e-3, 256, 0


class FlowStep(nn.Module):
    """Actnorm, a fixed permutation, an additive coupling of halves."""

    permutation: Tensor
    is_new: Tensor

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        half = width // 2
        self.bias, self.log_scale = nn.Parameter(torch.zeros(width)), nn.Parameter(torch.zeros(width))
        self.register_buffer("permutation", torch.randperm(width, generator=generator))
        self.register_buffer("is_new", torch.tensor(True))
        first, second = seeded_linear(half, HIDDEN, generator), seeded_linear(HIDDEN, HIDDEN, generator)
        last = seeded_linear(HIDDEN, width - half, generator)
        for parameter in last.parameters():
            nn.init.zeros_(parameter)
        self.net = nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), last)

    @torch.no_grad()
    def _begin(self, x: Float[Tensor, "b d"]) -> None:
        """Set bias and scale so that these rows get zero mean and unit variance."""
        self.bias.copy_(-x.mean(0))
        self.log_scale.copy_(-(x.std(0, unbiased=False) + 1e-6).log())
        self.is_new.fill_(False)

    def forward(self, x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
        """Map rows; actnorm begins at the first ones. log |det| is the sum of `log_scale`."""
        if self.is_new:
            self._begin(x)
        x = ((x + self.bias) * self.log_scale.exp())[:, self.permutation]
        a, b = x.tensor_split([x.shape[1] // 2], dim=1)
        return torch.cat([a, b + self.net(a)], dim=1)


class Flow(nn.Module):
    """z = flow(x), with log p(x) = log N(z; 0, I) + log |det dz/dx| (Li et al. 2020).

    Glow (Kingma and Dhariwal 2018) on vectors: after the first and the second of three levels of three steps, the
    first half of the features is put out, and the rest goes on.
    """

    def __init__(self, width: int, generator: torch.Generator) -> None:
        """Draw the weights of a map of vectors of `width` features, 5 or more."""
        super().__init__()
        self.steps: Any = nn.ModuleList()
        for _ in range(LEVELS):
            self.steps.extend(FlowStep(width, generator) for _ in range(STEPS))
            width -= width // 2

    def forward(self, x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"], Float[Tensor, " b"]]:
        """Return z and log |det dz/dx|; actnorms begin at the rows of the first call."""
        log_det = x.new_zeros(len(x))
        for step in self.steps:
            out, rest = x.tensor_split([x.shape[1] - len(step.bias)], dim=1)
            x, log_det = torch.cat([out, step(rest)], dim=1), log_det + step.log_scale.sum()
        return x, log_det

    @torch.no_grad()
    def of(self, vectors: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """Return z of vectors in the host's memory."""
        return self(torch.from_numpy(vectors).to(self.steps[0].is_new.device))[0].cpu().numpy()


def fitted_flow(encoder: SentenceEncoder, corpus: TokenisedCorpus) -> Flow:
    """Fit a flow to a corpus' vectors by maximum likelihood, in one epoch."""
    streams, device = Streams(SEED), next(encoder.parameters()).device
    flow = Flow(encoder.hidden_size, streams.generator("flow")).to(device)
    adam = torch.optim.Adam(flow.parameters(), lr=LEARNING_RATE)
    batches = Batches(corpus, min(BATCH, len(corpus)), streams)
    for number in range(batches.num_batches):
        batch = batches.batch(number).to(device)
        with torch.no_grad(), in_mode(encoder, training=False):
            vectors = encoder(encoder.word_embeddings(batch.ids), batch.mask, places=batch.real_places)
        z, log_det = flow(vectors)
        loss = (z.square().sum(1) / 2 - log_det).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    return flow
