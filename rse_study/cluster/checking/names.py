"""Checks of names against the rules of external programs."""

import re
from collections.abc import Iterator

from rse_study.cluster.kinds.clouds import CloudCluster
from rse_study.cluster.kinds.kuberay import KuberayCluster
from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
MACHINE = re.compile(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LABEL_RULE = "Kubernetes takes a-z, 0-9 and -, with a letter or digit at both ends, at most 63"
SUBDOMAIN_RULE = "Kubernetes takes a-z, 0-9, - and ., with a letter or digit at both ends"
VALUE_RULE = "a label's value is at most 63 of A-Z, a-z, 0-9, -, _ and ."
MACHINE_RULE = "the cloud's machines are called so: a-z, 0-9 and -, a letter first, at most 40"


def check_names(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield a problem for each name that would be rejected."""
    for at, name, pattern, rule in _names(spec):
        if not pattern.fullmatch(name):
            yield InputError(f"{at} = {name!r}", where=where, rule=rule, remedy=_remedy(name, pattern))


def _names(spec: ClusterSpec) -> Iterator[tuple[str, str, re.Pattern[str], str]]:
    """Yield each name's path, the name, its pattern, and the rule in words."""
    for group, workers in spec.workers.items():
        for key, value in workers.labels.items():
            yield f"workers.{group}.labels.{key}", value, LABEL_VALUE, VALUE_RULE
    if isinstance(spec, KuberayCluster):
        yield from _names_in_kubernetes(spec)
    else:
        for key in spec.environment.variables:
            yield f"environment.variables.{key}", key, VARIABLE, "a shell takes A-Z, a-z, 0-9 and _"
    if isinstance(spec, CloudCluster):
        yield "name", spec.name, MACHINE, MACHINE_RULE


def _names_in_kubernetes(spec: KuberayCluster) -> Iterator[tuple[str, str, re.Pattern[str], str]]:
    yield "name", spec.name, LABEL, LABEL_RULE
    yield "namespace", spec.namespace, LABEL, LABEL_RULE
    for group in spec.workers:
        yield f"workers.{group}", group, LABEL, LABEL_RULE
    yield "token_secret", spec.token_secret, SUBDOMAIN, SUBDOMAIN_RULE
    for index, secret in enumerate(spec.secrets):
        yield f"secrets.{index}", secret, SUBDOMAIN, SUBDOMAIN_RULE
    for index, volume in enumerate(spec.volumes):
        yield f"volumes.{index}.claim", volume.claim, LABEL, LABEL_RULE
    for at in ("service_account", "image_pull_secret", "queue"):
        if getattr(spec, at):
            yield at, getattr(spec, at), SUBDOMAIN, SUBDOMAIN_RULE


def _remedy(name: str, pattern: re.Pattern[str]) -> str:
    near = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].rstrip("-")
    return f"For example: {near}" if near and pattern.fullmatch(near) else "Give it such a name"
