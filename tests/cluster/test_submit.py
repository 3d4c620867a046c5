"""A study becomes a job named by its question, submitted once, and again where it ended before its end."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from rse_study.cli.arguments import study_file
from rse_study.cluster import submit as module
from rse_study.cluster.job import Job, JobReport, JobState, SubmissionRecord, yaml_text
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.submit import read_job, submit_job
from rse_study.errors import InputError
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.content import read_content
from rse_study.study.definition.shipped import shipped_studies
from rse_study.yaml12 import parse_yaml
from tests.cases import cases
from tests.cluster.samples import WHEEL, job_on, shipped

SPEC = shipped("local")
JOB = job_on(SPEC, "grid")
ID = JOB.submission_id


@pytest.fixture(autouse=True)
def wheel(monkeypatch):
    """A small one: to pack the real one takes a second."""
    monkeypatch.setattr(module, "wheel_of_this_version", lambda: WHEEL)


def job(*overrides, cluster="local", study="joint"):
    return read_job(shipped(cluster), study_file(study), overrides)


MISREAD = {"a": "off", "b": "1e-5", "c": 1e-5, "d": "1/128", "e": "two\nlines\n", "f": None}


@cases("content", [MISREAD, *map(read_content, shipped_studies())], ids=lambda content: str(content)[:60])
def test_the_studys_text_reads_back_as_the_resolved_study(content):
    assert parse_yaml(yaml_text(content), where="") == content


def test_the_studys_text_needs_no_other_file(tmp_path):
    path = study_file("mini_robust")
    (tmp_path / "study.yaml").write_text(job(study="mini_robust").study_yaml, encoding="utf-8")
    assert "extends" in path.read_text(encoding="utf-8")
    assert read_study(tmp_path / "study.yaml").study == read_study(path).study


def test_the_same_question_has_the_same_name_and_another_another():
    name = job().submission_id
    assert name == job("resources.max_concurrent=1", "allowance.price_per_hour=2").submission_id
    for override in ("confirm.seeds=[3]", "num_trials=6", "base.batch_size=16", "search_seed=1"):
        assert job(override).submission_id != name, override


def test_storage_and_price_of_the_cluster_are_in_the_studys_file_unless_it_has_its_own():
    there = job(cluster="aws-gpu")
    content = parse_yaml(there.study_yaml, where="")
    assert content["storage"] == "s3://my-bucket/rse-study?region=us-east-1"
    assert "s3://" not in " ".join(there.options)
    assert content["allowance"] == {"price_per_hour": 0.115625}
    own = job("allowance.price_per_hour=3", cluster="aws-gpu")
    assert parse_yaml(own.study_yaml, where="")["allowance"] == {"price_per_hour": 3}
    assert "storage" not in job().study_yaml


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
        handle = str(len(self.known) + 1)
        self.known.append(JobReport(job.submission_id, handle, "running", "RUNNING", started=1.0))
        return handle

    def becomes(self, state: JobState) -> None:
        """Have the newest job end so."""
        self.known[-1] = replace(self.known[-1], state=state, native=state.upper(), ended=2.0)


@pytest.fixture
def cluster(tmp_path: Path) -> MemoryCluster:
    return MemoryCluster(tmp_path / "home")


def submit(cluster: MemoryCluster, job: Job = JOB) -> str:
    return submit_job(cluster, job, print)


def test_a_study_that_runs_or_ended_well_is_left_alone_with_its_files_and_record(cluster):
    assert submit(cluster) == f"submitted {ID} (job 1)"
    assert submit(cluster) == f"nothing to do: {ID} (job 1) is running (RUNNING)"
    cluster.becomes("complete")
    assert submit(cluster) == f"nothing to do: {ID} (job 1) has completed (COMPLETE)"
    names = {path.name for path in (cluster.home / ID).iterdir()}
    assert names == {"cluster.sh", "study.yaml", JOB.wheel.name}
    assert (cluster.home / ID / JOB.wheel.name).read_bytes() == JOB.wheel.content
    assert SubmissionRecord.read(cluster.home, "grid") == SubmissionRecord("grid", "", "studies", 0)


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
    seen = SubmissionRecord.read(cluster.home, "grid").with_reports([cluster.known[1]])
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
