"""Proposals, one at a time: a pure function of what the ledger holds."""

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import TrialState, create_trial

from rse_study.on_ray.cell import TrialOutcome
from rse_study.on_ray.samplers import make_sampler, point_of
from rse_study.study.definition.config import Sampler
from rse_study.study.definition.domains import Choice, Domain, Int

SearchDirection = Literal["maximize", "minimize"]
STATES = {
    "complete": TrialState.COMPLETE,
    "pruned": TrialState.PRUNED,
    "failed": TrialState.FAIL,
    "running": TrialState.RUNNING,
}


class Proposer:
    """An in-memory Optuna study whose trials are ours, numbered as ours.

    The sampler is made anew before every ask, seeded from the search seed and the trial's number: a study that is
    resumed asks exactly what an uninterrupted one asks (with one trial at a time).

    Parameters
    ----------
    domains : mapping of str to Domain
        The axes, in order.
    sampler : Sampler
        Who proposes.
    search_seed : int
        Of all its draws.
    direction : "maximize" or "minimize"
        Of the objective.
    """

    def __init__(
        self, domains: Mapping[str, Domain], sampler: Sampler, search_seed: int, direction: SearchDirection
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._domains = dict(domains)
        self._distributions = {name: distribution_of(domain) for name, domain in domains.items()}
        self._sampler, self._search_seed = sampler, search_seed
        self._optuna = optuna.create_study(direction=direction)
        self._numbers: dict[int, int] = {}  # Optuna's numbers by ours
        self._num_entered = 0

    def ask(self, number: int, draw: int = 0) -> dict[str, Any]:
        """A proposal for trial `number`; every further `draw` gives another one for it."""
        # Without a model, a further draw looks past the point that was known already.
        point = point_of(self._sampler, self._domains, self._search_seed, number + draw)
        if point is not None:
            self.add(number, point)
            return point
        self._optuna.sampler = make_sampler(self._sampler, seed_of(self._search_seed, number, draw))
        asked = self._optuna.ask(self._distributions)
        self._numbers[number], self._num_entered = asked.number, asked.number + 1
        return dict(asked.params)

    def add(
        self,
        number: int,
        proposal: Mapping[str, Any],
        outcome: TrialOutcome = "running",
        value: float | None = None,
    ) -> None:
        """Enter a trial that was not asked for: the base, or one the ledger already holds.

        Parameters
        ----------
        number : int
            Our number of the trial.
        proposal : mapping of str to value
            Value of every axis.
        outcome : TrialOutcome
            How it ended.
        value : float or None
            Of the objective at its last step.
        """
        state = STATES[outcome]
        final = value if state == TrialState.COMPLETE else None
        self._numbers[number], self._num_entered = self._num_entered, self._num_entered + 1
        self._optuna.add_trial(
            create_trial(state=state, params=dict(proposal), distributions=self._distributions, value=final)
        )

    def tell(self, number: int, outcome: TrialOutcome, value: float | None = None) -> None:
        """Enter how a running trial ended.

        Parameters
        ----------
        number : int
            Our number of the trial.
        outcome : TrialOutcome
            How it ended.
        value : float or None
            Of the objective at its last step.
        """
        final = value if outcome == "complete" else None
        self._optuna.tell(self._numbers[number], values=final, state=STATES[outcome])


def seed_of(search_seed: int, number: int, draw: int) -> int:
    """sha256(search seed, trial number, draw) in numpy's 32 bits.

    Parameters
    ----------
    search_seed : int
        The study's.
    number : int
        Of the trial.
    draw : int
        How often it was asked for this trial before.
    """
    digest = hashlib.sha256(repr((search_seed, number, draw)).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def distribution_of(domain: Domain) -> BaseDistribution:
    """Optuna's word for a domain."""
    if isinstance(domain, Choice):
        return CategoricalDistribution(domain.choice)
    low, high = domain.edges()
    if isinstance(domain, Int):
        return IntDistribution(low, high)
    return FloatDistribution(low, high, log=domain.scale == "log")
