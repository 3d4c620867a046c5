"""The body of `cluster validate`: every problem at once, or what the cluster is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from rse_study.cli import parameters
from rse_study.cli.arguments.study import study_file
from rse_study.cli.terminal.next_step import command, suggest, with_overrides
from rse_study.cli.terminal.screen import announce
from rse_study.cluster.checking.check import check_cluster, check_study_on, resources_by_path
from rse_study.cluster.checking.template import placeholders_of
from rse_study.cluster.job import sample_job
from rse_study.cluster.price import describe_price
from rse_study.cluster.reading import cluster_file, read_cluster
from rse_study.cluster.render import FILES, render
from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError, InputErrors
from rse_study.study.checking.validation import CheckedStudy, read_study
from rse_study.yaml12 import parse_yaml

T = TypeVar("T")
OUT = "job"
DRY_RUNS = {
    "slurm": f"sbatch --test-only {OUT}/{FILES['slurm']}",
    "kuberay": f"kubectl apply --dry-run=server -f {OUT}/{FILES['kuberay']}",
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

    Works offline: checks the spec, its template, what the study needs from them, and a launcher's file with Ray's own
    validators; for Slurm and KubeRay, names their own dry run. Exit code 2, with a line for each problem.
    """
    findings, overrides = Findings(), overrides or []
    spec = findings.attempt(lambda: read_cluster(cluster))
    checked = findings.attempt(lambda: read_study(study_file(study), overrides)) if study else None
    if spec is not None:
        where = str(cluster_file(cluster))
        findings.problems += check_cluster(spec, where=where)
        if examples := ", ".join(placeholders_of(spec)):
            findings.notes.append(f"warning: {examples}: still the placeholder of the shipped example")
        if checked is not None:
            findings.problems += check_study_on(spec, checked, where=where)
            findings.notes += _unused(spec, checked)
        if spec.kind == "launcher" and not findings.problems:
            from rse_study.on_ray.nodes.launcher_check import check_launcher_file

            (file,), where = render(spec, sample_job(spec)), spec.template
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
