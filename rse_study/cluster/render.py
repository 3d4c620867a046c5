"""The files of a cluster and of a job on it: one pure function for all kinds."""

from rse_study.cluster.job import Job
from rse_study.cluster.kinds.local import LocalCluster
from rse_study.cluster.kinds.slurm import SlurmCluster
from rse_study.cluster.rendered import RenderedFile
from rse_study.cluster.renderers.local_script import render_local
from rse_study.cluster.renderers.sbatch import render_sbatch
from rse_study.cluster.spec import ClusterSpec


def render(spec: ClusterSpec, job: Job | None) -> tuple[RenderedFile, ...]:
    """Return what is handed to Slurm, to Kubernetes, to Ray's launcher, or to a shell.

    Without a job: the files of the cluster alone, which Slurm and KubeRay do not have.
    """
    if isinstance(spec, LocalCluster):
        return render_local(spec)
    if isinstance(spec, SlurmCluster) and job is not None:
        return render_sbatch(spec, job)
    return ()
