"""An activity as one line inside the width."""

from dataclasses import replace

import pytest
from rich.cells import cell_len

from rse_study.cli.terminal.activity_lines import Activity, bar_line, end_line

STEPS = Activity("asset tiny: masked-LM steps", 0.0, 0, 300, 1500, "loss 5.41")


@pytest.mark.parametrize("columns", [200, 100, 80, 60, 40, 30])
def test_a_bar_is_inside_the_width_with_its_count(columns):
    line = bar_line(STEPS, 7.5, columns)
    assert cell_len(line) <= columns
    assert "300/1,500" in line


def test_what_there_is_no_room_for_is_left_out_in_turn():
    assert bar_line(STEPS, 7.5, 110) == (
        f"asset tiny: masked-LM steps  {'━' * 6}{'╌' * 24}  300/1,500  40/s  30 s left  loss 5.41"
    )
    assert bar_line(STEPS, 7.5, 80).endswith("300/1,500  40/s  30 s left")
    assert "━" in bar_line(STEPS, 7.5, 80)
    assert "━" not in bar_line(STEPS, 7.5, 50)
    assert bar_line(STEPS, 7.5, 38).endswith("  300/1,500  30 s left")


def test_a_terminal_without_other_characters_gets_ascii():
    bar_line(STEPS, 7.5, 110, ascii_only=True).encode("ascii")


@pytest.mark.parametrize(
    ("done", "seconds", "rate"), [(300, 7.5, "40/s"), (6, 60.0, "6.0/min"), (1, 1800.0, "2.0/h")]
)
def test_a_rate_is_in_the_unit_that_suits_it(done, seconds, rate):
    assert f"  {rate}" in bar_line(Activity("x", 0.0, 0, done, 100), seconds, 120)


def test_what_was_done_before_is_no_part_of_the_pace():
    goes_on = Activity("inputs attacked", 0.0, 900, 910, 1000)
    assert (goes_on.pace(10.0), goes_on.seconds_left(10.0)) == (1.0, 90.0)


def test_the_time_left_leaves_out_how_long_the_first_took():
    """Ray's workers start once: 60 s for the first of 48, then one a second."""
    started = Activity("evaluated", 0.0, 0, 1, 48, first=(60.0, 1))
    assert started.seconds_left(60.0) == 0.0
    assert replace(started, done=11).seconds_left(70.0) == pytest.approx(37.0)


def test_end_lines_stay_inside_the_width():
    ended = Activity(
        "a name that is longer than what anybody would call anything", 0.0, 0, 1500, 1500, "loss 5.41"
    )
    assert cell_len(end_line(ended, 60.0, 60)) <= 60
