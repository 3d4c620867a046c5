import math

import numpy as np
import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.records import ImportanceRow
from rse_study.results.study_record import AxisRecord, ObjectiveRecord, StudyRecord
from rse_study.sampling.importance import (
    FANOVA,
    FEWEST_TRIALS,
    PED_ANOVA,
    enter_importance,
    full_budget_trials,
    importance_rows,
)
from rse_study.sampling.samplers import quasi_random_point
from rse_study.study.definition.domains import Choice, Float, Int, Log
from rse_study.study.definition.space import Axis
from tests.analysis import searched

DOMAINS = {"rho": Float(float=(0, 1)), "alpha": Log(log=(1e-6, 1e-3))}
AXES = [Axis(name, domain, (name,)) for name, domain in DOMAINS.items()]
RECORDS = (
    AxisRecord(name="rho", paths=("rho",), kind="float", low=0, high=1),
    AxisRecord(name="alpha", paths=("alpha",), kind="float", low=1e-6, high=1e-3, log=True),
)
STUDY = StudyRecord(
    name="s",
    objective=ObjectiveRecord(metric="dev"),
    axes=RECORDS,
    num_trials=20,
    num_cells=20,
    kind="search",
)


def trials(num):
    points = [quasi_random_point(DOMAINS, 0, index) for index in range(num)]
    return [(point, -((point["rho"] - 0.7) ** 2)) for point in points]


def rows_of(num, direction="maximize", **options):
    return importance_rows(AXES, trials(num), direction, 0, **{"num_resamples": 20, **options})


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_the_axis_that_decides_has_the_larger_share(direction):
    rows = rows_of(64, direction)
    for evaluator in (PED_ANOVA, FANOVA):
        shares = {row.axis: row.value for row in rows if row.evaluator == evaluator}
        assert shares["rho"] > 3 * shares["alpha"]
        assert sum(shares.values()) == pytest.approx(1.0)


def test_a_handful_of_trials_says_nothing():
    assert rows_of(FEWEST_TRIALS - 1) == []
    assert importance_rows(AXES, [(point, 1.0) for point, _ in trials(64)], "maximize", 0) == []


def test_every_share_has_its_evaluator_and_number_of_trials_and_ped_anova_an_interval_around_it():
    rows = rows_of(16)
    assert {(row.num_trials, row.evaluator) for row in rows} == {(16, "PED-ANOVA"), (16, "fANOVA")}
    for row in rows:
        if row.evaluator == FANOVA:
            assert 0 <= row.value <= 1 and math.isnan(row.low) and math.isnan(row.high)
        else:
            assert 0 <= row.low <= row.value <= row.high <= 1
            assert row.low < row.high


@pytest.mark.parametrize("kind", ["choice", "end of integers", "logarithm"])
def test_fanova_measures_an_axis_as_it_is_searched(kind):
    """One of six values counts 1, or the logarithm from 0 to 1, beside a uniform number."""
    domain, gain, expected = {
        "choice": (Choice(choice=tuple("abcdef")), lambda value: float(value == "c"), 0.625),
        "end of integers": (Int(int=(1, 6)), lambda value: float(value == 1), 0.625),
        "logarithm": (Log(log=(1e-6, 1.0)), lambda value: 1 + math.log10(value) / 6, 0.5),
    }[kind]
    domains = {"asked": domain, "other": Float(float=(0, 1))}
    points = [quasi_random_point(domains, 0, index) for index in range(256)]
    known = [(one, gain(one["asked"]) + one["other"]) for one in points]
    axes = [Axis(name, one, (name,)) for name, one in domains.items()]
    rows = importance_rows(axes, known, "maximize", 0, num_resamples=2)
    assert [row.value for row in rows if (row.axis, row.evaluator) == ("asked", FANOVA)] == [
        pytest.approx(expected, abs=0.05)
    ]


def test_resamples_of_ties_have_a_share_too():
    """Two of eight trials differ: one resample in ten has no variation at all."""
    domains = {"rho": Float(float=(0, 1)), "norm": Choice(choice=("l1", "l2"))}
    axes = [Axis(name, domain, (name,)) for name, domain in domains.items()]
    points = [{"rho": n / 8, "norm": "l1" if n % 2 else "l2"} for n in range(8)]
    values = [2.0, 3.0, *[1.0] * 6]
    rows = importance_rows(axes, list(zip(points, values, strict=True)), "maximize", 0, num_resamples=60)
    ends = [(row.low, row.high) for row in rows if row.evaluator == PED_ANOVA]
    assert np.isfinite([row.value for row in rows]).all() and np.isfinite(ends).all()


