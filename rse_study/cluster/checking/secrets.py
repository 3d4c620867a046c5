"""Checks for secrets in a spec and its template, whose rendered files others read."""

import re
from collections.abc import Iterator

from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.template import read_template
from rse_study.errors import InputError
from rse_study.storage.location import secret_in

NAME = re.compile(r"TOKEN(?!IZER)|SECRET|PASSW|CREDENTIAL|ACCESS_KEY|API_?KEY|PRIVATE_KEY", re.IGNORECASE)
SETTING = re.compile(
    r"""(?:name: *["']?)?([A-Za-z_][\w-]*)"""
    r"""(?:=|["']?,? *\n? *value: *|(?<=-token) +|(?<=-password) +)["']?[^\s"'$`;&|(-]"""
)
"""a name with a literal value: a variable of a shell or a pod, or the option of a program"""
IN_URL = re.compile(r"://[^/\s:@]*:[^/\s@$]+@")
REFERENCE = re.compile(r"_(PATH|FILE|DIR|NAME)$", re.IGNORECASE)
RULE = "a secret would be in every rendered file"
REMEDIES = {
    "local": "Export it in the shell that starts the cluster",
    "slurm": "Export it in the shell that submits: sbatch hands the environment on",
    "kuberay": "Make a Kubernetes Secret of it, and name that under `envFrom`",
    "launcher": "Give the nodes their rights by a profile or a service account, or let them read a file of their own",
}


def check_secrets(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield a problem for each line or URL with a secret."""
    text, remedy = read_template(spec), REMEDIES[spec.kind]
    found = [(one.start(1), one[1].replace("-", "_")) for one in SETTING.finditer(text)]
    named = [(at, name) for at, name in found if NAME.search(name) and not REFERENCE.search(name)]
    for at, name in [*named, *((one.start(), "a password before @") for one in IN_URL.finditer(text))]:
        line = text.count("\n", 0, at) + 1
        yield InputError(f"holds {name}", where=f"{spec.template}:{line}", rule=RULE, remedy=remedy)
    if secret_in(spec.storage):
        yield InputError("storage holds a key or a password", where=where, rule=RULE, remedy=remedy)
