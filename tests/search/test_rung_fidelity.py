"""Do a search's rungs tell its ends: by hand, and read from a ledger."""

import math

import pandas as pd
import pytest

import rse_study
from rse_study.results.reader import Reader
from rse_study.search.rung_fidelity import (
    FEWEST,
    StoppingAdvice,
    fidelity_of,
    rung_fidelity,
    stopping_advice,
    unstoppable,
)
from rse_study.search.stopping.draws import is_let_run
from rse_study.search.stopping.hyperband import bracket_of
from tests.analysis import let_run, searched
from tests.cases import cases


def rows(frame, sample):
    return frame[frame["sample"] == sample].set_index("t")


def test_two_rungs_by_hand_without_what_has_no_value():
    """At step 10 two neighbours of four are swapped (rho 0.8, tau 2/3); at step 20 the order is that of the end."""
    at_rungs = {10: {0: 1.0, 1: 3.0, 2: 2.0, 3: 4.0, 9: 99.0}, 20: {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}}
    at_end = {0: 10.0, 1: 20.0, 2: 30.0, 3: 40.0}  # trial 9 was stopped
    frame = rung_fidelity(at_rungs, at_end, let_run={1, 2})
    everyone, fair = rows(frame, "complete"), rows(frame, "let run")
    assert everyone["num_trials"].tolist() == [4, 4]
    assert everyone["spearman"].tolist() == pytest.approx([0.8, 1.0])
    assert everyone["kendall"].tolist() == pytest.approx([2 / 3, 1.0])
    assert fair["num_trials"].tolist() == [2, 2]
    assert fair["spearman"].tolist() == pytest.approx([-1.0, 1.0])
    at_rungs = {10: {0: 1.0, 1: math.nan, 2: 2.0, 3: 3.0}}
    frame = rung_fidelity(at_rungs, {0: 1.0, 1: 2.0, 2: math.nan, 3: 3.0, 4: 4.0}, let_run=set())
    assert rows(frame, "complete")["num_trials"].tolist() == [2]


def told(*lows, num=FEWEST, fair=0):
    """A frame with these lower bounds of rho, at steps 10, 20, ..."""
    steps = range(10, 10 * len(lows) + 1, 10)
    return pd.DataFrame(
        [
            (sample, t, number, low)
            for sample, number in (("complete", num), ("let run", fair))
            for t, low in zip(steps, lows, strict=True)
        ],
        columns=["sample", "t", "num_trials", "spearman_low"],
    )


@cases(
    ("lows", "trusted_from"),
    [
        ((0.6, 0.7, 0.8), 10),
        ((0.4, 0.7, 0.8), 20),
        ((0.9, 0.4, 0.8), 30),  # trusted again at the last rung alone
        ((0.9, 0.9, 0.5), None),
        ((0.9, 0.9, math.nan), None),
    ],
)
def test_stopping_is_trusted_from_the_rung_on_from_which_every_interval_lies_above_a_half(lows, trusted_from):
    assert stopping_advice(told(*lows)).trusted_from == trusted_from


def test_few_trials_can_say_nothing_and_those_let_run_are_asked_where_they_are_enough():
    advice = stopping_advice(told(0.9, 0.9, num=FEWEST - 1))
    assert (advice.trusted_from, advice.can_be_said) == (None, False)
    assert stopping_advice(told(0.9, fair=FEWEST)) == StoppingAdvice("let run", FEWEST, 10)
    assert stopping_advice(told(0.9, fair=FEWEST - 1)) == StoppingAdvice("complete", FEWEST, 10)


def test_who_cannot_be_stopped():
    study = let_run.STUDY
    assert set(unstoppable(study, range(40))) == {n for n in range(40) if is_let_run(0, n, 0.25)}
    rule = {"early_stopping": {"name": "hyperband", "first": 15, "factor": 2}}
    hyperband = study.model_copy(update={"resolved": rule})
    assert set(unstoppable(hyperband, range(40))) == {n for n in range(40) if bracket_of(0, n, 2, 2) == 2}
    assert set(unstoppable(searched.STUDY, range(40))) == set()


def test_it_is_read_from_the_ledger(tmp_path):
    let_run.make(tmp_path / "let-run")
    found = rse_study.open_study("let-run", tmp_path).rung_fidelity
    everyone, fair = rows(found, "complete"), rows(found, "let run")
    chosen = [n for n in range(40) if is_let_run(0, n, 0.25)]
    assert fair["num_trials"].tolist() == [len(chosen)] * 2
    assert (everyone["num_trials"] > len(chosen)).all()
    at_30, at_end = ([let_run.dev(n, t) for n in chosen] for t in (30, 60))
    by_hand = rung_fidelity(
        {30: dict(zip(chosen, at_30, strict=True))}, dict(zip(chosen, at_end, strict=True)), set(chosen)
    )
    assert fair.loc[30, "spearman"] == pytest.approx(rows(by_hand, "let run").loc[30, "spearman"])
    assert stopping_advice(found) == StoppingAdvice("let run", 10, 30)


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
