"""Bars: from the third second on, inside the width on a terminal, a line now and then elsewhere."""

import io

import pytest
from rich.console import Console
from rich.progress import ProgressSample, Task, TaskID

from rse_study.cli.terminal import activity_bars
from rse_study.cli.terminal.activity_bars import ActivityBars, SaidOnce, show_pace
from tests.cases import cases
from tests.clock import Clock
from tests.heard import Heard


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(activity_bars, "time", made)
    return made


@pytest.fixture
def log():
    """No terminal."""
    return Console(file=io.StringIO(), width=80)


def lines_of(console):
    return console.file.getvalue().splitlines()


def test_what_is_short_leaves_no_trace(log, clock):
    with ActivityBars(log) as bars:
        for done in range(101):
            bars.advanced("texts", done, 100)
            clock.now += 0.05
    assert lines_of(log) == []


def test_elsewhere_a_line_comes_every_ten_seconds_and_one_at_the_end(log, clock):
    with ActivityBars(log) as bars:
        for done in range(101):
            bars.advanced("texts", done, 100, "loss 1.5")
            clock.now += 0.31
    assert lines_of(log) == [
        "texts: 33/100  21 s left  3.2/s  loss 1.5",
        "texts: 66/100  11 s left  3.2/s  loss 1.5",
        "texts: 99/100  1 s left  3.2/s  loss 1.5",
        "texts: 100 in 31 s  3.2/s  loss 1.5",
    ]


@cases(("seconds", "pace"), [(0.25, "40/s"), (100.0, "6.0/min"), (18_000.0, "2.0/h")])
def test_a_pace_is_in_the_unit_that_suits_it_and_leaves_out_how_long_the_first_took(clock, seconds, pace):
    task = Task(TaskID(0), "texts", 100, 0, _get_time=clock.monotonic)
    task.start_time = 0.0
    task._progress.extend(ProgressSample(60.0 + n * seconds, 10.0) for n in range(3))
    assert show_pace(task) == pace


def test_a_failure_is_no_end(log, clock):
    def fail():
        with ActivityBars(log) as bars:
            bars.advanced("texts", 1, 10)
            clock.now += 60
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert lines_of(log) == []


def test_what_several_trials_share_is_said_once():
    heard = Heard()
    once = SaidOnce(heard)
    for text in ("corpus: 500 sentences", "corpus: 500 sentences", "another"):
        once.message(text)
    once.advanced("steps", 1, 2)
    assert heard.messages == ["corpus: 500 sentences", "another"]
    assert heard.activities == [("steps", 1, 2)]
