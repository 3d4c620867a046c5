"""Placeholders in shipped clusters, which users have to replace."""

from rse_study.cluster.reading import read_cluster, shipped_clusters
from rse_study.cluster.spec import ClusterSpec

KEYS = ("image", "storage", "folder", "instance_profile", "project", "service_account")
"""keys that name accounts, registries and disks; not every kind has all of them"""
REAL = ("local",)
"""kinds whose shipped cluster needs no change"""


def kept_examples(spec: ClusterSpec) -> tuple[str, ...]:
    """Return the keys that still have the value of the shipped cluster of this kind."""
    if spec.kind in REAL:
        return ()
    shipped = (read_cluster(name) for name in shipped_clusters())
    (example,) = (other for other in shipped if other.kind == spec.kind)
    return tuple(
        key for key in KEYS if getattr(spec, key, "") and getattr(spec, key) == getattr(example, key)
    )
