"""Syntax checks of a spec's shell lines by bash, without running them."""

import shutil
import subprocess
from collections.abc import Iterator

from rse_study.cluster.spec import ClusterSpec, LauncherCluster
from rse_study.errors import InputError


def check_shell_lines(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield bash's syntax errors in `activate` and `setup`, if this machine has bash."""
    lines, is_launcher = spec.environment.activate, isinstance(spec, LauncherCluster)
    activate = " && ".join([*lines, "true"]) if is_launcher else "\n".join(lines)
    texts = {"environment.activate": activate} if lines else {}
    if isinstance(spec, LauncherCluster):
        texts |= {f"setup.{index}": line for index, line in enumerate(spec.setup)}
    for at, text in texts.items():
        if said := syntax_error(text):
            remedy = "Correct it: `bash -n` reads it without running it"
            yield InputError(f"{at}: {said}", where=where, rule="bash cannot read it", remedy=remedy)


def syntax_error(text: str) -> str:
    """Return the first syntax error that bash sees; empty without one or without bash."""
    bash = shutil.which("bash")
    if bash is None:
        return ""
    read = subprocess.run([bash, "-n"], input=text, text=True, capture_output=True, check=False)
    return read.stderr.strip().splitlines()[0].removeprefix(f"{bash}: ") if read.returncode else ""
