"""Checks of a template: what it leaves out of the spec, and what bash cannot read."""

import re
import shutil
import subprocess
from collections.abc import Iterator

from rse_study.cluster.job import sample_job
from rse_study.cluster.render import render
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.template import read_template
from rse_study.errors import InputError, InputErrors
from rse_study.yaml12 import parse_yaml

COMMENT = re.compile(r"^\s*#(?!SBATCH|!).*", re.MULTILINE)
GPUS = re.compile(r"^#SBATCH .*(gpu|gres|tres)", re.MULTILINE)
COMMANDS = ("setup_commands", "head_start_ray_commands", "worker_start_ray_commands")
PLACEHOLDERS = re.compile(
    r"/shared/rse-study|my-bucket|my-project|ami-0123456789abcdef0|[\w./-]*\bexample\.com|192\.168\.0\.1\d"
)
"""accounts, registries, disks and machines of the shipped files"""


def check_template(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield the problems of a template that is filled in for a sample job."""
    text = COMMENT.sub("", read_template(spec))
    for name, group in spec.workers.items():
        at = f"workers.{name}"
        needed = [f"{at}.{key}" for key in ("gpus", "labels") if getattr(group, key)]
        for what in needed if f"@{{{at}." in text else [f"{at}.cpus"]:
            if f"@{{{what}" not in text:
                remedy = f"Use it there, as @{{{what}}}, or remove it here"
                yield InputError(what, where=where, rule="the template does not use it", remedy=remedy)
        if group.gpus and spec.kind == "slurm" and not GPUS.search(text):
            rule = "no #SBATCH line of the template asks for GPUs"
            remedy = "Take the first # from ##SBATCH --gpus-per-node, or --gres"
            yield InputError(f"{at}.gpus", where=where, rule=rule, remedy=remedy)
    try:
        (*_, file) = render(spec, sample_job(spec))
        texts = [file.text] if spec.kind in ("slurm", "local") else []
        if spec.kind == "launcher":
            content = parse_yaml(file.text, where=spec.template)
            texts = [str(line) for key in COMMANDS for line in content.get(key) or ()]
    except InputErrors as error:
        yield from error.problems
        return
    except InputError as error:
        yield error
        return
    for said in filter(None, map(_syntax_error, texts)):
        remedy = "Correct it: `bash -n` reads it without running it"
        yield InputError(said, where=spec.template, rule="bash cannot read it", remedy=remedy)


def placeholders_of(spec: ClusterSpec) -> list[str]:
    """Return the examples of shipped files that a spec and its template still have."""
    texts = [COMMENT.sub("", read_template(spec)), spec.storage, spec.folder]
    return list(dict.fromkeys(match[0] for text in texts for match in PLACEHOLDERS.finditer(text)))


def _syntax_error(text: str) -> str:
    """Return the first syntax error that bash sees; empty without one or without bash."""
    bash = shutil.which("bash")
    if bash is None:
        return ""
    read = subprocess.run([bash, "-n"], input=text, text=True, capture_output=True, check=False)
    return read.stderr.strip().splitlines()[0].removeprefix(f"{bash}: ") if read.returncode else ""
