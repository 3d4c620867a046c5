"""Samplers and stopping rules: what a study may ask of them."""

from pathlib import Path
from typing import get_args

import pytest

from rse_study.errors import InputErrors
from rse_study.study.checking.search_methods import TRAITS, sampler_problems
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.domains import Choice, Float
from rse_study.study.definition.parts import Sampler
from rse_study.study.definition.space import Axis, Space
from rse_study.training.trial import Trial
from tests.cases import cases

JOINT = Path(__file__).parents[3] / "search_spaces" / "joint.yaml"


def said(*overrides):
    with pytest.raises(InputErrors) as caught:
        read_study(JOINT, overrides)
    return [str(problem).removeprefix(f"{JOINT}: ") for problem in caught.value.problems]


def test_rungs_are_known_measured_and_said_before_anything_starts():
    assert read_study(JOINT).rungs == (15, 30)
    assert read_study(JOINT, ["early_stopping.factor=4"]).rungs == (15,)
    assert read_study(JOINT, ["early_stopping=null"]).rungs == ()
    assert said("base.budget={unit: epochs, amount: 4}") == [
        "early_stopping: rungs are optimiser steps, and base.budget is in epochs. Give the budget in steps: "
        "`budget: {unit: steps, amount: ...}`"
    ]
    assert read_study(JOINT, ["early_stopping.name=hyperband"]).rungs == read_study(JOINT).rungs
    loss = "objective={metric: loss, direction: minimize}"
    assert read_study(JOINT, [loss, "early_stopping.first=20"]).rungs == (20, 40)
    assert read_study(JOINT, [loss, "early_stopping.first=15"]).rungs == (15, 30)
    (found,) = said(loss, "early_stopping.first=12")
    assert "'loss' is measured at multiples of base.report_every = 10 or base.selection.every = 15" in found
    assert found.endswith("Use 10, or lower base.report_every")


def test_the_nearest_measured_step_below_the_budget_is_said():
    rule = "'dev' is measured at multiples of base.selection.every = 15, and not at this step"
    expected = [f"early_stopping.first = 10: {rule}. Use 15, or lower base.selection.every"]
    assert said("early_stopping.first=10") == expected
    assert said("early_stopping.first=35")[0].endswith("Use 30, or lower base.selection.every")
    assert said("early_stopping.first=40")[0].endswith("Use 45, or lower base.selection.every")
    assert said("early_stopping.first=55")[0].endswith("Use 45, or lower base.selection.every")
    (found,) = said("early_stopping.first=60")
    expected = "early_stopping.first = 60: must be < the full budget of 60 steps. Use 30, or lower base.selection.every"
    assert found == expected
    (found,) = said("early_stopping.first=9", "base.selection.every=60")
    assert found.endswith("and not at this step. Lower base.selection.every")


@pytest.mark.parametrize("path", ["budget.amount", "report_every", "selection.every"])
def test_an_axis_may_not_move_the_rungs(path):
    axis = f"search.{path}={{choice: [15, 30]}}"
    (found,) = said(axis)
    assert found.startswith(f"search.{path}: early stopping compares trials at the same steps, and this axis")
    assert read_study(JOINT, [axis, "early_stopping=null"]).rungs == ()


MEDIAN = "early_stopping={name: median, first: 15, every: %d}"


def test_every_rung_must_be_measured_and_the_first_is_found_wanting_first():
    assert read_study(JOINT, [MEDIAN % 15]).rungs == (15, 30, 45)
    (problem,) = said(MEDIAN % 10)
    rule = "'dev' is measured at multiples of base.selection.every = 15, and not at the rung at step 25"
    assert problem == f"early_stopping.every = 10: {rule}. Use 15, or lower base.selection.every"
    loss = "objective={metric: loss, direction: minimize}"
    assert read_study(JOINT, [loss, MEDIAN % 15]).rungs == (15, 30, 45)
    assert said(loss, MEDIAN % 7)[0].startswith("early_stopping.every = 7: 'loss' is measured")
    (problem,) = said("early_stopping={name: median, first: 10, every: 10}")
    assert problem.startswith("early_stopping.first = 10: ")


@cases(
    ("override", "words"),
    [
        ("early_stopping.every=15", "early_stopping: `every` and `factor` both set the distance"),
        ("early_stopping.factor=null", "early_stopping: needs `every` or `factor`"),
        ("early_stopping.factor=1", "early_stopping.factor = 1: must be >= 2"),
        ("early_stopping.num_startup=0", "early_stopping.num_startup = 0: must be > 0"),
        (
            "early_stopping.let_run=1/10",
            "early_stopping: `let_run` is no longer possible: a trial that a verdict stops ends there. Remove it; to "
            "judge a rule, run the search with `early_stopping: null` (its histories have the values at the rungs",
        ),
        ("early_stopping.evry=3", "early_stopping.evry: no such field of Median. Did you mean 'every'?"),
        (
            "early_stopping.name=medain",
            "early_stopping.name = 'medain': must be one of 'asha', ",
        ),
    ],
)
def test_a_rule_that_says_too_much_or_too_little_is_refused(override, words):
    assert any(problem.startswith(words) for problem in said("early_stopping.name=median", override))


def test_what_earlier_versions_wrote_where_no_trial_was_let_run_is_read():
    assert read_study(JOINT, ["early_stopping.let_run=0.0"]).study == read_study(JOINT).study
    assert said("early_stopping.let_run=false")[0].startswith("early_stopping: `let_run` is no longer")


NUMBERS = Space(Trial(), (Axis("rho", Float(float=(0, 1)), ("rho",)),))
CHOICES = Space(Trial(), (Axis("norm", Choice(choice=("l1", "l2")), ("norm",)),))


def test_every_sampler_a_study_may_name_has_traits():
    assert set(get_args(Sampler.model_fields["name"].annotation)) == TRAITS.keys()


@cases("name", TRAITS)
def test_only_cma_es_refuses_several_objectives_and_a_space_without_numbers(name):
    problems = list(sampler_problems(Sampler(name=name), NUMBERS, num_objectives=2))
    assert len(problems) == (name == "cma_es")
    assert all(what == "sampler.name = 'cma_es'" and "tpe" in remedy for what, _, remedy in problems)
    assert not list(sampler_problems(Sampler(name=name), NUMBERS))
    assert len(list(sampler_problems(Sampler(name=name), CHOICES))) == (name == "cma_es")
