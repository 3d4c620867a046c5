"""What of a shipped cluster is an example, which each user has to replace."""

from rse_study.cluster.reading import read_cluster, shipped_clusters
from rse_study.cluster.spec import ClusterSpec

KEYS = ("image", "storage", "folder", "instance_profile", "project", "service_account")
"""names of others' accounts, registries and disks; a kind has some of them"""
REAL = ("local",)
"""kinds whose shipped cluster runs as it is"""


def kept_examples(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the keys at which a cluster is still as the shipped one of its kind."""
    if spec.kind in REAL:
        return ()
    shipped = (read_cluster(name) for name in shipped_clusters())
    (example,) = (other for other in shipped if other.kind == spec.kind)
    return tuple(
        key for key in KEYS if getattr(spec, key, "") and getattr(spec, key) == getattr(example, key)
    )
