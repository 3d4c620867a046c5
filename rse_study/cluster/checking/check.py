"""All problems of a cluster, and of a study on it, reported together."""

from collections.abc import Iterator

from rse_study.cluster.checking.batch_options import check_batch_options
from rse_study.cluster.checking.files import check_files
from rse_study.cluster.checking.names import check_names
from rse_study.cluster.checking.resources import check_resources
from rse_study.cluster.checking.secrets import check_secrets
from rse_study.cluster.checking.shell_lines import check_shell_lines
from rse_study.cluster.checking.storage import check_storage, check_storage_access
from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError
from rse_study.study.checking.validation import CheckedStudy


def check_cluster(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield the problems of a cluster itself."""
    yield from check_names(spec, where=where)
    yield from check_secrets(spec, where=where)
    yield from check_storage_access(spec, where=where)
    yield from check_batch_options(spec, where=where)
    yield from check_shell_lines(spec, where=where)


def check_study_on(spec: ClusterSpec, checked: CheckedStudy, *, where: str) -> Iterator[InputError]:
    """Yield the reasons why a study cannot run on a cluster."""
    yield from check_resources(spec, checked, where=where)
    yield from check_storage(spec, checked, where=where)
    yield from check_files(checked)
