import pandas as pd

from analysis.chosen import ChosenPair, ChosenRows, pairs_table, render_chosen, scores_table
from rse_study.results.comparing.comparisons import compare
from tests.analysis.outline import Outline

FIRST, SECOND = (71.0, 74.5, 70.0, 72.0), (70.0, 73.0, 69.5, 71.75)
ONE = ChosenRows("one:a", "Is <b> best?", pd.DataFrame([FIRST], index=["a"], columns=[0, 1, 2, 3]))
TWO = ChosenRows("two", "Is it?", pd.DataFrame([SECOND[:3]], index=["a"], columns=[1, 2, 5]))


def contrast():
    table = pd.DataFrame([FIRST, SECOND], index=["first", "second"])
    (found,) = compare(table, [{"first": 1.0, "second": -1.0}])
    return found


def test_a_difference_is_shown_with_its_interval_and_one_that_cannot_be_with_its_reason():
    one = contrast()
    table = pairs_table([ChosenPair("a", one), ChosenPair("b", None, "too few seeds")])
    assert table["difference"].tolist() == ["+0.81", ""]
    assert table["95%, all at once"][0].startswith(
        f"[{one.simultaneous.low:+.2f}".replace("-", "\N{MINUS SIGN}")
    )
    assert table["remark"].tolist() == ["", "too few seeds"]
    assert "remark" not in pairs_table([ChosenPair("a", one)])


def test_scores_stand_seed_by_seed_with_gaps_and_the_page_has_differences_too():
    table = scores_table([ONE, TWO])
    assert table["chosen as"].tolist() == ["one:a", "two"]
    assert table["seed 0"].tolist() == ["71.00", ""]
    assert table["seed 5"].tolist() == ["", "69.50"]
    assert table["seeds"].tolist() == ["4", "3"]
    outline = Outline(render_chosen("dev", [ONE, TWO], [ChosenPair("a", contrast())]))
    assert outline.figures == ["differences"]
    assert {"table-differences", "table-scores"} <= set(outline.anchors)
    assert "Is <b> best?" in outline.text
    assert "one:a and 1 other" in outline.text
