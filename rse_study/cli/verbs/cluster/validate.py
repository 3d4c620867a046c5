"""The body of `cluster validate`: every problem at once, or what the cluster is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from rse_study.cli import parameters
from rse_study.cli.arguments.paths import study_file
from rse_study.cli.terminal.screen import announce, command, suggest, with_overrides
from rse_study.cluster.checking.batch_options import check_option_names
from rse_study.cluster.checking.check import check_cluster, check_study_on
from rse_study.cluster.checking.examples import kept_examples
from rse_study.cluster.checking.resources import resources_by_path
from rse_study.cluster.job import Job, job_of, sample_job
from rse_study.cluster.price import describe_price
from rse_study.cluster.reading import cluster_file, read_cluster
from rse_study.cluster.render import render
from rse_study.cluster.renderers.rayjob import JOB_FILE
from rse_study.cluster.renderers.sbatch import FILE_NAME
from rse_study.cluster.spec import ClusterSpec, LauncherCluster
from rse_study.cluster.wheel import wheel_of_this_version
from rse_study.errors import InputError, InputErrors
from rse_study.study.checking.validation import CheckedStudy, read_study
from rse_study.study.definition.content import read_content
from rse_study.yaml12 import parse_yaml

T = TypeVar("T")
OUT = "job"
DRY_RUNS = {
    "slurm": f"sbatch --test-only {OUT}/{FILE_NAME}",
    "kuberay": f"kubectl apply --dry-run=server -f {OUT}/{JOB_FILE}",
}
"""by which Slurm and Kubernetes read what is rendered, and run nothing"""


@dataclass
class Findings:
    """Problems and notes collected so far."""

    problems: list[InputError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def attempt(self, call: Callable[[], T]) -> T | None:
        """Return what a call returns; keep the problems it raises, and return None then."""
        try:
            return call()
        except InputErrors as error:
            self.problems += error.problems
        except InputError as error:
            self.problems.append(error)
        return None


def validate_cluster(
    cluster: parameters.ClusterArgument,
    study: parameters.OptionalStudyArgument = "",
    overrides: parameters.Overrides = None,
) -> None:
    """Report every problem of a cluster, and of a study on it.

    Works offline: checks the spec, what the study needs from it, and a launcher's file with Ray's own validators; for
    Slurm and KubeRay, names their own dry run. Exit code 2, with a line for each problem.
    """
    findings, overrides = Findings(), overrides or []
    spec = findings.attempt(lambda: read_cluster(cluster))
    checked = findings.attempt(lambda: read_study(study_file(study), overrides)) if study else None
    if spec is not None:
        where = str(cluster_file(cluster))
        findings.problems += [
            *check_cluster(spec, where=where),
            *check_option_names(spec, where=where),
        ]
        examples = ", ".join(kept_examples(spec))
        if examples:
            findings.notes.append(f"warning: {examples}: still the placeholder of the shipped example")
        if checked is not None:
            findings.problems += check_study_on(spec, checked, where=where)
            findings.notes += _unused(spec, checked)
        job = _job(spec, checked, study, overrides)
        files = findings.attempt(lambda: render(spec, job)) or ()
        if isinstance(spec, LauncherCluster):
            from rse_study.on_ray.nodes.launcher_check import check_launcher_file

            for file in files:
                findings.problems += check_launcher_file(parse_yaml(file.text, where=where), where=where)
                findings.notes.append(f"{file.name}: checked by Ray's validators and against its schema")
    if findings.problems:
        raise InputErrors(findings.problems)
    assert spec is not None
    announce(f"{spec.name}: valid. {describe_price(spec)}")
    for note in findings.notes:
        announce(note)
    words = (cluster, study or "STUDY", *with_overrides(overrides))
    if spec.kind in DRY_RUNS:
        suggest(command("cluster", "render", *words, "--out", OUT), DRY_RUNS[spec.kind])
    else:
        suggest(command("cluster", "submit", *words, "--dry-run"))


def _unused(spec: ClusterSpec, checked: CheckedStudy) -> list[str]:
    has_gpus = any(group.gpus for group in spec.workers.values())
    if not has_gpus or any(resources.gpus for _, resources in resources_by_path(checked.study)):
        return []
    return [f"warning: {checked.study.name} uses no GPU, but the GPUs of {spec.name} cost money"]


def _job(spec: ClusterSpec, checked: CheckedStudy | None, study: str, overrides: Sequence[str]) -> Job:
    wheel = wheel_of_this_version()
    if checked is None:
        return sample_job(spec, wheel)
    return job_of(checked, read_content(study_file(study), overrides), spec, wheel)
