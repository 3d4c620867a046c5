"""Registry of the kinds of clusters, by the `kind:` in a spec."""

from rse_study.cluster.kinds.clouds import AwsCluster, AzureCluster, GcpCluster
from rse_study.cluster.kinds.kuberay import KuberayCluster
from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.kinds.onprem import OnpremCluster
from rse_study.cluster.kinds.slurm import SlurmCluster
from rse_study.cluster.spec import ClusterSpec

KINDS: dict[str, type[ClusterSpec]] = {
    "local": LocalCluster,
    "onprem": OnpremCluster,
    "slurm": SlurmCluster,
    "kuberay": KuberayCluster,
    "aws": AwsCluster,
    "gcp": GcpCluster,
    "azure": AzureCluster,
}
