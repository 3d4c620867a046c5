import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.results.records import Measure
from rse_study.results.study_record import OWN_COLUMNS, AxisRecord, ObjectiveRecord, StudyRecord
from tests.cases import cases

WORDS = st.sampled_from(["alpha", "beta", "step", "trial", "objective"])


def study(*axes):
    of_all = {"kind": "int", "low": 0, "high": 1}
    axes = [AxisRecord(name=name, symbol=symbol, paths=(f"a.{name}",), **of_all) for name, symbol in axes]
    return StudyRecord(name="s", objective=ObjectiveRecord(metric="dev"), axes=axes)


def test_symbols_are_the_headings_unless_they_are_shared():
    assert study(("pgd.step_size", "alpha"), ("N", "")).headings == ("alpha", "N")
    expected = ("pgd.step_size", "fgsm.step_size")
    assert study(("pgd.step_size", "alpha"), ("fgsm.step_size", "alpha")).headings == expected


@given(st.lists(st.tuples(WORDS, st.one_of(st.just(""), WORDS)), unique_by=lambda axis: axis[0]))
def test_headings_are_different_and_free(axes):
    headings = study(*axes).headings
    assert len(set(headings)) == len(axes)
    assert not OWN_COLUMNS & set(headings)


def study_that(direction="maximize", *measures):
    objective = ObjectiveRecord(metric="m", direction=direction)
    return StudyRecord(name="s", objective=objective, measures=measures)


@pytest.mark.parametrize(("direction", "less"), [("maximize", False), ("minimize", True)])
def test_the_objective_is_asked_of_the_study_and_what_an_evaluation_says_wins(direction, less):
    assert study_that(direction).is_less_better() == less
    metric = "STS-B/geometry/alignment"
    study = study_that("maximize", Measure(name="a", metric=metric, direction=direction))
    assert study.is_less_better(metric) == less


@cases(
    ("metric", "less"),
    [
        ("attack-mr/pwws/success_rate", True),
        ("AdvSTS-B/bae/success_rate", True),
        ("STS-B/geometry/alignment", True),
        ("STS-B/geometry/uniformity", True),
        ("AdvSTS-B/bae/drift", True),
        ("attack-mr/pwws/original_accuracy - attack-mr/pwws/accuracy_under_attack", True),
        ("STS-B/weakened/layer 0 - STS-B/weakened/layer 2", False),
        ("cosine/positive - cosine/random", False),
        ("attack-mr/pwws/queries", False),
        ("attack-mr/pwws/accuracy_under_attack", False),
        ("attack-mr/pwws/words_changed", False),
        ("STS12/test/all", False),
        ("MR/full/accuracy", False),
        ("STS-B/invariance/mean", False),
    ],
)
def test_what_no_evaluation_names_goes_by_the_rule(metric, less):
    assert study_that().is_less_better(metric) == less
