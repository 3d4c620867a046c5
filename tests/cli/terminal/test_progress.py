"""What a study says on a screen while it runs."""

import io

import pytest
from rich.console import Console
from rich.progress import ProgressSample, Task, TaskID

from rse_study.cli.terminal import activity_bars
from rse_study.cli.terminal.activity_bars import ActivityBars, SaidOnce, show_pace
from rse_study.cli.terminal.progress import ProgressBoard
from rse_study.on_ray.queue import Cell, StudyCallback
from rse_study.training.trial import Trial
from tests.cases import cases
from tests.clock import Clock
from tests.heard import Heard


@pytest.fixture
def screen():
    return Console(file=io.StringIO(), width=100)


def cell_of(number, seed=0, **changes):
    return Cell(
        number, seed, f"{number + 2:032x}{seed:032x}", Trial(), {"rho": 0.25, "norm": "l2"}, **changes
    )


def ended_as(cell, status, **changes):
    return cell.record().model_copy(update={"status": status, **changes})


def lines_on(screen):
    return screen.file.getvalue().splitlines()


def test_a_study_is_told_cell_by_cell(screen):
    first, second = cell_of(0), cell_of(1)
    with ProgressBoard(4, num_ended=1, console=screen) as board:
        assert isinstance(board, StudyCallback)
        board.message("search: 3 of 4 cells to run")
        board.started(first)
        board.progressed(first, 0, 60, {"dev": 40.0})
        board.progressed(first, 30, 60, {"loss": 1.5})
        board.progressed(first, 60, 60, {"loss": 1.2, "dev": 61.234})
        board.ended(first, ended_as(first, "complete", duration_s=65.0))
        board.started(second)
        board.lost(second, "its worker was killed")
        board.started(second)
        board.ended(second, ended_as(second, "stopped_early", reason="stopped at step 15 of 60"))
    assert lines_on(screen) == [
        "search: 3 of 4 cells to run",
        "trial 0: started  rho 0.25  norm l2",
        "trial 0: step 0/60  dev 40",
        "trial 0: step 60/60  loss 1.2  dev 61.23",
        "trial 0: complete  dev 61.23  1 min 05 s  [2 of 4]",
        "trial 1: started  rho 0.25  norm l2",
        "trial 1: lost: its worker was killed; tried again",
        "trial 1: started  rho 0.25  norm l2",
        "trial 1: stopped early at step 15 of 60  [3 of 4]",
    ]


def test_cells_are_counted_against_what_the_ledger_still_plans(screen):
    planned, first = iter([7, 3]), cell_of(0)
    with ProgressBoard(9, console=screen, read_planned=lambda: next(planned)) as board:
        board.ended(first, ended_as(first, "complete"))
        board.ended(cell_of(1), ended_as(first, "complete"))
        assert board.summary()[0] == "2 of 3 cells ended"
    assert [line.rpartition("  ")[2] for line in lines_on(screen)] == ["[1 of 7]", "[2 of 3]"]


def test_a_lost_node_is_one_line_however_many_cells_it_had(screen):
    cells = [cell_of(0), cell_of(1)]
    with ProgressBoard(4, console=screen) as board:
        for cell in cells:
            board.started(cell)
        board.node_lost("10.77.0.3", cells)
        board.node_lost("10.77.0.4", [])
    assert lines_on(screen)[2:] == [
        "node 10.77.0.3 was lost; 2 cells are tried again",
        "node 10.77.0.4 was lost",
    ]


def test_a_terminal_shows_a_bar_what_runs_and_the_time_left(monkeypatch):
    monkeypatch.setattr(activity_bars, "PATIENCE_SECONDS", 0.0)
    terminal = Console(file=io.StringIO(), width=160, force_terminal=True, color_system=None)
    first, second = cell_of(0), cell_of(1)
    with ProgressBoard(4, num_ended=1, console=terminal) as board:
        board.started(first)
        board.started(second)
        board.progressed(first, 0, 60, {"dev": 50.0})
        board.progressed(second, 30, 60, {"loss": 1.5})
        board.ended(first, ended_as(first, "complete", duration_s=65.0))
        shown = board.summary()
        board.bars.refresh()
    assert shown[:2] == ["2 of 4 cells ended", "1 running"]
    assert shown[2].startswith("about ")
    assert shown[2].endswith(" left at this pace")
    drawn = terminal.file.getvalue()
    assert [word for word in ("━", "step 30/60  loss 1.5", *shown[:2]) if word not in drawn] == []


def test_the_time_left_counts_what_runs_and_not_how_long_it_took_to_start(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("rse_study.cli.terminal.progress.time.monotonic", lambda: clock[0])
    first, second = cell_of(0), cell_of(1)
    with ProgressBoard(4, console=Console(file=io.StringIO(), width=100)) as board:
        board.started(first)
        board.started(second)
        clock[0] = 300.0  # Ray's workers started
        board.progressed(first, 0, 60, {})
        board.progressed(second, 0, 60, {})
        clock[0] = 340.0
        board.progressed(second, 60, 60, {})
        board.ended(first, ended_as(first, "complete", duration_s=40.0))
        assert board.summary()[2] == "about 40.0 s left at this pace"  # two cells in 40 s, and two to go


def test_what_decides_is_told_beside_the_dev_score(screen):
    cell = cell_of(0)
    metrics = {"loss": 1.2, "dev": 61.234, "robust/spearman": 40.5, "robust/drift": 9.0}
    with ProgressBoard(1, console=screen, objective="robust/spearman") as board:
        board.progressed(cell, 60, 60, metrics)
        board.ended(cell, ended_as(cell, "complete", duration_s=65.0))
    assert lines_on(screen)[-1] == "trial 0: complete  dev 61.23  robust/spearman 40.5  1 min 05 s  [1 of 1]"


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        (cell_of(3), "trial 3"),
        (cell_of(3, 1, stage="confirm"), "trial 3 seed 1 (confirm)"),
        (cell_of(-1, 1, stage="confirm", label="base"), "base seed 1 (confirm)"),
        (cell_of(2, 1, stage="grid", label="SimCSE"), "row SimCSE seed 1"),
        (cell_of(2, 1, stage="grid", row="rho = 0.25, norm = l2"), "row rho = 0.25, norm = l2 seed 1"),
    ],
)
def test_cells_go_by_the_name_of_their_stage(screen, cell, name):
    with ProgressBoard(1, console=screen) as board:
        board.ended(cell, ended_as(cell, "failed", reason="step 3: the loss is nan"))
    assert lines_on(screen) == [f"{name}: failed: step 3: the loss is nan  [1 of 1]"]


def test_cells_that_were_found_have_ended_and_are_no_pace(screen):
    found, cell = [cell_of(0), cell_of(1)], cell_of(2)
    with ProgressBoard(3, console=screen) as board:
        board.cells_found(found)
        board.started(cell)
        board.progressed(cell, 60, 60, {})
        assert board._seconds_left() == 0.0  # two cells that nobody waited for
        board.ended(cell, ended_as(cell, "complete"))
    assert lines_on(screen)[-1] == "trial 2: complete  [3 of 3]"


# Bars: from the third second on, inside the width on a terminal, a line now and then elsewhere.


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
