"""Checks that a spec has no secrets, since others read the rendered files."""

import re
from collections.abc import Iterator

from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError
from rse_study.storage.location import secret_in

NAME = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|ACCESS_KEY|API_?KEY|PRIVATE_KEY", re.IGNORECASE)
REFERENCE = re.compile(r"_(PATH|FILE|DIR|NAME)$", re.IGNORECASE)
RULE = "a secret would stand in every rendered file"
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
    if secret_in(spec.storage):
        yield InputError("storage holds a key or a password", where=where, rule=RULE, remedy=remedy)
