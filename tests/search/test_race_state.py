"""A race as its ledger has it: what counts as a value, what ends it, how many cells there may be."""

import math

import pandas as pd
import pytest

from rse_study.results.reader import Reader
from rse_study.results.records import CellRecord, RungRow
from rse_study.results.study_record import ConstraintRecord, ObjectiveRecord, StudyRecord
from rse_study.search.budget import BudgetShare, shortened
from rse_study.search.race import race_state
from rse_study.search.rung_fidelity import fidelity_of
from tests.analysis import searched

SEEDS = (6, 0)
STUDY = StudyRecord(
    name="s",
    objective=ObjectiveRecord(metric="dev"),
    num_trials=5,
    num_cells=10,
    resolved={"seeds": list(SEEDS), "early_stopping": {"first": 1, "let_run": 0.0}},
)


def cell(trial, seed, status="complete", stage="search"):
    identity = f"{trial}-{seed}"
    return CellRecord(identity=identity, trial=trial, seed=seed, stage=stage, config={}, status=status)


def state_of(values, study=STUDY, rungs=(), statuses=None, more=None):
    """Of values by trial and seed."""
    statuses = statuses or {}
    cells = [cell(trial, seed, statuses.get((trial, seed), "complete")) for trial, seed in values]
    finals = {"dev": {f"{trial}-{seed}": value for (trial, seed), value in values.items()}, **(more or {})}
    return race_state(study, cells, finals, rungs)


WHOLE = {(0, 0): 51.0, (0, 6): 50.0, (1, 0): 60.5, (1, 6): 60.0}


def test_values_come_in_the_order_of_the_studys_seeds_and_verdicts_spare_cells():
    assert [one.values for one in state_of(WHOLE).trials] == [(50.0, 51.0), (60.0, 60.5)]
    assert state_of({}).most_cells == 10
    assert state_of(WHOLE).most_cells == 10
    after = state_of({**WHOLE, (2, 6): 10.0})
    assert (after.most_cells, after.num_saved, after.is_over) == (9, 1, False)
    alike = state_of({**WHOLE, (2, 6): 60.0})
    assert (alike.most_cells, alike.verdicts[2]) == (10, "next")


def test_a_search_is_over_when_all_trials_are_known_and_without_several_seeds_there_is_no_race():
    known = {**WHOLE, (2, 6): 10.0, (3, 6): 11.0}
    assert not state_of(known).is_over
    assert state_of({**known, (4, 6): 12.0}).is_over
    assert not state_of({**known, (4, 6): 12.0}, statuses={(4, 6): "running"}).is_over
    assert not state_of({**known, (4, 6): 12.0}, statuses={(4, 6): "planned"}).is_over
    assert STUDY.search_seeds == SEEDS
    assert STUDY.model_copy(update={"resolved": {"seeds": [3]}}).search_seeds == ()
    assert STUDY.model_copy(update={"kind": "grid"}).search_seeds == ()
    assert STUDY.model_copy(update={"resolved": {}}).search_seeds == ()


@pytest.mark.parametrize("ended", [{"statuses": {(2, 6): "failed"}}, {"statuses": {(2, 6): "stopped_early"}}])
def test_what_failed_or_was_stopped_runs_no_other_seed(ended):
    state = state_of({**WHOLE, (2, 6): 99.0}, **ended)
    assert (state.verdicts[2], state.trials[2].values, state.num_cells[2]) == ("over", (), 1)


def test_a_value_that_is_not_finite_is_a_failure_and_so_is_a_constraint_without_one():
    assert state_of({**WHOLE, (2, 6): math.nan}).trials[2].is_out
    bound = STUDY.model_copy(update={"constraints": (ConstraintRecord(metric="loss", at_most=1.0),)})
    losses = {f"{trial}-{seed}": 0.5 for trial, seed in WHOLE}
    assert state_of({**WHOLE, (2, 6): 99.0}, bound, more={"loss": losses}).trials[2].is_out
    losses["2-6"] = 0.5
    assert not state_of({**WHOLE, (2, 6): 99.0}, bound, more={"loss": losses}).trials[2].is_out


@pytest.mark.parametrize(("let_run", "is_out"), [(0.0, True), (1.0, False)])
def test_who_was_stopped_and_went_on_later_stays_out_unless_let_run(let_run, is_out):
    rule = {"first": 1, "let_run": let_run}
    study = STUDY.model_copy(update={"resolved": STUDY.resolved | {"early_stopping": rule}})
    rung = RungRow(cell="2-6", t=1, value=40.0, verdict="stop")
    assert state_of({**WHOLE, (2, 6): 99.0}, study, [rung]).trials[2].is_out == is_out


def test_the_rungs_are_judged_by_first_seeds_alone(tmp_path):
    """A further seed of every trial, which would be its end otherwise, changes nothing."""
    folder = searched.make(tmp_path / "s", searched.search)
    with Reader(folder) as reader:
        cells, values = reader.cells(), reader.metrics(name="dev")
    study = searched.STUDY.model_copy(update={"resolved": {"seeds": [0, 6]}})
    others = cells.assign(identity=cells["identity"] + "x", seed=6)
    later = values.assign(cell=values["cell"] + "x", value=-values["value"])
    known = fidelity_of(study, cells, values)
    found = fidelity_of(study, pd.concat([cells, others]), pd.concat([values, later]))
    pd.testing.assert_frame_equal(found, known)
    assert known["num_trials"].max() > 2


SPENT = (BudgetShare(name="steps", limit=200, spent=180, with_next=240),)


def ended_by_budget(values, study=STUDY, statuses=None):
    """The study as far as it went, and its race then."""
    statuses = statuses or {}
    cells = [cell(trial, seed, statuses.get((trial, seed), "complete")) for trial, seed in values]
    finals = {"dev": {f"{trial}-{seed}": value for (trial, seed), value in values.items()}}
    ended = shortened(study, cells, SPENT, race_state(study, cells, finals))
    return ended, race_state(ended, cells, finals)


def test_a_budget_may_end_a_race_whose_cells_are_then_not_waited_for():
    ended, race = ended_by_budget({**WHOLE, (2, 6): 60.0})
    assert (ended.num_trials, ended.num_cells) == (3, 6)
    assert race.is_over
    assert (race.most_cells, race.num_saved) == (5, 1)
    ended, race = ended_by_budget({**WHOLE, (2, 6): 60.0, (2, 0): 0.0}, statuses={(2, 0): "planned"})
    assert (ended.num_trials, race.most_cells, race.is_over) == (3, 5, True)
    values = {**WHOLE, (2, 6): 10.0, (3, 6): 11.0, (4, 6): 60.0}
    ended, race = ended_by_budget(values)
    assert ended.is_cut_short
    assert (ended.num_trials, race.most_cells, race.is_over) == (5, 7, True)
    over, _ = ended_by_budget({**values, (4, 0): 60.0})
    assert not over.is_cut_short
