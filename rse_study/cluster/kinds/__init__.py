"""The registry of clusters: every kind by its name, as `kind:` of a spec says it."""

from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.kinds.slurm import SlurmCluster
from rse_study.cluster.spec import ClusterSpec

KINDS: dict[str, type[ClusterSpec]] = {
    "local": LocalCluster,
    "slurm": SlurmCluster,
}
