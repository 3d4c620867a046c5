"""A study is submitted once, and again only where its job ended before its end."""

import dataclasses
from pathlib import Path

import pytest

from rse_study.cluster.job import Job
from rse_study.cluster.reading import read_cluster
from rse_study.cluster.submission_record import read_record
from rse_study.cluster.submit import submit_job
from rse_study.cluster.wheel import Wheel
from rse_study.errors import InputError
from tests.cluster.memory_cluster import MemoryCluster

SPEC = read_cluster("local")
JOB = Job(
    "grid", "rse-grid-0123456789ab", "name: grid\n", "", ("python",), Wheel("a-1-py3-none-any.whl", b"wheel")
)
AGAIN = "rse-grid-0123456789ab-2"


@pytest.fixture
def cluster(tmp_path: Path) -> MemoryCluster:
    return MemoryCluster(tmp_path / "home")


def submit(cluster: MemoryCluster, job: Job = JOB):
    return submit_job(SPEC, cluster, job, cluster.folder, print)


def test_a_study_that_runs_or_ended_well_is_left_alone(cluster):
    assert submit(cluster).is_new
    second = submit(cluster)
    assert not second.is_new and second.earlier.state == "running"
    cluster.becomes("complete")
    assert not submit(cluster).is_new
    assert len(cluster.known) == 1


@pytest.mark.parametrize("end", ["failed", "stopped"])
def test_a_job_that_ended_early_is_submitted_under_another_id(cluster, end):
    submit(cluster)
    cluster.becomes(end)
    again = submit(cluster)
    assert again.is_new and again.submission_id == AGAIN and again.earlier.state == end
    cluster.becomes(end)
    assert submit(cluster).submission_id == "rse-grid-0123456789ab-3"


def test_an_id_that_may_be_used_again_stays_the_same(cluster):
    cluster.reuses_ids = True
    submit(cluster)
    cluster.becomes("failed")
    assert submit(cluster).submission_id == JOB.submission_id


def test_a_study_has_one_driver_at_a_time(cluster):
    submit(cluster)
    edited = dataclasses.replace(JOB, submission_id="rse-grid-ba9876543210")
    with pytest.raises(
        InputError, match="from another version of its file: a study has one driver at a time"
    ):
        submit(cluster, edited)
    cluster.becomes("stopped")
    assert submit(cluster, edited).submission_id == "rse-grid-ba9876543210"


def test_files_and_record_are_written(cluster):
    submit(cluster)
    names = {path.name for path in (cluster.folder / JOB.submission_id).iterdir()}
    assert names == {"cluster.sh", "study.yaml", "a-1-py3-none-any.whl"}
    record = read_record(cluster.folder, "grid")
    assert record is not None
    assert (record.study, record.store, record.price_per_hour) == ("grid", "studies", 0)


def test_jobs_that_the_cluster_forgets_stay_on_record(cluster):
    submit(cluster)
    cluster.becomes("failed")
    submit(cluster)
    record = read_record(cluster.folder, "grid")
    assert record is not None
    seen = record.with_reports([cluster.known[1]])
    assert [(each.handle, each.state) for each in seen.reports] == [("1", "failed"), ("2", "running")]


def test_a_job_that_ran_when_its_cluster_went_is_over(cluster):
    submit(cluster)
    record = read_record(cluster.folder, "grid")
    assert record is not None
    gone = record.with_reports(cluster.known).with_reports([])
    (report,) = gone.reports
    assert (report.state, report.native) == ("stopped", "GONE")
    assert gone.with_reports([]).reports == gone.reports, "it ended once"


def test_a_damaged_record_is_named(cluster):
    submit(cluster)
    file = cluster.folder / "grid.json"
    file.write_text(file.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    with pytest.raises(InputError, match=r"grid\.json: damaged: .*Move it away"):
        read_record(cluster.folder, "grid")


def test_a_folder_that_cannot_be_written_is_named(cluster):
    cluster.folder.parent.mkdir(parents=True, exist_ok=True)
    cluster.folder.write_text("a file", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        submit(cluster)
