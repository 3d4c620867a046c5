import pytest

from rse_study.results.directions import is_less_better
from rse_study.results.records import Measure, ObjectiveRecord, StudyRecord


def study_of(direction="maximize", *measures):
    return StudyRecord(
        name="s", objective=ObjectiveRecord(metric="m", direction=direction), measures=measures
    )


@pytest.mark.parametrize(("direction", "less"), [("maximize", False), ("minimize", True)])
def test_the_objective_is_asked_of_the_study(direction, less):
    assert is_less_better(study_of(direction)) == less


@pytest.mark.parametrize(
    ("metric", "less"),
    [
        ("attack-mr/pwws/success_rate", True),
        ("AdvSTS-B/bae/success_rate", True),
        ("STS-B/geometry/alignment", True),
        ("STS-B/geometry/uniformity", True),
        ("AdvSTS-B/bae/drift", True),
        ("attack-mr/pwws/original_accuracy - attack-mr/pwws/accuracy_under_attack", True),
        ("attack-mr/pwws/queries", False),
        ("attack-mr/pwws/accuracy_under_attack", False),
        ("attack-mr/pwws/words_changed", False),
        ("STS12/test/all", False),
        ("MR/full/accuracy", False),
        ("STS-B/invariance/mean", False),
    ],
)
def test_what_no_evaluation_names_goes_by_the_rule(metric, less):
    assert is_less_better(study_of(), metric) == less


@pytest.mark.parametrize(("direction", "less"), [("maximize", False), ("minimize", True)])
def test_what_an_evaluation_says_wins(direction, less):
    metric = "STS-B/geometry/alignment"
    study = study_of("maximize", Measure(name="a", metric=metric, direction=direction))
    assert is_less_better(study, metric) == less
