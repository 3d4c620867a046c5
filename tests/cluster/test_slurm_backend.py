"""What Slurm's programs print becomes reports; where they are missing, that is said."""

from pathlib import Path

import pytest

from rse_study.cluster import slurm_backend
from rse_study.cluster.job_report import of_study
from rse_study.cluster.slurm_backend import SlurmBackend, print_log, reports_in
from rse_study.errors import MissingFile

LINES = """\
17|RUNNING|1795347804|1795351404|None|rse-grid-0123456789ab
16|PENDING|N/A|N/A|Resources|rse-grid-0123456789ab
15|CANCELLED by 1000|1795340000|1795343600|None|rse-grid-0123456789ab
14|TIMEOUT|1795340000|1795343600|TimeLimit|rse-grid-0123456789ab
13|COMPLETED|1795340000|1795343600|None|night|ly
"""


def test_states_are_said_in_our_words():
    reports = {report.handle: report for report in reports_in(LINES)}
    assert {handle: report.state for handle, report in reports.items()} == {
        "17": "running",
        "16": "waiting",
        "15": "stopped",
        "14": "failed",
        "13": "complete",
    }
    assert reports["17"].ended is None and reports["17"].started == 1795347804
    assert reports["15"].hours == 1.0
    assert reports["16"].reason == "Resources"
    assert reports["13"].submission_id == "night|ly"


def test_jobs_of_others_are_none_of_a_study():
    assert [report.handle for report in of_study(reports_in(LINES), "grid")] == ["15", "14", "17", "16"]


def test_the_script_of_a_job_that_runs_is_signalled_and_one_that_waits_is_cancelled():
    commands = SlurmBackend(Path("/shared")).ending(list(reports_in(LINES)), is_last=True)
    assert commands == [("scancel", "--batch", "--signal=TERM", "17"), ("scancel", "16")]


def test_what_is_written_while_we_ask_is_printed(tmp_path: Path, capsys, monkeypatch):
    monkeypatch.setattr(slurm_backend, "LOOK_SECONDS", 0.0)
    log, answers = tmp_path / "job.log", iter([False, False, True])
    log.write_text("first\n", encoding="utf-8")

    def is_over() -> bool:
        answer = next(answers)
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"asked, {answer}\n")
        return answer

    print_log(log, is_over)
    assert capsys.readouterr().out.splitlines() == ["first", "asked, False", "asked, False", "asked, True"]


def test_a_job_without_a_log_is_said(tmp_path: Path):
    with pytest.raises(MissingFile, match="no log: the job has written nothing"):
        print_log(tmp_path / "job.log", lambda: True)
