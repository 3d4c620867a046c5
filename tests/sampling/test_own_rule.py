"""The rule of the tutorial in a file of the user's, and pruners of Optuna: who goes on, what is refused."""

import sys
from pathlib import Path

import optuna
import pytest

from rse_study.errors import InputError, InputErrors
from rse_study.sampling.proposer import deciding_rule, describe_rule
from rse_study.search.choice import Observation
from rse_study.search.stopping import TrialAtRung
from rse_study.spec import hash_file
from rse_study.study.checking.validation import read_study
from tests.cases import cases
from tests.search.stopping.waiting import waiting

EXAMPLE = Path(__file__).parents[2] / "docs" / "tutorials" / "a_rule_beside_your_study.md"
MORE = """

class Fragile(StoppingRule):
    def passes(self, waiting):
        raise KeyError("no such trial")


class Bracketed(NoProgress):
    def rungs_of_trial(self, rungs, search_seed, trial):
        return rungs[trial % 2 :]


class Stranger:
    pass
"""
STUDY = """
extends: joint
early_stopping: {name: null, factor: null, class: "my_rules:NoProgress", first: 15, every: 15, settings: {least: 0.5}}
"""
PRUNER = "early_stopping={class: optuna.pruners:MedianPruner, first: 15, every: 15, settings: %s}"


@pytest.fixture
def study(tmp_path):
    example = EXAMPLE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    (tmp_path / "my_rules.py").write_text(example + MORE, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    yield tmp_path / "study.yaml"
    sys.modules.pop("my_rules", None)


def rule_of(study, *overrides):
    checked = read_study(study, overrides)
    rule = deciding_rule(checked.study, checked.folder)
    assert rule is not None
    return rule, checked


def test_it_decides_by_its_class_and_the_rungs_are_where_the_file_says(study):
    rule, checked = rule_of(study)
    assert checked.rungs == (15, 30, 45)
    at_second = {"rungs": checked.rungs, "trial": 0}
    assert rule.verdict(waiting(10.4, {15: {0: 10.0}, 30: {}}, **at_second)) == "stop"
    assert rule.verdict(waiting(10.5, {15: {0: 10.0}, 30: {}}, **at_second)) == "continue"
    assert rule.verdict(waiting(float("nan"), {15: {}}, rungs=checked.rungs)) == "stop"


def test_the_study_is_frozen_with_it_and_its_file_is_in_the_provenance(study):
    _, checked = rule_of(study)
    frozen = checked.study.resolved()["early_stopping"]
    assert frozen["class"] == "my_rules:NoProgress" and frozen["settings"] == {"least": 0.5}
    assert "name" not in frozen and "class_" not in frozen
    described = describe_rule(checked.study, checked.folder)["early_stopping"]
    assert described["source"] == hash_file(study.parent / "my_rules.py")


REFUSED = [
    ("class=my_rule:NoProgress", "early_stopping.class = 'my_rule:NoProgress': cannot be imported (ModuleNotFound"),
    ("class=my_rules:NoProgres", "my_rules has no NoProgres. Did you mean 'NoProgress'?"),
    ("class=my_rules:Stranger", "no subclass of rse_study.search.stopping.StoppingRule or optuna.pruners.BasePruner"),
    ("class=my_rules:Bracketed", "overrides rungs_of_trial, which only built-in rules may do. Take rungs_of"),
    ("class=NoProgress", "early_stopping.class: 'NoProgress' must be module:Class"),
    ("settings.leest=1", "early_stopping.settings.leest: no such field of NoProgress. Did you mean 'least'?"),
    ("settings.least=much", "early_stopping.settings.least = 'much': must be a number"),
    ("name=asha", "early_stopping: has a name and a class. Keep one (`name: null` takes away"),
    ("every=null", "early_stopping: needs `every` or `factor`: the distance to the next rung"),
    ("every=20", "early_stopping.every = 20: 'dev' is measured at multiples of"),
]  # fmt: skip


@cases(("override", "said"), REFUSED, ids=[override for override, _ in REFUSED])
def test_what_is_wrong_with_it_is_said_before_anything_runs(study, override, said):
    with pytest.raises(InputErrors) as caught:
        read_study(study, [f"early_stopping.{override}"])
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"{study}: early_stopping") and said in str(problem)


def test_a_pruner_is_made_with_its_settings_or_says_which_it_takes(study):
    read_study(study, [PRUNER % "{n_startup_trials: 2}"])
    with pytest.raises(
        InputErrors, match=r"Did you mean 'n_startup_trials'\? It takes: n_startup_trials, n_warmup"
    ):
        read_study(study, [PRUNER % "{n_startup: 2}"])


@cases(
    ("path", "given", "hint"),
    [
        (
            "early_stopping.name",
            "ashaa",
            "Did you mean 'asha'? One of your own goes by `class: module:Class`",
        ),
        ("sampler.name", "tpee", "Did you mean 'tpe'? One of your own goes by `class: module:Class`"),
    ],
    ids=["rule", "sampler"],
)
def test_an_unknown_name_is_answered_with_the_way_to_a_class(path, given, hint):
    joint = Path(__file__).parents[2] / "search_spaces" / "joint.yaml"
    with pytest.raises(InputErrors) as caught:
        read_study(joint, [f"{path}={given}"])
    assert hint in str(caught.value) and "'class'" not in str(caught.value)


def test_one_that_fails_is_named(study):
    rule, _ = rule_of(study, "early_stopping.class=my_rules:Fragile", "early_stopping.settings=null")
    with pytest.raises(
        InputError, match=r"'my_rules:Fragile': failed at trial 3, step 15 \(KeyError: 'no such"
    ):
        rule.verdict(waiting(1.0, {15: {}}, trial=3))


PRUNERS = {
    "MedianPruner": {"n_startup_trials": 3},
    "PercentilePruner": {"percentile": 60.0, "n_startup_trials": 3},
    "SuccessiveHalvingPruner": {"min_resource": 15, "reduction_factor": 2},
    "HyperbandPruner": {"min_resource": 15, "max_resource": 60, "reduction_factor": 2},
    "ThresholdPruner": {"lower": -0.5},
}


@cases("name", PRUNERS, ids=list(PRUNERS))
def test_one_trial_at_a_time_a_pruner_decides_as_in_optunas_own_loop(study, name):
    """The reference is Optuna's way: trials report and ask, one after the other."""
    rule, checked = rule_of(study, (PRUNER % PRUNERS[name]).replace("MedianPruner", name))
    search = optuna.create_study(
        study_name="search 0", direction="maximize", pruner=getattr(optuna.pruners, name)(**PRUNERS[name])
    )
    values, ends, stopped = {t: {} for t in checked.rungs}, {}, 0
    for number in range(24):
        trial, was_stopped = search.ask(), False
        for t in checked.rungs:
            value = (number * 37 % 24 - 12) / 12 + t * (number % 3) / 100
            said = rule.verdict(TrialAtRung(number, t, value, values, checked.rungs, 0, "maximize", ends))
            trial.report(value, t)
            values[t][number] = value
            was_stopped = trial.should_prune()
            assert said == ("stop" if was_stopped else "continue"), (number, t)
            if was_stopped:
                break
        stopped += was_stopped
        state = optuna.trial.TrialState.PRUNED if was_stopped else optuna.trial.TrialState.COMPLETE
        search.tell(trial, None if was_stopped else value, state)
        ends[number] = Observation("pruned") if was_stopped else Observation("complete", (value,))
    assert 0 < stopped < 24
