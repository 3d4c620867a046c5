"""Checks of the cells' resources against those of the nodes."""

from collections.abc import Iterator

from rse_study.cluster.node_capacity import has_labels
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.worker_capacity import nodes_of, num_fitting, per_node
from rse_study.errors import InputError
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study
from rse_study.study.definition.resources import Resources


def check_resources(spec: ClusterSpec, checked: CheckedStudy, *, where: str) -> Iterator[InputError]:
    """Yield the reasons why no cell could ever start."""
    for at, resources in resources_by_path(checked.study):
        yield from _of_cells(spec, checked, at, resources, where)


def resources_by_path(study: Study) -> Iterator[tuple[str, Resources]]:
    """Yield the cells' resources with their path in the study."""
    yield "resources", study.resources
    if study.confirm is not None and study.confirm.resources is not None:
        yield "confirm.resources", study.confirm.resources


def _of_cells(
    spec: ClusterSpec, checked: CheckedStudy, at: str, resources: Resources, where: str
) -> Iterator[InputError]:
    study = checked.where or checked.study.name
    has = f"{where} has {_nodes(spec)}"
    if resources.gpus and not any(machine.gpus for _, machine, _, _ in nodes_of(spec)):
        remedy = f"Set {at}.gpus=0, or name nodes with `gpus:` under `workers`"
        yield InputError(f"{at}.gpus = {resources.gpus:g}", where=study, rule=f"{has}: no GPU", remedy=remedy)
        return
    if not any(has_labels(group.labels, resources) for group in spec.workers.values()):
        rule, remedy = f"no node of {where} has these labels", "Give them to a group under `workers`"
        yield InputError(f"{at}.labels = {resources.labels}", where=study, rule=rule, remedy=remedy)
        return
    if not any(per_node(machine, resources, cpus) for _, machine, cpus, _ in nodes_of(spec)):
        needs = f"one worker of a cell needs {_amount(resources)} on one node"
        remedy = f"Lower {at}.threads or gpus, or name larger nodes"
        yield InputError(
            f"{at}.threads = {resources.threads}", where=study, rule=f"{needs}, and {has}", remedy=remedy
        )
        return
    fitting = num_fitting(spec, resources)
    if fitting < resources.workers:
        rule = f"{has}: {fitting} worker{'s' * (fitting != 1)} with {_amount(resources)} each"
        remedy = f"Lower {at}.workers, or raise max_nodes"
        yield InputError(f"{at}.workers = {resources.workers}", where=study, rule=rule, remedy=remedy)


def _amount(resources: Resources) -> str:
    gpus = f" and {resources.gpus:g} GPU{'s' * (resources.gpus > 1)}" if resources.gpus else ""
    return f"{resources.threads} CPU{'s' * (resources.threads > 1)}{gpus}"


def _nodes(spec: ClusterSpec) -> str:
    parts = []
    for name, machine, cpus, count in nodes_of(spec):
        gpus = f" and {machine.gpus} GPU{'s' * (machine.gpus > 1)}" if machine.gpus else ""
        parts.append(
            f"{count} node{'s' * (count > 1)} {name!r} with {cpus} CPU{'s' * (cpus != 1)}{gpus} for trials"
        )
    return ", ".join(parts)
