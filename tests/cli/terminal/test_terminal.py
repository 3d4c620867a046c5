"""Commands on real terminals of 60, 80 and 200 columns: no line is wider, and NO_COLOR is respected."""

import pytest

from tests.analysis import searched, tabled
from tests.cli.terminal.pseudo_terminal import Scene, on_terminal

pytestmark = pytest.mark.xdist_group("terminal")  # one process plays all scenes
WIDTHS = (60, 80, 200)
COMMAND = """
import runpy, sys
sys.argv = {words!r}
runpy.run_module("rse_study", run_name="__main__")
"""
NAMES = (
    "rho = 0.25, norm = l2, alpha = 1e-05",
    "rho = 0.5, norm = linf, alpha = 1e-05",
    "without weakening masks",
)
TABLE = """
from pathlib import Path
from rse_study.cli.verbs.run import show_table
from rse_study.results.reader import Reader
show_table(Reader(Path("studies/{study}")), "rse-study run {study} --wide, or in the report")
"""
# A study whose cells run, as the driver would tell it; the bars are drawn from the first moment on.
BOARD = """
from types import SimpleNamespace
from rse_study.cli.terminal import activity_bars
from rse_study.cli.terminal.progress import ProgressBoard
from rse_study.results.records import CellRecord
activity_bars.PATIENCE_SECONDS = 0.0
values = {"rho": 0.25, "norm": "linf", "alpha": 1e-5, "beta": 1e-5, "lambda1": 0.0078125, "phi": 0.3}
row = ", ".join(f"{name} = {value}" for name, value in values.items())
fixed = {"seed": 1, "proposal": values, "label": "", "row": row, "continues": False}
stages = ["search", "grid", "confirm"] * 2
cells = [SimpleNamespace(number=n, identity=str(n) * 64, stage=stage, **fixed) for n, stage in enumerate(stages)]
with ProgressBoard(24) as board:
    board.message("a sentence that says something about the study as a whole, and takes more than sixty columns")
    board.advanced("asset tiny: masked-LM steps", 30, 1500, "loss 5.41")
    for cell in cells:
        board.started(cell)
        board.progressed(cell, 30, 6000, {"loss": 1.2345, "dev": 61.2345})
        board.bars.refresh()
    for cell in cells:
        record = CellRecord(identity=cell.identity, trial=cell.number, seed=1, config={}, status="complete")
        board.ended(cell, record.model_copy(update={"duration_s": 65.0}))
        board.bars.refresh()
"""


COMMANDS = {
    "check eight": "rse-study check eight --out tables",
    "status eight": "rse-study check eight",
    "status joint": "rse-study",
    "studies": "rse-study plan STUDY",
    "data list": "rse-study data",
    f"compare|eight:{NAMES[0]}|eight:{NAMES[1]}": "rse-study report eight",
}
"""What each says to do next; words with spaces in them stand between bars."""


def command(line, columns):
    return Scene(COMMAND.format(words=["rse-study", *line.split("|" if "|" in line else " ")]), columns)


SCENES = {
    **{(line, columns): command(line, columns) for line in COMMANDS for columns in (60, 200)},
    **{
        (name, width): Scene(TABLE.format(study=name), width)
        for name in ("eight", "joint")
        for width in WIDTHS
    },
    **{("board", columns): Scene(BOARD, columns) for columns in WIDTHS},
    "dumb": Scene(BOARD.replace("board.bars.refresh()", "pass"), 80, {"TERM": "dumb"}),
    "wide": command("check eight --wide", 60),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A grid of eight seeds and a search over eight axes."""
    root = tmp_path_factory.mktemp("terminal")
    rows = {name: [60.0 + 3 * n + seed * 7 % 5 for seed in range(8)] for n, name in enumerate(NAMES)}
    tabled.make(root / "studies" / "eight", rows, name="eight", baseline=NAMES[-1])
    searched.make(root / "studies" / "joint", searched.search, searched.baselines, searched.confirm)
    return root


@pytest.fixture(scope="module")
def played(store):
    """What stood on the terminal in each scene; every one ended well, and `check` of rows of no paper with 3."""
    found = dict(zip(SCENES, on_terminal([*SCENES.values()], store), strict=True))
    unasked = {("check eight", 60), ("check eight", 200), "wide"}
    assert {
        scene: ended.lines for scene, ended in found.items() if ended.code != 3 * (scene in unasked)
    } == {}
    return found


@pytest.mark.parametrize("line", COMMANDS, ids=lambda line: line.split("|")[0])
def test_no_line_of_an_answer_is_wider_and_the_next_step_is_said(played, line):
    for columns in (60, 200):
        ended = played[line, columns]
        assert ended.wider_than(columns) == []
        (at,) = (number for number, text in enumerate(ended.lines) if text.startswith("Next: "))
        assert " ".join(" ".join(ended.lines[at:]).split()).startswith(f"Next: {COMMANDS[line]}")


@pytest.mark.parametrize("study", ["eight", "joint"])
def test_the_table_of_a_run_leaves_columns_out_before_it_wraps(played, study):
    for columns in WIDTHS:
        ended = played[study, columns]
        assert ended.wider_than(columns) == []
        text = " ".join(" ".join(ended.lines).split())
        assert ("not shown: " in text) == (columns < 200)
        if columns < 200:
            assert text.endswith(f"see them with rse-study run {study} --wide, or in the report")


def test_every_column_is_there_where_it_is_asked_for_and_where_there_is_no_terminal(
    played, store, rse, monkeypatch
):
    assert "not shown" not in played["wide"].raw
    monkeypatch.chdir(store)
    piped = rse("check", "eight")
    assert "not shown" not in piped.out
    assert [line.rstrip() for line in piped.out.splitlines()][1] in played["wide"].lines


def test_a_running_study_is_drawn_inside_the_width(played):
    for columns in WIDTHS:
        ended = played["board", columns]
        assert ended.wider_than(columns) == []
        assert "[6 of 24]" in ended.raw
        assert "0 of 24 cells" in ended.raw
        assert "30/1,500" in ended.raw


def test_nothing_is_coloured_and_no_color_respected(played):
    assert [scene for scene, ended in played.items() if ended.is_coloured] == []


def test_a_terminal_that_cannot_draw_gets_plain_lines(played):
    ended = played["dumb"]
    assert "\x1b[" not in ended.raw
    assert sum(": started" in line for line in ended.lines) == 6
