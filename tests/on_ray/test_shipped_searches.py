"""Every proposal of every sampler in every space that is shipped is a trial that can run."""

from typing import get_args

import pytest

from rse_study.sampling.proposer import Proposer
from rse_study.spec import canonical_json
from rse_study.study.checking.search_methods import TRAITS, sampler_problems
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.parts import Sampler
from rse_study.study.definition.reading import read_extended
from rse_study.study.definition.shipped import shipped_studies
from tests.on_ray.surface import outcome_of

SEARCHES = [path for path in shipped_studies() if read_extended(path).get("search")]
NAMES = get_args(Sampler.model_fields["name"].annotation)
QUICK = [name for name in NAMES if name != "gp"]


def spaces():
    """The first search of each space."""
    found = {}
    for path in SEARCHES:
        found.setdefault(canonical_json(read_extended(path)["search"]), path)
    return list(found.values())


@pytest.fixture(scope="module", params=spaces(), ids=lambda path: path.stem)
def checked(request):
    return read_study(request.param)


def asked(checked, name, seed, num_trials):
    """Proposals of a search in which larger values of every axis are better, so that all samplers reach edges."""
    domains = {axis.name: axis.domain for axis in checked.space.axes}
    sampler = Sampler(name=name, num_startup=4, population_size=4)
    proposer = Proposer(domains, sampler, seed, ["maximize"])
    for number in range(num_trials):
        proposal = proposer.ask(number)
        value = sum(share(domains[axis], proposal[axis]) for axis in proposal)
        proposer.tell(number, outcome_of(number), [value])
        yield proposal


def share(domain, value):
    if domain.scale == "none":
        return domain.values().index(value)
    low, high = domain.edges()
    return (value - low) / (high - low)


def can_ask(checked, name):
    """Whether a sampler can be asked for trials of this space: all axes in every trial, for a grid finite ones."""
    is_able = TRAITS[name].of_conditions or not checked.space.is_conditional
    assert is_able == (not list(sampler_problems(Sampler(name=name), checked.space))), name
    return is_able and (name != "grid" or all(axis.domain.is_finite for axis in checked.space.axes))


def hold_true(checked, name, seed, num_trials):
    for proposal in asked(checked, name, seed, num_trials):
        assert list(proposal) == [axis.name for axis in checked.space.axes if axis.is_active(proposal)]
        for axis in checked.space.axes:
            assert axis.name not in proposal or axis.domain.holds(proposal[axis.name]), (axis.name, proposal)
        trial = checked.space.apply(proposal)
        assert checked.space.coordinates(trial) == proposal


def test_a_short_search_of_every_quick_sampler_proposes_valid_trials(checked):
    for name in QUICK:
        if can_ask(checked, name):
            hold_true(checked, name, 0, 14)
