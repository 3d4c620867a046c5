"""Contrasts that a study's file plans: their numbers, what they lead, and when they were planned."""

import numpy as np
import pandas as pd
import pytest

from analysis.paper.kit import how_compared
from analysis.paper.layout import write_layouts
from analysis.report import render
from analysis.sections.opening import answer
from rse_study import open_study
from rse_study.results.comparing.comparisons import compare
from rse_study.results.files.ledger import Ledger
from rse_study.results.row_names import contrasts_of
from tests.analysis import tabled

SCORES = {
    "beta = 1, ascent = gradient": (63.0, 64.5, 63.5, 62.0, 64.0),
    "beta = 1, ascent = noise": (60.0, 61.0, 62.0, 59.0, 60.5),
    "beta = 2, ascent = gradient": (61.0, 61.5, 60.5, 61.0, 62.0),
    "beta = 2, ascent = noise": (60.5, 62.0, 61.0, 60.0, 61.5),
    "SimCSE": (60.0, 60.5, 61.0, 59.5, 61.0),
}
BY_BETA = {"gradient minus noise": {"gradient": 1.0, "noise": -1.0, "by": "beta"}}
MEAN = {
    "all minus SimCSE": {"beta=1, ascent=gradient": "1/2", "ascent=gradient, beta=2": "1/2", "SimCSE": -1}
}


def test_a_contrast_is_its_weighted_sum_seed_by_seed_and_adjusted_for_the_whole_family(tmp_path):
    frame = open_study(tabled.make(tmp_path, SCORES, contrasts=BY_BETA | MEAN)).planned
    one, noise, two, other, simcse = map(np.array, SCORES.values())
    samples = [one - noise, two - other, (one + two) / 2 - simcse]
    expected = compare(pd.DataFrame(samples, index=[*"abc"]), [{name: 1.0} for name in "abc"])
    found = frame[frame["metric"] == ""]
    names = ["gradient minus noise, beta = 1", "gradient minus noise, beta = 2", "all minus SimCSE"]
    assert found["contrast"].tolist() == names
    for column, values in {
        "mean": [one.mean for one in expected],
        "simultaneous_low": [one.simultaneous.low for one in expected],
        "p_holm": [one.p_holm for one in expected],
    }.items():
        assert found[column].tolist() == pytest.approx(values), column
    assert set(frame["since"]) == {""}
    assert frame["metric"].nunique() == 2, "on every measure"


def test_they_lead_the_answer_the_page_and_the_check(tmp_path, contents):
    folder = tabled.make(tmp_path / "gains", SCORES, contrasts=BY_BETA, baseline="SimCSE")
    comparison = tabled.comparison_of(folder)
    told = answer(contents(folder), comparison).text
    assert told.startswith("Planned: gradient minus noise, beta = 1 is better, +2.90 [")
    assert "; gradient minus noise, beta = 2 is undecided, +0.20 [" in told
    assert "for all 2 at once" in told
    assert "rows compared with SimCSE" not in told
    worse = SCORES | {"beta = 2, ascent = noise": (50.0, 50.5, 51.0, 49.5, 51.0)}
    loses = tabled.make(tmp_path / "loses", worse, contrasts=BY_BETA, baseline="SimCSE")
    told = answer(contents(loses), tabled.comparison_of(loses)).text
    assert told.index("for all 2 at once") < told.index("Of 4 rows compared with SimCSE")
    page = render(contents(folder), comparison)
    assert 'id="section-planned-contrasts"' in page
    assert "Planned contrasts (2) are a family apart" in how_compared(contents(folder), comparison)
    written = {path.name: path for path in write_layouts(comparison, tmp_path / "out")}
    assert "gradient minus noise" in written["tabled-planned.tex"].read_text(encoding="utf-8")
    first = page[page.index('class="first"') : page.index("How this was decided")]
    assert "gradient minus noise, beta = 2" in first


