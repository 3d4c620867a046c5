import os
import subprocess
import sys
from pathlib import Path

import pytest

from rse_study.sampling.proposer import UNIFORM_FROM, Proposer
from rse_study.sampling.samplers import OF_OPTUNA
from rse_study.study.checking.search_methods import TRAITS
from rse_study.study.definition.parts import Sampler
from rse_study.study.definition.space import Axis
from tests.on_ray.surface import CONDITIONAL, DOMAINS, FIRST, FIRST_CONDITIONAL, search, value_of
from tests.slow import mostly_slow

FAST = OF_OPTUNA.keys() - {"gp"}  # a Gaussian process takes half a second an ask
OF_SEVERAL = [name for name in OF_OPTUNA if TRAITS[name].of_several]
LEARN = [name for name in OF_OPTUNA if name != "random"]
OF_CONDITIONS = [name for name, traits in TRAITS.items() if traits.of_conditions]
ROOT = Path(__file__).parents[2]
KILLS = {"killed_after": {10, 30}, "killed_during": {20, 39}}


def proposer(name="tpe", directions=("maximize",), **settings):
    return Proposer(DOMAINS, Sampler(name=name, num_startup=3, **settings), 0, directions)


@pytest.mark.parametrize("name", mostly_slow(OF_OPTUNA, fast=FAST))
def test_a_search_killed_at_every_tenth_trial_asks_what_an_uninterrupted_one_asks(name):
    """Among complete trials are pruned and failed ones, and some were drawn again."""
    assert search(name, 42, **KILLS) == search(name, 42)


@pytest.mark.parametrize("name", mostly_slow(OF_SEVERAL, fast=["tpe", "nsga2", "nsga3"]))
def test_so_does_one_with_two_objectives(name):
    number = 22 if name == "gp" else 42  # fits two Gaussian processes a trial
    assert search(name, number, **KILLS, num_objectives=2) == search(name, number, num_objectives=2)


@pytest.mark.parametrize("name", OF_CONDITIONS)
@pytest.mark.parametrize("num_objectives", [1, 2])
def test_so_does_one_with_axes_that_belong_to_a_choice(name, num_objectives):
    said = {"num_objectives": num_objectives, "domains": CONDITIONAL}
    assert search(name, 42, **KILLS, **said) == search(name, 42, **said)


@pytest.mark.parametrize("name", OF_CONDITIONS)
def test_a_proposal_holds_exactly_the_active_axes_in_the_order_of_the_file(name):
    axes = [Axis(axis, domain, (axis,)) for axis, domain in CONDITIONAL.items()]
    for proposal in search(name, 30, domains=CONDITIONAL):
        assert list(proposal) == [axis.name for axis in axes if axis.is_active(proposal)]
        assert all(CONDITIONAL[axis].holds(value) for axis, value in proposal.items())


def test_what_an_axis_came_to_in_its_own_trials_decides_what_is_asked_there():
    """24 trials of two variants: N counts in those that have it, and is asked for near where it was best."""
    means = []
    for best in (3, 14):
        one = Proposer(CONDITIONAL, Sampler(num_startup=3), 0, ["maximize"])
        for number in range(24):
            proposal = {**FIRST_CONDITIONAL, "N": 1 + number * 2 % 16}
            value = -float(abs(proposal["N"] - best))
            if number % 3 == 0:
                proposal = {"method": "simcse", "phi": 0.1, "norm_of_all": "l1"}
                value = -20.0
            one.add(number, proposal, "complete", [value])
        asked = [one.ask(24 + k) for k in range(12)]
        with_it = [proposal["N"] for proposal in asked if "N" in proposal]
        assert len(with_it) > 3
        means.append(sum(with_it) / len(with_it))
    assert means[0] + 4 < means[1]


def test_proposals_of_a_conditional_space_hang_on_no_hash(tmp_path):
    """Optuna decomposes such a space into sets of names, whose order differs from process to process."""
    code = "from tests.on_ray.surface import *; print(search('tpe', 25, domains=CONDITIONAL))"
    said = [
        subprocess.check_output(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, cwd=ROOT
        )
        for seed in ("1", "2")
    ]
    assert said[0] == said[1] != b""


@pytest.mark.parametrize("name", mostly_slow(OF_OPTUNA, fast=FAST))
def test_proposals_differ_and_stay_in_their_domains(name):
    proposals = search(name, 12)
    assert len({tuple(proposal.values()) for proposal in proposals}) == 12
    assert all(proposal.keys() == DOMAINS.keys() for proposal in proposals)
    assert all(DOMAINS[axis].holds(value) for proposal in proposals for axis, value in proposal.items())


def asked_after(name, better=0.0):
    """What is asked for after 13 trials; `better`: how much the third one gains."""
    one = proposer(name, population_size=4)
    for number in range(13):
        proposal = {**FIRST, "N": 1 + number, "phi": 0.02 * number}
        one.add(number, proposal, "complete", [value_of(proposal) + better * (number == 2)])
    return [one.ask(13 + k) for k in range(3)]


@pytest.mark.parametrize("name", mostly_slow(LEARN, fast=FAST & {*LEARN}))
def test_what_trials_came_to_decides_what_is_asked(name):
    assert asked_after(name) != asked_after(name, better=100.0)


@pytest.mark.parametrize("name", OF_OPTUNA)
def test_another_draw_is_another_proposal(name):
    asked = proposer(name)
    asked.add(0, FIRST, "complete", [1.0])
    first = asked.ask(1)
    asked.discard(1)
    assert asked.ask(1, draw=1) != first


def test_a_model_that_knows_only_known_points_does_not_end_a_search():
    """A Gaussian process may name the same best point of a small space in every draw: the last draws are uniform."""
    asked = proposer("gp")
    for number in range(4):
        asked.add(number, {**FIRST, "N": 1 + 5 * number}, "complete", [float(number)])
    draws = []
    for draw in range(UNIFORM_FROM, UNIFORM_FROM + 20):
        draws.append(asked.ask(4, draw))
        asked.discard(4)
    assert {one["norm"] for one in draws} == {"l1", "l2", "linf"}
    assert len({one["N"] for one in draws}) > 8
