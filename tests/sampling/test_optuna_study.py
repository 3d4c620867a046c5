"""What the dashboard shows: the ledger's cells as Optuna's trials, also while they run."""

import math

import pytest
from optuna import load_study
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.study_record import AxisRecord, ObjectiveRecord, StudyRecord
from rse_study.sampling.optuna_study import LedgerCopy
from tests.cli import a_study
from tests.results.world import begin, end

AXES = (
    AxisRecord(name="alpha", paths=("pgd.step_size",), kind="float", low=1e-6, high=1e-3, log=True),
    AxisRecord(name="N", paths=("pgd.num_steps",), kind="int", low=1.0, high=16.0),
    AxisRecord(name="norm", paths=("pgd.ball.norm",), kind="choice", choices=("l2", "linf")),
)


def cell_of(trial, seed=0, **changes):
    proposal = {"alpha": 10.0 ** -(trial % 3 + 4), "N": trial + 1, "norm": "l2"}
    return a_study.cell_of(trial, seed, **{"config": {}, "proposal": proposal} | changes)


@pytest.fixture
def ledger(tmp_path):
    study = StudyRecord(name="small", objective=ObjectiveRecord(metric="dev"), axes=AXES, num_trials=6)
    with Ledger.open(tmp_path / "small") as ledger:
        ledger.freeze(study)
        yield ledger


def run(ledger, cell, values, loss=1.0, **changes):
    history = tuple(Point(t=5 * i, metrics={"dev": value, "loss": loss}) for i, value in enumerate(values))
    end(ledger, begin(ledger, cell), history=history, duration_s=3.0, **changes)


def shown(copy):
    return load_study(study_name=None, storage=copy.storage())


def test_states_are_the_true_ones(ledger):
    run(ledger, cell_of(0), [10.0, 60.0, 40.0])
    run(ledger, cell_of(1), [10.0, 20.0], status="stopped_early", reason="stopped at step 5 of 15")
    run(ledger, cell_of(2), [10.0], status="failed", reason="step 3: the loss is not finite")
    run(ledger, cell_of(3), [10.0, math.nan])
    ledger.plan([cell_of(5)])
    ledger.record_progress(begin(ledger, cell_of(4)).identity, 5, {"dev": 12.5, "loss": 2.0})
    complete, pruned, failed, lost, running, waiting = shown(LedgerCopy(ledger.study_dir)).trials
    assert (complete.state, complete.value) == (TrialState.COMPLETE, 40.0)  # the last value, not the best one
    assert complete.intermediate_values == {0: 10.0, 5: 60.0, 10: 40.0}
    assert (pruned.state, pruned.value, pruned.last_step) == (TrialState.PRUNED, 20.0, 5)
    assert (failed.state, failed.value) == (TrialState.FAIL, None)
    assert failed.user_attrs["reason"] == "step 3: the loss is not finite"
    assert (lost.state, lost.value) == (TrialState.FAIL, None)
    assert (running.state, running.intermediate_values) == (TrialState.RUNNING, {5: 12.5})
    assert waiting.state == TrialState.WAITING
    assert complete.duration is not None


def test_trials_have_our_numbers_and_axes_and_the_name_of_their_cell(ledger):
    run(ledger, cell_of(0), [1.0])
    run(ledger, cell_of(2), [2.0])  # as after a rebuild from what was left
    first, empty, third = shown(LedgerCopy(ledger.study_dir)).trials
    assert [first.number, empty.number, third.number] == [0, 1, 2]
    assert (empty.state, empty.params) == (TrialState.WAITING, {})
    assert third.user_attrs == {"identity": cell_of(2).identity, "seed": 0, "stage": "search"}
    assert first.params == {"alpha": 1e-4, "N": 1, "norm": "l2"}
    assert first.distributions == {
        "alpha": FloatDistribution(1e-6, 1e-3, log=True),
        "N": IntDistribution(1, 16),
        "norm": CategoricalDistribution(("l2", "linf")),
    }


def test_a_copy_follows_a_study_that_runs(ledger):
    run(ledger, cell_of(0), [1.0])
    copy = LedgerCopy(ledger.study_dir, refresh_seconds=0.0)
    run(ledger, cell_of(1), [3.0])
    run(ledger, cell_of(2), [2.0])
    study = shown(copy)
    assert [trial.value for trial in study.trials] == [1.0, 3.0, 2.0]
    assert (study.best_trial.number, study.best_params["N"], study.metric_names) == (1, 2, ["dev"])
    # an attempt that was lost: optuna itself would never let a trial go back
    begin(ledger, cell_of(3))
    assert shown(copy).trials[3].state == TrialState.RUNNING
    ledger.lose(cell_of(3).identity, "worker killed")
    assert shown(copy).trials[3].state == TrialState.WAITING


def test_all_objectives_are_shown(tmp_path):
    objectives = ObjectiveRecord(metric="dev"), ObjectiveRecord(metric="cost/seconds", direction="minimize")
    study = StudyRecord(name="two", objective=objectives[0], other_objectives=objectives[1:], axes=AXES)
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(study)
        for trial, value in enumerate((10.0, 30.0, math.nan)):
            run(ledger, cell_of(trial), [5.0, value])
        two = shown(LedgerCopy(tmp_path))
    assert [one.name for one in two.directions] == ["MAXIMIZE", "MINIMIZE"]
    assert two.metric_names == ["dev", "cost/seconds"]
    assert [trial.values for trial in two.trials] == [[10.0, 3.0], [30.0, 3.0], None]
    assert [trial.number for trial in two.best_trials] == [1]


def test_a_grid_shows_every_cell(tmp_path):
    axis = AxisRecord(name="rho", paths=("blend.rho",), kind="choice", choices=(0.0, 0.5))
    objective = ObjectiveRecord(metric="dev", direction="minimize")
    study = StudyRecord(name="grid", kind="grid", objective=objective, axes=(axis,), num_cells=4)
    rows = [(0, {"rho": 0.0}, ""), (1, {"rho": 0.5}, ""), (2, {"rho": 0.7}, "theirs"), (3, {}, "SimCSE")]
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(study)
        for trial, proposal, label in rows:
            for seed in (0, 1):
                of_grid = {"stage": "grid", "proposal": proposal, "label": label}
                run(ledger, cell_of(trial, seed, **of_grid), [float(10 * trial + seed)])
        grid = shown(LedgerCopy(tmp_path))
    trials = grid.trials
    assert [trial.value for trial in trials] == [0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 31.0]
    assert trials[5].params == {"rho": 0.7, "row": "theirs", "seed": 1}
    assert trials[5].distributions["rho"].choices == (0.0, 0.5, 0.7)
    assert trials[6].params == {"row": "SimCSE", "seed": 0}
    assert grid.best_trial.number == 0
