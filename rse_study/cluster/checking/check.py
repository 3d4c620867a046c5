"""All problems of a cluster, and of a study on it, reported together."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from rse_study.cluster.checking.secrets import check_secrets
from rse_study.cluster.checking.template import check_template
from rse_study.cluster.job import storage_of
from rse_study.cluster.node_capacity import require_room
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.study_files import check_files
from rse_study.cluster.worker_capacity import nodes_of
from rse_study.errors import InputError
from rse_study.storage.location import is_url
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study
from rse_study.study.definition.resources import Resources


def check_cluster(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield the problems of a cluster itself."""
    yield from check_secrets(spec, where=where)
    yield from check_template(spec, where=where)


def check_study_on(spec: ClusterSpec, checked: CheckedStudy, *, where: str) -> Iterator[InputError]:
    """Yield the reasons why a study cannot run on a cluster."""
    yield from check_resources(spec, checked, where=where)
    yield from check_storage(spec, checked, where=where)
    yield from check_files(spec, checked)


def check_resources(spec: ClusterSpec, checked: CheckedStudy, *, where: str) -> Iterator[InputError]:
    """Yield the reasons why no cell could ever start."""
    for at, resources in resources_by_path(checked.study):
        try:
            require_room(resources, nodes_of(spec))
        except InputError as error:
            what = f"{at} on {where}: {error.what}"
            yield InputError(what, where=checked.where, rule=error.rule, remedy=error.remedy)


def resources_by_path(study: Study) -> Iterator[tuple[str, Resources]]:
    """Yield the cells' resources with their path in the study."""
    yield "resources", study.resources
    if study.confirm is not None and study.confirm.resources is not None:
        yield "confirm.resources", study.confirm.resources


def check_storage(spec: ClusterSpec, checked: CheckedStudy, *, where: str) -> Iterator[InputError]:
    """Yield a problem if a node could not access the study's files."""
    storage = storage_of(checked, spec)
    if spec.kind == "local" or is_url(storage):
        return
    folder, what = (storage, f"storage = {storage!r}") if storage else (spec.store, "storage is not given")
    if not any(PurePosixPath(folder).is_relative_to(shared) for shared in spec.shared_folders):
        rule = f"{folder} is on the disk of one node: no other sees it"
        remedy = "Name a URL (s3://bucket/prefix), or a folder below one of `shared`"
        yield InputError(what, where=where, rule=rule, remedy=remedy)
