"""Checks that all nodes can access a study's files."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import parse_qs, urlsplit

from rse_study.cluster.job import storage_of
from rse_study.cluster.kinds.clouds import AwsCluster, GcpCluster
from rse_study.cluster.kinds.kuberay import KuberayCluster
from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.kinds.slurm import SlurmCluster
from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError
from rse_study.storage.location import is_url
from rse_study.study.checking.validation import CheckedStudy

REMEDY = "Name a URL (s3://bucket/prefix), or a folder below one of `shared`"


def check_storage(spec: ClusterSpec, checked: CheckedStudy, *, where: str) -> Iterator[InputError]:
    """Yield a problem if a node could not access the study's files."""
    storage = storage_of(checked, spec)
    if isinstance(spec, LocalCluster) or is_url(storage):
        return
    folder, what = (storage, f"storage = {storage!r}") if storage else (spec.store, "storage is not given")
    if any(PurePosixPath(folder).is_relative_to(shared) for shared in shared_folders(spec)):
        return
    rule = f"{folder} is on the disk of one node: no other sees it"
    yield InputError(what, where=where, rule=rule, remedy=REMEDY)


def check_storage_access(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield a problem if nodes lack the right to write to the cluster's storage."""
    url = urlsplit(spec.storage)
    is_own_server = "endpoint_override" in parse_qs(url.query)
    rule = f"without it workers may not write to {spec.storage.partition('?')[0]}"
    if (
        isinstance(spec, AwsCluster)
        and url.scheme == "s3"
        and not is_own_server
        and not spec.instance_profile
    ):
        remedy = "Name an IAM instance profile that may read and write the bucket"
        yield InputError("instance_profile is not given", where=where, rule=rule, remedy=remedy)
    if isinstance(spec, GcpCluster) and url.scheme in ("gs", "gcs") and not spec.service_account:
        remedy = "Name a service account that may read and write the bucket"
        yield InputError("service_account is not given", where=where, rule=rule, remedy=remedy)


def shared_folders(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the folders that all nodes see."""
    if isinstance(spec, SlurmCluster):
        return (*spec.shared, spec.folder)
    if isinstance(spec, KuberayCluster):
        return (*spec.shared, *(volume.path for volume in spec.volumes))
    return spec.shared
