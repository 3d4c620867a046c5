"""What Slurm's programs print becomes reports; where they are missing, that is said."""

from pathlib import Path

from rse_study.cluster.job_report import of_study
from rse_study.cluster.slurm_backend import SlurmBackend, reports_in

LINES = """\
17|RUNNING|2|1795347804|1795351404|None|rse-grid-0123456789ab
16|PENDING|1-2|N/A|N/A|Resources|rse-grid-0123456789ab
15|CANCELLED by 1000|2|1795340000|1795343600|None|rse-grid-0123456789ab
14|TIMEOUT|2|1795340000|1795343600|TimeLimit|rse-grid-0123456789ab
13|COMPLETED|2|1795340000|1795343600|None|night|ly
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
    assert reports["15"].hours == 1.0 and reports["15"].num_nodes == 2
    assert reports["16"].reason == "Resources" and reports["16"].num_nodes == 0
    assert reports["13"].submission_id == "night|ly"


def test_jobs_of_others_are_none_of_a_study():
    assert [report.handle for report in of_study(reports_in(LINES), "grid")] == ["15", "14", "17", "16"]


def test_nodes_are_counted_for_as_long_as_jobs_ran():
    ended = [report for report in reports_in(LINES) if report.handle in ("14", "15")]
    (nodes,) = SlurmBackend(Path("/shared")).node_hours(ended)
    assert (nodes.num_nodes, nodes.hours) == (0, 4.0)