def test_of_many_the_answer_counts_the_verdicts_and_names_the_largest(tmp_path, contents):
    rows = {
        f"r{number}": tuple(60 + number % 3 + 0.1 * seed * number for seed in range(5)) for number in range(5)
    }
    contrasts = {f"{row} minus r0": {row: 1, "r0": -1} for row in rows if row != "r0"}
    folder = tabled.make(tmp_path, rows, contrasts=contrasts)
    told = answer(contents(folder), tabled.comparison_of(folder)).text
    assert told.startswith("Of 4 planned contrasts, 3 are better and 1 is undecided; the largest: ")


@pytest.mark.parametrize("is_late", [True, False])
def test_one_that_is_added_or_changed_when_results_are_there_says_so(tmp_path, contents, is_late):
    plans = [tabled.study_of(SCORES, 5, contrasts=one) for one in (BY_BETA, BY_BETA | MEAN)]
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(plans[0])
        if not is_late:
            ledger.freeze(plans[1], "contrasts added: 1")
        tabled.fill(ledger, SCORES, contrasts=BY_BETA if is_late else BY_BETA | MEAN)
        if is_late:
            ledger.freeze(plans[1], "contrasts added: 1")
    frame = open_study(tmp_path).planned
    since = dict(zip(frame["contrast"], frame["since"], strict=True))
    assert since["gradient minus noise, beta = 1"] == ""
    assert since["all minus SimCSE"] == ("revision 2" if is_late else "")
    told = answer(contents(tmp_path), tabled.comparison_of(tmp_path)).text
    assert (
        "1 of 3 contrasts was entered in the file or changed after there were results (revision 2)." in told
    ) == is_late


def test_one_with_too_few_seeds_and_a_row_that_failed_are_named(tmp_path, contents):
    rows = {
        "A": (63.0, 64.5, 63.5, 62.0),
        "B": (60.0, 61.0, 62.0, 59.0),
        "C": (61.0, 62.0, "failed", "failed"),
    }
    contrasts = {"A minus B": {"A": 1, "B": -1}, "A minus C": {"A": 1, "C": -1}}
    folder = tabled.make(tmp_path, rows, contrasts=contrasts)
    comparison = tabled.comparison_of(folder)
    told = answer(contents(folder), comparison).text
    assert told.startswith("Planned: A minus B is better, +2.75 [")
    assert "fewer than 3 seeds have all their rows: A minus C." in told
    assert "Cells of C failed." in told
    assert "Verdicts follow" in render(contents(folder), comparison), "without a baseline, too"


def test_a_verdict_that_the_exact_test_contradicts_is_suggestive_and_settles_nothing(tmp_path, contents):
    rows = {"A": tuple(60.0 + gain for gain in (0.1, 0.2, 0.1, 0.3, 0.1, 0.2, 0.1, 9.0)), "B": (60.0,) * 8}
    folder = tabled.make(tmp_path, rows, contrasts={"A minus B": {"A": 1, "B": -1}})
    found = answer(contents(folder), tabled.comparison_of(folder))
    assert found.text.startswith("Planned: A minus B is undecided, suggestive, +1.26 [")
    assert not found.shows_difference


def test_a_row_is_found_at_each_value_whatever_the_order_of_axes_and_with_commas_in_texts():
    axes = {"ascent": ("gradient", "noise"), "template": ("[X], a", "[X]")}
    written = {"gradient": 1, "noise": "-1", "by": "template"}
    found = dict(contrasts_of("x", written, (), axes))
    assert list(found) == ["x, template = [X], a", "x, template = [X]"]
    assert found["x, template = [X], a"] == {
        "ascent = gradient, template = [X], a": 1.0,
        "ascent = noise, template = [X], a": -1.0,
    }


def test_without_any_and_before_its_rows_are_planned_nothing_is_said_of_them(tmp_path):
    assert open_study(tabled.make(tmp_path / "plain", SCORES, baseline="SimCSE")).planned.empty
    few = {row: scores for row, scores in SCORES.items() if row != "SimCSE"}
    early = tabled.make(tmp_path / "early", few, contrasts=BY_BETA | MEAN, num_cells=25)
    assert "all minus SimCSE" not in set(open_study(early).planned["contrast"])
