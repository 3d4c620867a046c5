"""Seconds for a unit of work, from cells that are alike or nearly so."""

import pytest

from rse_study.study.definition.resources import Resources
from rse_study.study.planning.measured import (
    Conditions,
    Range,
    TimedWork,
    assumptions,
    exactly,
    pace_of,
    seconds_beside,
    work_of,
)
from rse_study.training.trial import Trial
from tests.cases import cases

BASE = Trial()
HERE = Conditions.wanted(BASE, Resources())


def timed(seconds, work=10.0, **changes):
    conditions = HERE._replace(**{name: changes.pop(name) for name in list(changes) if name in HERE._fields})
    return TimedWork(conditions, seconds, work, **changes)


def test_the_pace_is_that_of_cells_alike_and_spreads_as_they_do():
    assert pace_of([], HERE) is None
    assert pace_of([timed(20.0)], HERE) == exactly(2.0)
    many = [timed(float(seconds)) for seconds in range(10, 31)]
    assert pace_of(many, HERE) == Range(1.2, 2.0, 2.8)
    assert pace_of([*many, timed(900.0, batch_size=128)], HERE) == Range(1.2, 2.0, 2.8)


@cases("changes", [{"batch_size": 128}, {"max_length": 128}, {"workers": 2}, {"threads": 4}])
def test_other_batches_lengths_workers_and_threads_tell_half_to_twice_as_much(changes):
    assert pace_of([timed(20.0, **changes)], HERE) == Range(1.0, 2.0, 4.0)
    (note,) = assumptions([timed(20.0, beside=1.0, **changes)], [HERE])
    assert "was timed" in note


@cases(
    "changes",
    [{"encoder": "minilm"}, {"revision": "v2"}, {"precision": "bf16"}, {"compiled": True}, {"gpus": 0.25}],
)
def test_another_encoder_or_share_of_a_gpu_tells_nothing(changes):
    assert pace_of([timed(20.0, **changes)], HERE) is None


def test_the_work_of_a_step_is_that_of_its_method_for_each_sentence():
    assert work_of(BASE, 7) == 7 * BASE.step_work * BASE.batch_size


def test_time_beside_training_is_that_of_cells_with_the_same_scores_else_goes_by_their_number():
    cells = [timed(9.0, beside=2.0), timed(9.0, beside=4.0), timed(9.0)]
    cells.append(timed(9.0, beside=30.0, scored=frozenset({"a/test", "b/test"})))
    assert seconds_beside(cells, ()) == pytest.approx(3.0)
    assert seconds_beside(cells, ["b/test", "a/test"]) == pytest.approx(30.0)
    assert seconds_beside(cells, ["c/test"]) == pytest.approx(15.0)
    assert seconds_beside(cells[:3], ["c/test"]) == seconds_beside([], ()) == 0.0


def test_a_time_beside_training_that_nobody_knows_is_said():
    (note,) = assumptions([timed(9.0)], [HERE])
    assert "unknown until one has ended here" in note
