"""A search of a surface that costs nothing, as a driver leads it: one trial at a time, killed and resumed."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from rse_study.sampling.proposer import Proposer
from rse_study.search.choice import TrialOutcome
from rse_study.study.definition.domains import Choice, Domain, Float, Int, Log, Variants
from rse_study.study.definition.parts import Sampler

DOMAINS: dict[str, Domain] = {
    "alpha": Log(log=(1e-6, 1e-3)),
    "N": Int(int=(1, 16)),
    "norm": Choice(choice=("l1", "l2", "linf")),
    "phi": Float(float=(0, 0.3)),
}
FIRST = {"alpha": 1e-5, "N": 5, "norm": "linf", "phi": 0.0}
CONDITIONAL: dict[str, Domain] = {
    "N": Int(int=(1, 16), when={"method": "paper"}),
    "method": Variants(variants={"paper": {}, "simcse": {"phi": 0}, "relative": {"rho": 0}}),
    "norm": Choice(choice=("l1", "l2", "linf"), when={"method": ("paper", "relative")}),
    "phi": Float(float=(0, 0.3)),
    "weight": Log(log=(1e-6, 1e-3), when={"method": "relative"}),
    "width": Int(int=(1, 3), when={"norm_of_all": "l2"}),
    "norm_of_all": Choice(choice=("l1", "l2")),
}
"""The same with axes that belong to a variant, or to a choice; one stands before what it belongs to."""
FIRST_CONDITIONAL = {"N": 5, "method": "paper", "norm": "linf", "phi": 0.0, "norm_of_all": "l1"}


def outcome_of(number: int) -> TrialOutcome:
    """Some trials of a search are stopped early, and some fail."""
    if number % 7 == 5:
        return "pruned"
    return "failed" if number % 11 == 3 else "complete"


def num_known_draws(number: int) -> int:
    """How many draws for this trial gave what was known already; once so many that they become uniform."""
    return {4: 1, 15: 2, 22: 9}.get(number % 25, 0)


def value_of(proposal: Mapping[str, Any]) -> float:
    return proposal.get("N", 4) - 10 * proposal["phi"] - 3 * (proposal.get("norm") == "l1")


def cost_of(proposal: Mapping[str, Any]) -> float:
    return proposal.get("N", 4) * (1 + proposal["phi"])


def search(
    name: str | Sampler,
    num_trials: int,
    *,
    killed_after: Collection[int] = (),
    killed_during: Collection[int] = (),
    num_objectives: int = 1,
    outcome_of: Callable[[int], TrialOutcome] = outcome_of,
    domains: Mapping[str, Domain] = DOMAINS,
) -> list[dict[str, Any]]:
    """Proposals of a search; at each kill everything is rebuilt from what a ledger holds.

    `killed_after`: trials that ended, and then the driver was killed; `killed_during`: those that ran then. With two
    objectives the second is what a trial costs.
    """
    first = FIRST if domains is DOMAINS else FIRST_CONDITIONAL
    directions = ["maximize", "minimize"][:num_objectives]
    settings = {"num_startup": 3, "population_size": 4}
    sampler = name if isinstance(name, Sampler) else Sampler(name=name, **settings)
    ledger: list[dict[str, Any]] = []

    def opened() -> Proposer:
        return Proposer(domains, sampler, 0, directions)

    def result(number: int) -> tuple[Any, ...]:
        proposal = ledger[number]
        values = [value_of(proposal), cost_of(proposal)][:num_objectives]
        return outcome_of(number), values

    def resumed(num_ended: int) -> Proposer:
        proposer = opened()
        for number, proposal in enumerate(ledger):
            if number < num_ended:
                proposer.add(number, proposal, *result(number))
            else:
                proposer.add(number, proposal)
        return proposer

    proposer = opened()
    for number in range(num_trials):
        if number == 0:
            ledger.append(first)
            proposer.add(0, first)
        else:
            for draw in range(num_known_draws(number)):
                proposer.ask(number, draw)
                proposer.discard(number)
            ledger.append(proposer.ask(number, num_known_draws(number)))
        if number in killed_during:
            proposer = resumed(number)
        proposer.tell(number, *result(number))
        if number in killed_after:
            proposer = resumed(number + 1)
    return ledger
