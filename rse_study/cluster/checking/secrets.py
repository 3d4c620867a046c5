"""Checks that a spec has no secrets, since others read the rendered files."""

import re
from collections.abc import Iterator

from rse_study.cluster.kinds.slurm import SlurmCluster
from rse_study.cluster.spec import ClusterSpec, LauncherCluster
from rse_study.errors import InputError
from rse_study.storage.location import secret_in

NAME = re.compile(r"TOKEN(?!IZER)|SECRET|PASSW|CREDENTIAL|ACCESS_KEY|API_?KEY|PRIVATE_KEY", re.IGNORECASE)
SETTING = re.compile(r"""([A-Za-z_][\w-]*)(?:=|(?<=-token) +|(?<=-password) +)["']?[^\s"'$`;&|(]""")
"""a name with a literal value: a variable of the environment, or the option of a program"""
IN_URL = re.compile(r"://[^/\s:@]*:[^/\s@$]+@")
REFERENCE = re.compile(r"_(PATH|FILE|DIR|NAME)$", re.IGNORECASE)
RULE = "a secret would be in every rendered file"
REMEDIES = {
    "local": "Export it in the shell that starts the cluster",
    "slurm": "Export it in the shell that submits: sbatch hands the environment on",
    "kuberay": "Make a Kubernetes Secret of it, and name that under `secrets`",
    "aws": "Let `instance_profile` give the nodes their rights",
    "gcp": "Let `service_account` give the nodes their rights",
}


def check_secrets(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield a problem for each variable or URL with a secret."""
    remedy = REMEDIES.get(spec.kind, "Put it into a file on the nodes that `activate` reads")
    for name in spec.environment.variables:
        if NAME.search(name) and not REFERENCE.search(name):
            yield InputError(f"environment.variables.{name}", where=where, rule=RULE, remedy=remedy)
    for at, line in _lines(spec):
        named = (found.replace("-", "_") for found in SETTING.findall(line))
        name = next((name for name in named if NAME.search(name) and not REFERENCE.search(name)), "")
        if name or IN_URL.search(line):
            what = f"{at} holds {name or 'a password before @'}"
            yield InputError(what, where=where, rule=RULE, remedy=remedy)
    if secret_in(spec.storage):
        yield InputError("storage holds a key or a password", where=where, rule=RULE, remedy=remedy)


def _lines(spec: ClusterSpec) -> Iterator[tuple[str, str]]:
    """Yield the shell lines and the options of a spec, with their paths."""
    lines = {"environment.activate": spec.environment.activate}
    if isinstance(spec, LauncherCluster):
        lines["setup"] = spec.setup
    if isinstance(spec, SlurmCluster):
        lines["options"] = spec.options
    for at, texts in lines.items():
        yield from ((f"{at}.{index}", text) for index, text in enumerate(texts))
