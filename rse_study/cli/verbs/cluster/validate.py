"""The body of `cluster validate`: every problem at once, or what the cluster is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from rse_study.cli.arguments.study import study_file
from rse_study.cli.terminal.next_step import command, suggest, with_overrides
from rse_study.cli.terminal.screen import announce
from rse_study.cluster.checking.batch_script import check_batch_script
from rse_study.cluster.checking.check import check_cluster, check_study_on
from rse_study.cluster.checking.crd import check_manifest, read_schema
from rse_study.cluster.checking.examples import kept_examples
from rse_study.cluster.checking.resources import resources_by_path
from rse_study.cluster.checking.shell_syntax import check_commands, check_shell
from rse_study.cluster.job import Job, job_of, sample_job
from rse_study.cluster.kinds.kuberay import KuberayCluster
from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.kinds.slurm import SlurmCluster
from rse_study.cluster.price import describe_price
from rse_study.cluster.reading import cluster_file, read_cluster
from rse_study.cluster.render import render
from rse_study.cluster.rendered import RenderedFile
from rse_study.cluster.renderers.rayjob import JOB_FILE
from rse_study.cluster.spec import ClusterSpec, LauncherCluster
from rse_study.cluster.wheel import wheel_of_this_version
from rse_study.data.location import data_dir
from rse_study.errors import InputError, InputErrors
from rse_study.study.checking.validation import CheckedStudy, read_content, read_study
from rse_study.yaml12 import parse_yaml

T = TypeVar("T")
SCHEMA_FILE = "kuberay/rayjob-v1-schema.json.gz"
"""below the data folder"""


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


def validate_cluster(given: str, study: str, overrides: Sequence[str], schema: Path | None) -> None:
    """Print what a cluster is; raise InputErrors with all that is wrong with it.

    `schema` is RayJob v1's; by default the one in the data folder, if it is there.
    """
    findings = Findings()
    spec = findings.attempt(lambda: read_cluster(given))
    checked = findings.attempt(lambda: read_study(study_file(study), overrides)) if study else None
    if spec is not None:
        where = str(cluster_file(given))
        findings.problems += check_cluster(spec, where=where)
        examples = ", ".join(kept_examples(spec))
        if examples:
            findings.notes.append(f"warning: {examples}: as in the shipped example, which is nobody's")
        if checked is not None:
            findings.problems += check_study_on(spec, checked, where=where)
            findings.notes += _unused(spec, checked)
        job = _job(spec, checked, study, overrides)
        files = findings.attempt(lambda: render(spec, job)) or ()
        for file in files:
            findings.attempt(lambda file=file: _check_file(spec, file, findings, schema, where))  # type: ignore[misc]
    if findings.problems:
        raise InputErrors(findings.problems)
    assert spec is not None
    announce(f"{spec.name}: valid. {describe_price(spec)}")
    for note in findings.notes:
        announce(note)
    words = (given, study or "STUDY", *with_overrides(overrides))
    suggest(command("cluster", "submit", *words, "--dry-run"))


def _unused(spec: ClusterSpec, checked: CheckedStudy) -> list[str]:
    has_gpus = any(group.gpus for group in spec.workers.values())
    if not has_gpus or any(resources.gpus for _, resources in resources_by_path(checked.study)):
        return []
    return [f"warning: {checked.study.name} uses no GPU, and the GPUs of {spec.name} are paid for"]


def _job(spec: ClusterSpec, checked: CheckedStudy | None, study: str, overrides: Sequence[str]) -> Job:
    wheel = wheel_of_this_version()
    if checked is None:
        return sample_job(spec, wheel)
    return job_of(checked, read_content(study_file(study), overrides), spec, wheel)


def _check_file(
    spec: ClusterSpec, file: RenderedFile, findings: Findings, schema: Path | None, where: str
) -> None:
    """Read a rendered file as its reader will."""
    if isinstance(spec, SlurmCluster):
        findings.problems += check_batch_script(file.text, where=where)
        findings.notes.append(f"{file.name}: read by bash, its directives known to sbatch 22.05")
    elif isinstance(spec, LocalCluster):
        findings.problems += check_shell(file.text, where=where)
        findings.notes.append(f"{file.name}: read by bash")
    elif isinstance(spec, LauncherCluster):
        from rse_study.on_ray.nodes.launcher_check import check_launcher_file

        content = parse_yaml(file.text, where=where)
        findings.problems += [
            *check_launcher_file(content, where=where),
            *check_commands(content, where=where),
        ]
        findings.notes.append(
            f"{file.name}: read by Ray's validators and against its schema, its commands by bash"
        )
    elif isinstance(spec, KuberayCluster) and file.name == JOB_FILE:
        findings.problems += _against_schema(file, findings, schema, where)


def _against_schema(
    file: RenderedFile, findings: Findings, schema: Path | None, where: str
) -> Iterator[InputError]:
    path = schema or data_dir() / SCHEMA_FILE
    if schema is None and not path.is_file():
        how = "--schema FILE does it (kubectl get crd rayjobs.ray.io -o json > FILE)"
        findings.notes.append(f"{file.name}: NOT read against KubeRay's schema, which is not here; {how}")
        return
    yield from check_manifest(parse_yaml(file.text, where=where), read_schema(path), where=where)
    findings.notes.append(f"{file.name}: read strictly against KubeRay's schema, {path}")
