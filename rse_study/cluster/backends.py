"""Choice of the backend by the kind of a cluster's template."""

from pathlib import Path

from rse_study.cluster.backend import Backend
from rse_study.cluster.job import sample_job
from rse_study.cluster.kuberay_backend import KubeRayBackend
from rse_study.cluster.launcher_backend import LauncherBackend
from rse_study.cluster.local_backend import LocalBackend
from rse_study.cluster.render import metadata_of
from rse_study.cluster.slurm_backend import SlurmBackend
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.template import filled_template


def backend_of(spec: ClusterSpec, home: Path) -> Backend:
    """Return the backend of a cluster, whose local files are in `home`."""
    home = home.absolute()
    if spec.kind == "slurm":
        return SlurmBackend(Path(spec.folder))
    if spec.kind == "local":
        return LocalBackend(home, spec)
    if spec.kind == "launcher":
        return LauncherBackend(home, spec)
    text = filled_template(spec, sample_job(spec))
    return KubeRayBackend(home, metadata_of(text, where=spec.template)["namespace"])
