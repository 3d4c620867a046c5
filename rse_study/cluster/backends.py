"""Choice of the backend for each kind of cluster."""

from pathlib import Path

from rse_study.cluster.backend import Backend
from rse_study.cluster.kinds.kuberay import KuberayCluster
from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.kinds.slurm import SlurmCluster
from rse_study.cluster.kuberay_backend import KubeRayBackend
from rse_study.cluster.launcher_backend import LauncherBackend
from rse_study.cluster.local_backend import LocalBackend
from rse_study.cluster.slurm_backend import SlurmBackend
from rse_study.cluster.spec import ClusterSpec, LauncherCluster


def backend_of(spec: ClusterSpec, home: Path) -> Backend:
    """Return the backend of a cluster, whose local files are in `home`."""
    home = home.absolute()
    match spec:
        case SlurmCluster():
            return SlurmBackend(Path(spec.folder))
        case KuberayCluster():
            return KubeRayBackend(home, spec.namespace)
        case LocalCluster():
            return LocalBackend(home, spec)
    assert isinstance(spec, LauncherCluster)
    return LauncherBackend(home, spec)
