"""A study on a cluster, as the verbs of `cluster` name it, and its jobs there."""

from dataclasses import dataclass
from pathlib import Path

from rse_study.cli.arguments.paths import name_in, study_file
from rse_study.cluster.backend import Backend
from rse_study.cluster.backends import backend_of
from rse_study.cluster.job_report import JobReport, of_study
from rse_study.cluster.reading import read_cluster
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.submission_record import SubmissionRecord, cluster_home, read_record, write_record
from rse_study.errors import InputError
from rse_study.study.definition.shipped import shipped_studies

WORDS = {
    "waiting": "is waiting to start",
    "running": "is running",
    "complete": "has completed",
    "failed": "failed",
    "stopped": "was stopped",
}


@dataclass(frozen=True)
class StudyOnCluster:
    """A study on a cluster, with its jobs."""

    spec: ClusterSpec
    backend: Backend
    study: str
    """its name"""
    jobs: list[JobReport]
    """oldest first, with those that the cluster has forgotten"""
    record: SubmissionRecord | None


def study_on_cluster(given: str, study: str, store: Path) -> StudyOnCluster:
    """Ask a cluster for a study's jobs; raise InputError where it has none."""
    spec = read_cluster(given)
    home = cluster_home(store, spec.name)
    backend, name = backend_of(spec, home), study_name(study)
    jobs, record = of_study(backend.jobs(), name), read_record(home, name)
    if record is not None:
        record = record.with_reports(jobs)
        write_record(home, record)
        jobs = of_study(record.reports, name)
    if not jobs:
        remedy = f"Submit it: rse-study cluster submit {given} {study}"
        raise InputError(f"no job of study {name!r} on {spec.name}", where="STUDY", remedy=remedy)
    return StudyOnCluster(spec, backend, name, jobs, record)


def study_name(study: str) -> str:
    """Return the name of the study a user means, whether its file is here or not."""
    is_file = Path(study).suffix in (".yaml", ".yml")
    if is_file or study.replace("-", "_") in {path.stem for path in shipped_studies()}:
        return name_in(study_file(study))
    return study


def show_job(report: JobReport) -> str:
    """Describe the state of a job, after its name."""
    word = WORDS[report.state]
    return f"{word} ({report.native}{f': {report.reason}' if report.reason else ''})"
