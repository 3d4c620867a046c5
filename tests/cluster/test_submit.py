"""A study is submitted once, and again only where its job ended before its end."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from rse_study.cluster.job import Job, JobReport, JobState, SubmissionRecord
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.submit import submit_job
from rse_study.errors import InputError
from tests.cluster.samples import job_on, shipped

SPEC = shipped("local")
JOB = job_on(SPEC, "grid")
ID = JOB.submission_id


@dataclass
class MemoryCluster:
    """A cluster that is a list: a test says what becomes of its jobs."""

    home: Path
    spec: ClusterSpec = SPEC
    reuses_ids: bool = False
    known: list[JobReport] = field(default_factory=list)

    def folder_of(self, submission_id: str) -> Path:
        return self.home / submission_id

    def jobs(self) -> list[JobReport]:
        return list(self.known)

    def submit(self, job: Job) -> str:
        self.known.append(
            JobReport(job.submission_id, str(len(self.known) + 1), "running", "RUNNING", started=1.0)
        )
        return self.known[-1].handle

    def becomes(self, state: JobState) -> None:
        """Have the newest job end so."""
        self.known[-1] = replace(self.known[-1], state=state, native=state.upper(), ended=2.0)


@pytest.fixture
def cluster(tmp_path: Path) -> MemoryCluster:
    return MemoryCluster(tmp_path / "home")


def submit(cluster: MemoryCluster, job: Job = JOB) -> str:
    return submit_job(cluster, job, print)


def record(cluster: MemoryCluster) -> SubmissionRecord:
    found = SubmissionRecord.read(cluster.home, "grid")
    assert found is not None
    return found


def test_a_study_that_runs_or_ended_well_is_left_alone_with_its_files_and_record(cluster):
    assert submit(cluster) == f"submitted {ID} (job 1)"
    assert submit(cluster) == f"nothing to do: {ID} (job 1) is running (RUNNING)"
    cluster.becomes("complete")
    assert submit(cluster) == f"nothing to do: {ID} (job 1) has completed (COMPLETE)"
    names = {path.name for path in (cluster.home / ID).iterdir()}
    assert names == {"cluster.sh", "study.yaml", JOB.wheel.name}
    assert (cluster.home / ID / JOB.wheel.name).read_bytes() == JOB.wheel.content
    assert record(cluster) == SubmissionRecord("grid", "", "studies", 0)


def test_a_job_that_ended_early_is_submitted_under_another_id_unless_that_may_be_used_again(cluster):
    submit(cluster)
    cluster.becomes("failed")
    resumed = "the earlier one failed (FAILED), and this one resumes it"
    assert submit(cluster) == f"submitted {ID}-2 (job 2); {resumed}"
    cluster.becomes("stopped")
    assert submit(cluster).startswith(f"submitted {ID}-3 (job 3); the earlier one was stopped")
    cluster.becomes("failed")
    cluster.reuses_ids = True
    assert submit(cluster) == f"submitted {ID} (job 4); {resumed}"


def test_a_study_has_one_driver_at_a_time(cluster):
    submit(cluster)
    edition = replace(JOB, submission_id="rse-grid-ba9876543210")
    with pytest.raises(InputError, match="another version of its file: a study has one driver at a time"):
        submit(cluster, edition)
    cluster.becomes("stopped")
    assert submit(cluster, edition).startswith("submitted rse-grid-ba9876543210 (job 2)")


def test_jobs_that_the_cluster_forgets_stay_on_record_and_are_over(cluster):
    submit(cluster)
    cluster.becomes("failed")
    submit(cluster)
    seen = record(cluster).with_reports([cluster.known[1]])
    assert [(each.handle, each.state) for each in seen.reports] == [("1", "failed"), ("2", "running")]
    gone = seen.with_reports([])
    assert [(each.state, each.native) for each in gone.reports] == [("failed", "FAILED"), ("stopped", "GONE")]
    assert gone.with_reports([]).reports == gone.reports, "it ended once"


def test_a_damaged_record_and_a_folder_that_cannot_be_written_are_named(cluster):
    cluster.home.mkdir()
    (cluster.home / "grid.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"grid\.json: damaged: .*Move it away"):
        submit(cluster)
    cluster.home = cluster.home / "grid.json"
    with pytest.raises(InputError, match="cannot be written"):
        submit(MemoryCluster(cluster.home))
