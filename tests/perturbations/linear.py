"""A linear loss on a few ragged sentences: its gradient is known everywhere."""

import torch

from rse_study.data.batches import Batch
from rse_study.perturbations.ascent import Anchor, Change
from rse_study.streams import Streams

WIDTH, STREAMS = 6, Streams(4)
BALL = {"radius": 0.05}
STEPS = {"pgd": {"ball": BALL, "step_size": 0.01}, "fgsm": {"ball": BALL, "step_size": 0.02}}


class Driver:
    """Asks for steps and moves nothing: eta and the masks ask for none themselves."""

    num_steps = 3
    checks = ()

    def reach(self):
        return None

    def apply(self, state):
        return Change()

    def update(self, state, gradient, t):
        return state


def anchor(lengths=(0, 1, 3), padding=0):
    """One special token before and one after each sentence's content."""
    real = torch.tensor(lengths) + 2
    column = torch.arange(max(lengths) + 2 + padding)[None]
    mask = column < real[:, None]
    perturbable = (column > 0) & (column < real[:, None] - 1)
    ids = (7 + (column + 3 * torch.arange(len(lengths))[:, None]) % 5) * mask
    generator = torch.Generator().manual_seed(0)
    embeddings = torch.randn(len(lengths), max(lengths) + 2, WIDTH, generator=generator, dtype=torch.float64)
    embeddings = torch.cat([embeddings, embeddings.new_zeros(len(lengths), padding, WIDTH)], dim=1)
    batch = Batch(ids, mask, perturbable, torch.arange(len(lengths)), len(lengths))
    return Anchor(embeddings, batch, step=2)


def linear(direction):
    """A loss that is linear in the addition (and in the masks): its gradient is `direction` everywhere."""

    def objective(change):
        nothing = torch.zeros(()).double()
        loss = sum((site.tokens.sum() + site.features.sum() for site in change.masks), nothing)
        return loss if change.addition is None else loss + (change.addition * direction).sum()

    return objective
