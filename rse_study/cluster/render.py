"""Rendering of the files for a cluster and its job, as a pure function."""

from rse_study.cluster.job import Job, RenderedFile
from rse_study.cluster.kinds.clouds import CloudCluster
from rse_study.cluster.kinds.kuberay import KuberayCluster
from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.kinds.onprem import OnpremCluster
from rse_study.cluster.kinds.slurm import SlurmCluster
from rse_study.cluster.renderers.launcher import render_cloud, render_onprem
from rse_study.cluster.renderers.local_script import render_local
from rse_study.cluster.renderers.rayjob import render_rayjob
from rse_study.cluster.renderers.sbatch import render_sbatch
from rse_study.cluster.spec import ClusterSpec


def render(spec: ClusterSpec, job: Job) -> tuple[RenderedFile, ...]:
    """Return the files for Slurm, Kubernetes, Ray's launcher, or a shell."""
    match spec:
        case SlurmCluster():
            return render_sbatch(spec, job)
        case KuberayCluster():
            return render_rayjob(spec, job)
        case LocalCluster():
            return render_local(spec)
        case OnpremCluster():
            return render_onprem(spec, job)
    assert isinstance(spec, CloudCluster)
    return render_cloud(spec, job)
