"""Surfaces: the value of a trial at each step, and the noise of a measurement."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from rse_study.results.row_names import Proposal
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.domains import Choice, Domain

JOINT = Path(__file__).parents[2] / "search_spaces" / "joint.yaml"
AxisDomains = Mapping[str, Domain]
# Of the variance over seeds of joint_mini's confirmed trials: two trials of one seed correlate by 0.53, steps 15 and 30
# of one run with its end by 0.85 and 0.96.
SHARE_OF_SEED, SHARE_OF_RUN = 0.5, 0.4


class Surface(Protocol):
    """The objective over the space of search_spaces/joint.yaml; more is better."""

    @property
    def name(self) -> str:
        """Its name on the command line."""

    @property
    def num_steps(self) -> int:
        """Optimiser steps of the full budget."""

    @property
    def rungs(self) -> tuple[int, int] | None:
        """First rung and factor; None where nothing is known before a trial's end."""

    @property
    def sd(self) -> float:
        """Standard deviation of the noise of a measurement."""

    def truth(self, point: Proposal) -> float:
        """Return the point's value at the end, without noise."""

    def value(self, point: Proposal, t: int) -> float:
        """Return the point's value after `t` optimiser steps, without noise."""


def joint_domains() -> dict[str, Domain]:
    """Return the eight axes of search_spaces/joint.yaml, in order."""
    return {axis.name: axis.domain for axis in read_study(JOINT).space.axes}


def unit_point(domains: AxisDomains, point: Proposal) -> dict[str, float]:
    """Return a point's position on each axis, 0 to 1; a choice by its number."""
    return {name: _unit(domain, point[name]) for name, domain in domains.items()}


def _unit(domain: Domain, value: Any) -> float:
    if isinstance(domain, Choice):
        return domain.choice.index(value) / (len(domain.choice) - 1)
    low, high = (float(edge) for edge in domain.edges())
    if domain.scale == "log":
        return log(value / low) / log(high / low)
    return (float(value) - low) / (high - low)


def noise(surface: str, trial: int, t: int, seed: int) -> float:
    """Return the noise of a measurement, in standard deviations.

    What the seed does to all trials alike, what it does to this one along its whole run, and what is left.
    """
    return (
        SHARE_OF_SEED**0.5 * normal(surface, seed)
        + SHARE_OF_RUN**0.5 * normal(surface, seed, trial)
        + (1 - SHARE_OF_SEED - SHARE_OF_RUN) ** 0.5 * normal(surface, seed, trial, t)
    )


def normal(*key: str | int) -> float:
    """Return the standard normal draw of a key.

    It is made of names and integers, never of a proposal: another CPU's last bit must not change a draw.
    """
    content = repr(key).encode()
    return float(np.random.default_rng(int.from_bytes(hashlib.sha256(content).digest()[:8], "big")).normal())


@dataclass(frozen=True)
class OrderedSurface:
    """A smooth surface with interactions, whose noise-free curves never cross.

    80 - (u - c)' A (u - c) - d(norm), u the position on each axis: its one best point is `best_place` with linf, worth
    80. A has the weights w on its diagonal, and sqrt(w w') / 2 for alpha with N, beta with rho, lambda1 with lambda2.
    """

    domains: AxisDomains
    name: str = "ordered"
    num_steps: int = 60
    rungs: tuple[int, int] | None = (15, 2)
    sd: float = 0.0
    top: ClassVar[float] = 80.0

    best_place: ClassVar[dict[str, float]] = {
        "alpha": 0.4,
        "beta": 0.7,
        "N": 5 / 15,
        "rho": 0.6,
        "lambda1": 0.3,
        "lambda2": 0.5,
        "phi": 0.2,
    }
    weights: ClassVar[dict[str, float]] = {
        "alpha": 12.0,
        "beta": 30.0,
        "N": 8.0,
        "rho": 15.0,
        "lambda1": 20.0,
        "lambda2": 10.0,
        "phi": 6.0,
    }
    ties: ClassVar[tuple[tuple[str, str], ...]] = (("alpha", "N"), ("beta", "rho"), ("lambda1", "lambda2"))
    losses: ClassVar[dict[str, float]] = {"l1": 3.0, "l2": 1.5, "linf": 0.0}

    def truth(self, point: Proposal) -> float:
        places = unit_point(self.domains, point)
        off = {axis: places[axis] - best for axis, best in self.best_place.items()}
        bowl = sum(weight * off[axis] ** 2 for axis, weight in self.weights.items())
        tied = sum((self.weights[a] * self.weights[b]) ** 0.5 * off[a] * off[b] for a, b in self.ties)
        return self.top - bowl - tied - self.losses[point["norm"]]

    def value(self, point: Proposal, t: int) -> float:
        return 40 + (self.truth(point) - 40) * rising(t, 20.0, self.num_steps)


@dataclass(frozen=True)
class CrossingSurface:
    """A noisy surface with crossing curves, where two axes of eight matter.

    80 - 60 (u_beta - 0.8)^2 - 20 (u_rho - 0.3)^2 at the end. By step t, (t / 60)^p of the way there from 40 is done,
    with p = 0.3 + 1.2 u_beta: the best values of beta learn late, so that step 15 misleads and step 30 hardly does.
    """

    domains: AxisDomains
    name: str = "crossing"
    num_steps: int = 60
    rungs: tuple[int, int] | None = (15, 2)
    sd: float = 0.7
    top: ClassVar[float] = 80.0

    def truth(self, point: Proposal) -> float:
        places = unit_point(self.domains, point)
        return self.top - 60 * (places["beta"] - 0.8) ** 2 - 20 * (places["rho"] - 0.3) ** 2

    def value(self, point: Proposal, t: int) -> float:
        power = 0.3 + 1.2 * unit_point(self.domains, point)["beta"]
        return 40 + (self.truth(point) - 40) * (t / self.num_steps) ** power


def rising(t: int, slow: float, num_steps: int) -> float:
    """Return a curve's share of its end; `slow` steps leave about a third of the rest."""
    return (1 - exp(-t / slow)) / (1 - exp(-num_steps / slow))
