"""The bodies of `cluster init`, `render`, `validate`, which contact no cluster."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from rse_study.cli import parameters
from rse_study.cli.arguments import require_folder, study_file
from rse_study.cli.terminal.screen import announce, command, suggest, with_overrides
from rse_study.cluster.check import placeholders_of, problems_of, resources_by_path
from rse_study.cluster.job import sample_job
from rse_study.cluster.node_capacity import describe_price
from rse_study.cluster.spec import KINDS, ClusterSpec, cluster_file, read_cluster
from rse_study.cluster.submit import read_job, write_job
from rse_study.cluster.template import FILES, render
from rse_study.errors import InputError, InputErrors
from rse_study.study.checking.validation import CheckedStudy, read_study
from rse_study.yaml12 import parse_yaml

T = TypeVar("T")
MOST_CHARACTERS = 20_000  # of a file on the screen: a manifest may hold a whole wheel
OUT = "job"
DRY_RUNS = {
    "slurm": f"sbatch --test-only {OUT}/{FILES['slurm']}",
    "kuberay": f"kubectl apply --dry-run=server -f {OUT}/{FILES['kuberay']}",
}
"""by which Slurm and Kubernetes read what is rendered, and run nothing"""


def write_cluster(
    shipped: Annotated[str, typer.Argument(metavar="SHIPPED", help="A shipped cluster: slurm, kuberay ...")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new cluster's name.")],
) -> None:
    """Copy a shipped cluster, NAME.yaml and its template, into this folder."""
    require_folder(Path(), where="this folder:")
    spec = read_cluster(shipped, [f"name={name}"])
    template = Path(spec.template)
    copy = name + next(end for end in KINDS if template.name.endswith(end))
    text = cluster_file(shipped).read_text(encoding="utf-8").replace(template.name, copy)
    text = re.sub(r"^name: .*$", f"name: {name}", text, flags=re.MULTILINE)
    contents = {Path(f"{name}.yaml"): text, Path(copy): template.read_text(encoding="utf-8")}
    for path in filter(Path.exists, contents):
        rule, remedy = "nothing is overwritten", "Choose another name, or remove it"
        raise InputError("already exists", where=str(path), rule=rule, remedy=remedy)
    for path, text in contents.items():
        path.write_text(text, encoding="utf-8")
    announce(f"{name}.yaml: nodes, prices, places. {copy}: everything else")
    if examples := ", ".join(placeholders_of(spec)):
        announce(f"replace in them: {examples}")
    suggest(command("cluster", "validate", name, "STUDY"))


def render_cluster(
    cluster: parameters.ClusterArgument,
    study: parameters.StudyArgument,
    overrides: parameters.Overrides = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the files here, with everything the job needs.")
    ] = None,
) -> None:
    """Print what Slurm, KubeRay or Ray's launcher would be given.

    Contacts no cluster.
    """
    spec, overrides = read_cluster(cluster), overrides or []
    job = read_job(spec, study_file(study), overrides)
    if out is None:
        print("\n".join(shown_files(render(spec, job), Path())), flush=True)
        return
    for path in write_job(spec, job, out):
        print(path)
    suggest(command("cluster", "submit", cluster, study, *with_overrides(overrides)))


def shown_files(files: dict[str, str], folder: Path) -> Iterator[str]:
    """Yield every file with its name, cut if it is too long for a screen."""
    for name, text in files.items():
        yield f"# ---- {folder / name}\n{text[:MOST_CHARACTERS]}"
        if len(text) > MOST_CHARACTERS:
            yield f"... {len(text):,} characters in all: --out DIR writes them\n"


def validate_cluster(
    cluster: parameters.ClusterArgument,
    study: parameters.OptionalStudyArgument = "",
    overrides: parameters.Overrides = None,
) -> None:
    """Report every problem of a cluster, and of a study on it.

    Works offline: checks the spec, its template, what the study needs from them, and a launcher's file with Ray's own
    validators; for Slurm and KubeRay, names their own dry run. Exit code 2, with a line for each problem.
    """
    problems: list[InputError] = []
    spec = _attempt(lambda: read_cluster(cluster), problems)
    checked = _attempt(lambda: read_study(study_file(study), overrides or []), problems) if study else None
    if spec is None:
        raise InputErrors(problems)
    problems += problems_of(spec, checked, where=str(cluster_file(cluster)))
    if spec.kind == "launcher" and not problems:
        from rse_study.on_ray.nodes.launcher_check import check_launcher_file

        (text,) = render(spec, sample_job(spec)).values()
        problems += check_launcher_file(parse_yaml(text, where=spec.template), where=spec.template)
    if problems:
        raise InputErrors(problems)
    announce(f"{spec.name}: valid. {describe_price(spec)}")
    for note in _notes(spec, checked):
        announce(note)
    words = (cluster, study or "STUDY", *with_overrides(overrides or []))
    if spec.kind in DRY_RUNS:
        suggest(command("cluster", "render", *words, "--out", OUT), DRY_RUNS[spec.kind])
    else:
        suggest(command("cluster", "submit", *words, "--dry-run"))


def _attempt(call: Callable[[], T], problems: list[InputError]) -> T | None:
    """Return what a call returns; collect the problems it raises, and return None then."""
    try:
        return call()
    except InputError as error:
        problems += error.problems if isinstance(error, InputErrors) else [error]
    return None


def _notes(spec: ClusterSpec, checked: CheckedStudy | None) -> Iterator[str]:
    if examples := ", ".join(placeholders_of(spec)):
        yield f"warning: {examples}: still the placeholder of the shipped example"
    has_gpus = any(group.gpus for group in spec.workers.values())
    if checked and has_gpus and not any(one.gpus for one in resources_by_path(checked.study).values()):
        yield f"warning: {checked.study.name} uses no GPU, but the GPUs of {spec.name} cost money"
    if spec.kind == "launcher":
        yield f"{FILES[spec.kind]}: checked by Ray's validators and against its schema"
