"""Optuna, asked for one proposal at a time: a pure function of what the ledger holds."""

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
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.trial import TrialState, create_trial

from rse_study.on_ray.cell import TrialOutcome
from rse_study.on_ray.samplers import grid_point, quasi_random_point
from rse_study.study.definition.config import Sampler
from rse_study.study.definition.domains import Choice, Domain, Int

SearchDirection = Literal["maximize", "minimize"]
STATES = {
    "complete": TrialState.COMPLETE,
    "pruned": TrialState.PRUNED,
    "failed": TrialState.FAIL,
    "running": TrialState.RUNNING,
}
# Written out, because the defaults move between versions of Optuna; the ledger's provenance holds them.
TPE: dict[str, Any] = {
    "multivariate": True,
    "group": False,
    "constant_liar": True,
    "n_ei_candidates": 24,
}


class Proposer:
    """An in-memory Optuna study whose trials are ours, numbered as ours.

    The sampler is made anew before every ask, seeded from the search seed and the trial's number: a study that is
    resumed asks exactly what an uninterrupted one asks (with one trial at a time).
    """

    def __init__(
        self, domains: Mapping[str, Domain], sampler: Sampler, search_seed: int, direction: SearchDirection
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._domains = dict(domains)
        self._distributions = {name: distribution_of(domain) for name, domain in domains.items()}
        self._sampler, self._search_seed = sampler, search_seed
        self._optuna = optuna.create_study(direction=direction)
        self._numbers: dict[int, int] = {}  # our trial number -> Optuna's
        self._num_entered = 0

    def ask(self, number: int, draw: int = 0) -> dict[str, Any]:
        """A proposal for trial `number`; every further `draw` gives another one for it."""
        if self._sampler.name in ("grid", "quasi_random"):
            proposal = self._point(number, draw)
            self.add(number, proposal)
            return proposal
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
        """Enter a trial that was not asked for: the base, or one the ledger already holds."""
        state = STATES[outcome]
        told = value if state == TrialState.COMPLETE else None
        self._numbers[number], self._num_entered = self._num_entered, self._num_entered + 1
        self._optuna.add_trial(
            create_trial(state=state, params=dict(proposal), distributions=self._distributions, value=told)
        )

    def tell(self, number: int, outcome: TrialOutcome, value: float | None = None) -> None:
        """How a running trial ended."""
        told = value if outcome == "complete" else None
        self._optuna.tell(self._numbers[number], values=told, state=STATES[outcome])

    def _point(self, number: int, draw: int) -> dict[str, Any]:
        """These two ask nobody; a further draw looks past the point that was known already."""
        index = number + draw
        if self._sampler.name == "quasi_random":
            return quasi_random_point(self._domains, self._search_seed, index)
        return grid_point(self._domains, index)


def describe_sampler(sampler: Sampler) -> dict[str, Any]:
    """Everything that decides proposals, for the record."""
    settings = {**TPE, "n_startup_trials": sampler.num_startup} if sampler.name == "tpe" else {}
    return {"optuna": optuna.__version__, "name": sampler.name, **settings}


def make_sampler(sampler: Sampler, seed: int) -> BaseSampler:
    """A fresh sampler."""
    assert sampler.name in ("tpe", "random"), f"{sampler.name} is no sampler of Optuna here"
    if sampler.name == "random":
        return RandomSampler(seed=seed)
    return TPESampler(n_startup_trials=sampler.num_startup, seed=seed, **TPE)


def seed_of(search_seed: int, number: int, draw: int) -> int:
    """sha256(search seed, trial number, draw) in numpy's 32 bits."""
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