def test_an_axis_that_belongs_to_a_choice_has_its_share_among_its_own_trials():
    """phi decides where the method is `a`, and is nowhere else; the rate decides nothing."""
    domains = {
        "method": Choice(choice=("a", "b", "c")),
        "phi": Float(float=(0, 1), when={"method": "a"}),
        "idle": Float(float=(0, 1), when={"method": "a"}),
        "of_two": Float(float=(0, 1), when={"method": ("a", "b")}),
        "few": Float(float=(0, 1), when={"method": "c"}),
        "rate": Float(float=(0, 1)),
    }
    axes = [Axis(name, domain, (name,)) for name, domain in domains.items()]
    known = []
    for index in range(90):
        point = quasi_random_point(domains, 0, index)
        point["method"] = "c" if index < FEWEST_TRIALS - 1 else "ab"[index % 2]
        point = {axis.name: point[axis.name] for axis in axes if axis.is_active(point)}
        known.append((point, point.get("phi", 0.5) + 0.01 * point["rate"]))
    rows = importance_rows(axes, known, "maximize", 0, num_resamples=20)
    numbers = {row.axis: row.num_trials for row in rows}
    num_of_a = sum(point["method"] == "a" for point, _ in known)
    of_two = 90 - (FEWEST_TRIALS - 1)
    assert numbers == {"method": 90, "rate": 90, "phi": num_of_a, "idle": num_of_a, "of_two": of_two}
    for evaluator in (PED_ANOVA, FANOVA):
        shares = {row.axis: row.value for row in rows if row.evaluator == evaluator}
        assert shares["phi"] > 0.6 > 5 * shares["idle"]
        assert shares["method"] + shares["rate"] == pytest.approx(1.0)


def test_axes_without_conditions_have_the_shares_that_they_had_alone():
    belongs = Axis("belongs", Float(float=(0, 1), when={"norm": "l1"}), ("belongs",))
    axes = [*AXES, Axis("norm", Choice(choice=("l1", "l2")), ("norm",))]
    known = [(point | {"norm": "l2"}, value) for point, value in trials(16)]
    alone = importance_rows(axes, known, "maximize", 0, num_resamples=20)
    assert importance_rows([belongs, *axes], known, "maximize", 0, num_resamples=20) == alone


def entered(ledger, num, status="complete", t=30, value=None, seed=0):
    """Trial `num`, which ended so after t steps."""
    proposal, own = trials(num + 1)[num]
    cell = searched.planned(num, seed, "search", "", proposal)
    points = (Point(t=t, metrics={"dev": own if value is None else value}),)
    searched.run(ledger, cell, status, points)


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "s") as ledger:
        ledger.freeze(STUDY)
        for num in range(10):
            entered(ledger, num)
        yield ledger


def test_only_trials_of_the_full_budget_count(ledger):
    entered(ledger, 10, "stopped_early", t=10)
    entered(ledger, 11, "failed", t=20)
    entered(ledger, 12, t=20)  # complete, but by another budget
    entered(ledger, 13, value=math.nan)
    found = full_budget_trials(ledger, "dev")
    assert [value for _, value in found] == [value for _, value in trials(10)]


def test_a_trial_of_several_seeds_counts_once_with_their_mean(ledger):
    entered(ledger, 3, value=trials(10)[3][1] + 1.0, seed=6)
    entered(ledger, 4, value=math.nan, seed=6)
    expected = [value + 0.5 * (num == 3) for num, (_, value) in enumerate(trials(10))]
    assert [value for _, value in full_budget_trials(ledger, "dev")] == pytest.approx(expected)


@pytest.mark.slow
def test_what_the_ledger_has_of_these_trials_with_intervals_is_not_computed_again(ledger):
    enter_importance(ledger)
    rows = ledger.importance()
    assert {row.evaluator for row in rows} == {PED_ANOVA, FANOVA}
    ledger.record_importance([row.model_copy(update={"low": math.nan, "high": math.nan}) for row in rows])
    enter_importance(ledger)
    assert ledger.importance() == rows
    known = [ImportanceRow(**{**row.model_dump(), "value": row.low}) for row in rows]
    ledger.record_importance(known)
    enter_importance(ledger)
    assert ledger.importance() == known
    entered(ledger, 10)
    enter_importance(ledger)
    assert {row.num_trials for row in ledger.importance()} == {11}
