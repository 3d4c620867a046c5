import math

import pandas as pd

from analysis.formats import (
    counted,
    decimals_of,
    join_words,
    show_duration,
    show_measured,
    show_number,
    show_power,
    show_signed,
    show_time,
    show_value,
)
from tests.cases import cases

DURATIONS = [(0, ""), (3.21, "3.2 s"), (245, "4 min 05 s"), (7800, "2 h 10 min"), (3599.7, "1 h 00 min")]
VALUES = [(1e-5, "1e-05"), (0.123456, "0.123"), (12, "12"), ("linf", "linf"), (None, ""), (pd.NA, "")]
SIGNED = [(1.25, "+1.25"), (-0.5, "\N{MINUS SIGN}0.50"), (0.001, "0.00"), (-0.001, "0.00"), (math.nan, "")]
SHOWN = {show_duration: DURATIONS, show_value: [*VALUES, (True, "True")], show_signed: SIGNED}


@cases(("show", "value", "text"), [(show, *one) for show, table in SHOWN.items() for one in table])
def test_durations_values_and_differences_are_readable(show, value, text):
    assert show(value) == text


def test_numbers_words_times_and_collapsed_scores_are_readable():
    assert [show_number(1.23456), show_number(1.23456, 4), show_number(math.nan)] == ["1.23", "1.2346", ""]
    assert [join_words(words) for words in ([], [1], "ab", "abc")] == ["", "1", "a and b", "a, b and c"]
    assert [counted(1, "seed"), counted(0, "seed")] == ["1 seed", "0 seeds"]
    assert show_time("2026-03-01T10:02:03+00:00") == "2026-03-01 10:02:03"
    assert show_measured(71.234, 2, False) == "71.23"
    assert show_measured(0.0, 2, True) == "0.00 \N{DAGGER}"
    assert show_measured(math.nan, 2, True) == "undefined \N{DAGGER}"
    assert show_measured(math.nan, 2, False) == ""


def test_distances_have_more_decimals_than_percentages():
    for metric in ("geometry/alignment", "geometry/uniformity", "replayed/drift"):
        assert decimals_of(f"STS-B/{metric}", fine=4) == 4, metric
    assert decimals_of("MR/fast/accuracy", fine=4) == 2


def test_a_difference_that_can_be_resolved_is_never_shown_as_nothing():
    shown = [show_power(value, "effect of {} points") for value in (0.483, 0.00312)]
    ends = "would be found in 4 of 5 such studies."
    assert shown == [f"a true effect of 0.48 points {ends}", f"a true effect of 0.003 points {ends}"]
    for value in (0.0, 1e-15, math.nan):
        assert show_power(value, "effect of {}").startswith("the differences do not vary over seeds")
