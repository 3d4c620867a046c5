"""Sessions of graphed cells in the small world, and all that their steps leave behind."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from rse_study.data.tokenised import tokenise
from rse_study.models.loading import load_tokenizer
from rse_study.tensors import Collectives
from rse_study.training.materials import Materials
from rse_study.training.recorded_step import Recorder
from rse_study.training.session import Session
from rse_study.training.session_setup import open_session
from tests.training.world import World, small_trial

CPU, SEED, NUM_STEPS = torch.device("cpu"), 6, 7
"""With this seed steps 0 to 6 have 192, 256, 192, 192, ... tokens: one of each is rehearsed, and the third recorded."""
INNER = {"pgd": {"num_steps": 2}, "fgsm": {"num_steps": 2}}
MASKS = {"phi": 0.2, "num_layers": 1}
ADVERSARY = {"blend": {"rho": 1, "pgd": {"num_steps": 1}}, "lambda2": 0}
"""one inner step, no RTD: for what is so whatever is trained"""


def materials_of(world: World, *, max_length: int = 64, dropout: float = 0.1) -> Materials:
    """The world's sentences, of 7 to 18 tokens, with room for so many."""
    made, folder = world.materials(dropout=dropout), world.root / f"corpus-{max_length}"
    if not folder.exists():
        tokenise(world.sentences, load_tokenizer(made.base), max_length, folder)
    return replace(made, corpus=folder)


def opened(
    materials: Materials,
    recorder: Recorder | None = None,
    *,
    collectives: Collectives | None = None,
    **changes: Any,
) -> Session:
    """A session whose first steps nobody reports, unless `changes` say so; an epoch is 7 steps."""
    settings: dict[str, Any] = {
        "graphed": True,
        "budget": {"unit": "steps", "amount": 100},
        "selection": {"dev": "builtin", "every": 1000},
        "report_every": 1000,
        **changes,
    }
    folder = materials.corpus.parent / "of a session"
    session = open_session(
        small_trial(**settings), SEED, materials, folder, collectives or Collectives(), CPU
    )
    session.recorder = recorder
    return session


@dataclass
class Taken:
    """What some steps of a session came to; an outcome is read before the next step."""

    session: Session
    outcomes: list[dict[str, Tensor]]

    @property
    def losses(self) -> list[float]:
        return [float(outcome["loss"]) for outcome in self.outcomes]

    def everything(self) -> Iterator[tuple[str, Tensor]]:
        """All numbers of the steps, and all that the next ones begin with."""
        for number, outcome in enumerate(self.outcomes):
            yield from ((f"step {number}, {name}", value) for name, value in outcome.items())
        yield from self.session.networks.state_dict().items()
        yield from self.session.method_state.items()
        named = self.session.networks.named_parameters()
        for name, moments in ((name, self.session.optimizer.state[each]) for name, each in named):
            yield from ((f"{kind} of {name}", value) for kind, value in moments.items())
        yield "lost at", self.session.losses._lost_at
        yield "lost share", self.session.losses._share


def take(session: Session, num_steps: int = NUM_STEPS, first: int = 0) -> Taken:
    outcomes = []
    for step in range(first, first + num_steps):
        outcome = session.advance(step)
        numbers: dict[str, Any] = {"loss": outcome.loss}
        if session._is_due(step + 1):
            numbers |= {f"{name}, sum": mean.total for name, mean in outcome.metrics.items()}
            numbers |= {f"{name}, count": mean.count for name, mean in outcome.metrics.items()}
        outcomes.append({name: torch.as_tensor(number).detach().clone() for name, number in numbers.items()})
    return Taken(session, outcomes)


def differences(one: Taken, other: Taken) -> list[str]:
    """The names of what is not the same to the bit."""
    pairs = zip(one.everything(), other.everything(), strict=True)
    return [name for (name, value), (again, found) in pairs if name != again or not _same(value, found)]


def _same(value: Tensor, found: Tensor) -> bool:
    return value.dtype == found.dtype and bool(torch.allclose(value, found, rtol=0, atol=0, equal_nan=True))
