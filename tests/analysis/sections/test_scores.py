import pandas as pd

from analysis.scores import scores
from analysis.search import confirmed
from analysis.sections.results import both_ways_text, scores_table
from tests.analysis.outline import Outline


def test_columns_of_seeds_are_behind_a_switch_and_a_mean_has_its_spread(search_dir, contents):
    found = contents(search_dir)
    html = scores_table(found, scores(found, confirmed(found)), "confirmed")
    extra = [attrs["class"] for tag, attrs in Outline(html).tags if "extra" in attrs.get("class", "")]
    assert len(extra) == 2 * 2 * 6  # two seeds of two measures, in five rows and their heading
    assert "mean \N{PLUS-MINUS SIGN} SD" in html


def test_rows_that_are_better_here_and_worse_there_are_named_by_their_intervals(search_dir, contents):
    found = contents(search_dir)
    lines = [
        ("two-faced", found.label, 1.0, 0.5, 1.5), ("two-faced", "builtin/test", -2.0, -2.5, -1.5),
        ("unsure", found.label, 1.0, 0.5, 1.5), ("unsure", "builtin/test", -2.0, -4.5, 0.5),
    ]  # fmt: skip
    frame = pd.DataFrame(lines, columns=["row", "measure", "difference", "low", "high"]).assign(decimals=2)
    expected = f"two-faced (+1.00 on {found.label}, \N{MINUS SIGN}2.00 on builtin/test)."
    assert both_ways_text(found, frame) == f"Better on one measure and worse on another: {expected}"
    assert both_ways_text(found, frame[2:]) == ""
