import pytest

from rse_study.on_ray.proposer import Proposer, seed_of
from rse_study.on_ray.samplers import describe_sampler
from rse_study.study.definition.config import Sampler
from rse_study.study.definition.domains import Choice, Float, Int, Log

DOMAINS = {
    "alpha": Log(log=(1e-6, 1e-3)),
    "N": Int(int=(1, 16)),
    "norm": Choice(choice=("l1", "l2", "linf")),
    "phi": Float(float=(0, 0.3)),
}
FIRST = {"alpha": 1e-5, "N": 5, "norm": "linf", "phi": 0.0}


def value_of(proposal):
    return proposal["N"] - 10 * proposal["phi"]


def proposer(name="tpe"):
    return Proposer(DOMAINS, Sampler(name=name, num_startup=3), 0, "maximize")


def search(num_trials, *, interrupted_at=None, name="tpe"):
    """Proposals of a search with one trial at a time; at `interrupted_at` everything is rebuilt from what is known."""
    asked, proposals = proposer(name), []
    for number in range(num_trials):
        if number == interrupted_at:
            asked = proposer(name)
            for known, proposal in enumerate(proposals):
                asked.add(known, proposal, "complete", value_of(proposal))
        if number == 0:
            proposal = FIRST
            asked.add(0, proposal)
        else:
            proposal = asked.ask(number)
        proposals.append(proposal)
        asked.tell(number, "complete", value_of(proposal))
    return proposals


@pytest.mark.parametrize("name", ["tpe", "random"])
@pytest.mark.parametrize("interrupted_at", [1, 4, 9])
def test_a_resumed_search_asks_what_an_uninterrupted_one_asks(interrupted_at, name):
    assert search(12, interrupted_at=interrupted_at, name=name) == search(12, name=name)


def test_proposals_differ_and_stay_in_their_domains():
    proposals = search(12)
    assert len({tuple(proposal.values()) for proposal in proposals}) == 12
    assert all(DOMAINS[name].holds(value) for proposal in proposals for name, value in proposal.items())


def test_states_are_true():
    asked = proposer()
    asked.add(0, FIRST)
    for number in (1, 2, 3):
        asked.ask(number)
    asked.tell(0, "complete", 1.0)
    asked.tell(1, "failed")
    asked.tell(2, "pruned")
    assert [trial.state.name for trial in asked._optuna.trials] == ["COMPLETE", "FAIL", "PRUNED", "RUNNING"]


def test_another_draw_is_another_proposal():
    asked = proposer()
    assert asked.ask(0) != asked.ask(0, draw=1)
    assert len({seed_of(0, number, 0) for number in range(100)}) == 100


def test_what_decides_proposals_is_described():
    described = describe_sampler(Sampler(num_startup=3))
    assert described["n_startup_trials"] == 3
    assert described["constant_liar"] is True
    assert "optuna" in described
