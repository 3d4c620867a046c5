import dataclasses

from analysis.sections.importance import importance
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


def test_the_caption_says_of_which_axes_no_order_can_be_told(search_dir, contents):
    found = contents(search_dir)
    text = Outline(importance(found)).text
    # fanova: shares of 1/36 to 8/36, each 0.025 to both sides: phi (0.222) and those from 0.172 on.
    assert "fanova: phi has the largest share, but lambda2 cannot be told apart from it." in text
    assert "mdi:" not in text  # it says nothing of how sure it is
    assert "0.22 (0.20 to 0.25)" in text
    wide = found.importance.assign(low=0.0, high=1.0)
    text = Outline(importance(dataclasses.replace(found, importance=wide))).text
    assert "mdi cannot order the axes: every interval overlaps with that of rho." in text
    narrow = wide.assign(low=wide["value"], high=wide["value"])
    text = Outline(importance(dataclasses.replace(found, importance=narrow))).text
    assert "mdi: rho has the largest share, apart from all others." in text
