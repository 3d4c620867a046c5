"""kill -9 of the process that writes: every transaction is there as a whole or not at all."""

import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from rse_study.results.reader import Reader

NUM_METRICS, NUM_POINTS = 6, 40
WRITE = f"""
import sys
from itertools import count
from pathlib import Path
from rse_study.results.files.ledger import Ledger
from rse_study.results.records import CellRecord, EvaluationRow, RungRow
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.results.files.result_file import Point, Result

points = [(t, {{f"metric{{i}}": float(t) for i in range({NUM_METRICS})}}) for t in range({NUM_POINTS})]
with Ledger.open(Path(sys.argv[1])) as ledger:
    for number in count():
        study = StudyRecord(name="s", objective=ObjectiveRecord(metric="metric0"), num_cells=number + 1)
        ledger.freeze(study, "one more")
        cell = CellRecord(identity=f"{{number:04x}}" * 16, trial=number, seed=0, config={{"n": number}})
        ledger.plan([cell])
        ledger.start(cell.identity, executor="inline", workers=1, threads=1)
        for t, metrics in points:
            ledger.record_progress(cell.identity, t, metrics)
            print("point", flush=True)
        ledger.record_rung(RungRow(cell=cell.identity, t=1, value=1.0, verdict="continue"))
        history = tuple(Point(t=t, metrics=metrics) for t, metrics in points)
        ledger.record_result(Result(identity=cell.identity, seed=0, config=cell.config, history=history))
        print("result", flush=True)
        row = EvaluationRow(subject=cell.identity, task="pairs", split="a", value=1.0, num_examples=1)
        ledger.record_evaluations([row.model_copy(update={{"split": split}}) for split in "abc"])
        print("scores", flush=True)
"""


@pytest.mark.parametrize("num_lines", [7, NUM_POINTS, NUM_POINTS + 1, 3 * NUM_POINTS + 11, 5 * NUM_POINTS])
def test_no_half_transaction_is_left(tmp_path, num_lines):
    seen = run_and_kill(tmp_path, num_lines)
    with sqlite3.connect(tmp_path / "ledger.sqlite") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        points = db.execute("SELECT cell, t, count(*) FROM metric GROUP BY cell, t").fetchall()
        assert {number for _, _, number in points} == {NUM_METRICS}
        scores = db.execute("SELECT count(*) FROM evaluation GROUP BY subject").fetchall()
        assert {number for (number,) in scores} <= {3}
    with Reader(tmp_path) as reader:
        cells, attempts = reader.cells().set_index("identity"), reader.attempts().set_index("cell")
        assert len(reader.revisions()) in (len(cells), len(cells) + 1)
    num_points = Counter(cell for cell, _, _ in points)
    for identity, cell in cells.iterrows():
        if cell["status"] != "planned":
            assert attempts.loc[identity, "outcome"] == cell["status"]
        if cell["status"] == "complete":
            assert num_points[identity] == NUM_POINTS
    # What was committed before the kill is there: under WAL a process that dies takes nothing with it.
    assert len(points) >= seen["point"]
    assert list(cells["status"]).count("complete") >= seen["result"]
    assert len(scores) >= seen["scores"]


def run_and_kill(study_dir: Path, num_lines: int) -> Counter:
    """Kill the writer after so many lines; how many of each kind were seen."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITE, str(study_dir)], stdout=subprocess.PIPE, text=True
    ) as writer:
        seen = Counter(writer.stdout.readline().strip() for _ in range(num_lines))
        writer.kill()
    return seen
