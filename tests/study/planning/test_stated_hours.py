"""What somebody else's hours are worth before anything has run here."""

from dataclasses import replace

import pytest

from rse_study.errors import InputError
from rse_study.study.definition.resources import Allowance
from rse_study.study.planning.ledger_state import LedgerState
from rse_study.study.planning.plan import plan
from rse_study.study.planning.throughput import Throughput, with_stated_hours
from rse_study.study.planning.workload import shape_of
from tests.study.planning.priced import grid_of, one_second

NOWHERE = {"source": "not/here.txt", "limit": 6400}


@pytest.fixture
def grid(content):
    base = content["base"] | {"budget": {"unit": "epochs", "amount": 2}, "corpus": NOWHERE}
    return grid_of(content | {"base": base}, {"rows": {"base": {}}}, allowance={"hours_per_cell": [2, 4]})


def test_the_base_costs_what_was_told_unless_something_was_measured_here(grid, sizes, content):
    planned = plan(grid, LedgerState(), with_stated_hours(Throughput(), grid, sizes), sizes)
    hours = planned.device_hours
    overhead = 1 / 3600  # a second beside its training, as assumed
    assert (hours.low, hours.mid, hours.high) == pytest.approx((2 + overhead, 3 + overhead, 4 + overhead))
    assert "2 to 4 hours" in planned.source
    measured = one_second(grid.study.base)
    assert with_stated_hours(measured, grid, sizes) is measured
    checked = grid_of(content, {"rows": {"base": {}}})
    assert with_stated_hours(Throughput(), checked, sizes) == Throughput()


def test_a_corpus_that_is_not_here_counts_as_its_limit_and_without_one_is_refused(grid, sizes, content):
    planned = plan(grid, LedgerState(), Throughput(), sizes)
    assert planned.cost.steps.mid == 2 * 6400 / 32
    assert any("not/here.txt is not here: assumed to hold 6,400 sentences" in note for note in planned.notes)
    base = content["base"] | {"budget": {"unit": "epochs", "amount": 2}, "corpus": {"source": "not/here.txt"}}
    checked = grid_of(content | {"base": base}, {"rows": {"base": {}}})
    with pytest.raises(InputError, match="no such file"):
        plan(checked, LedgerState(), Throughput(), sizes)


def test_hours_of_another_number_of_steps_are_in_proportion(grid, sizes):
    """A shortened study costs its part: two epochs of 200 steps, told for 4,000."""
    allowance = {"hours_per_cell": [2, 4], "steps_per_cell": 4000}
    whole = with_stated_hours(Throughput(), grid, sizes)
    study = grid.study.model_copy(update={"allowance": Allowance.model_validate(allowance)})
    short = with_stated_hours(Throughput(), replace(grid, study=study), sizes)
    paces = [
        one.seconds_per_work(shape_of(grid.study.base), grid.study.resources).mid for one in (short, whole)
    ]
    assert paces[0] == pytest.approx(paces[1] / 10)
