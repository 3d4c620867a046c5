import dataclasses

from analysis.sections.axes import importance
from tests.analysis.outline import Outline


def test_few_trials_get_a_caution_and_importance_goes_by_the_mean_over_evaluators(search_dir, contents):
    found = contents(search_dir)
    assert "6 trials cannot tell" in importance(found)
    many = dataclasses.replace(found, importance=found.importance.assign(num_trials=30))
    assert "cannot tell" not in importance(many)
    text = Outline(importance(found)).text
    # rho: 5/36 and 8/36, the largest sum; alpha: 1/36 and 4/36, the smallest.
    assert text.index("rho") < text.index("norm") < text.index("alpha")
    assert "0.14" in text
    assert "0.22" in text
    assert importance(dataclasses.replace(found, importance=found.importance[:0])) == ""
