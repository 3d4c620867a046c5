"""A RayJob of KubeRay: a cluster on Kubernetes that lives as long as its job."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from rse_study.cluster.machines import Count, Machine, Word, WorkerGroup
from rse_study.cluster.spec import ClusterSpec
from rse_study.spec import Spec, field

FILES = "/rse/job"
"""mount point of the study and the wheel in a pod"""
SUBMISSION_MODES = Literal["K8sJobMode", "HTTPMode", "SidecarMode"]


class Toleration(Spec):
    """A taint that a pod accepts, in Kubernetes' own words."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""
    tolerationSeconds: int | None = None  # noqa: N815 (Kubernetes' name)


class Pod(Spec):
    """Where Kubernetes may put a pod."""

    node_selector: dict[str, str] = Field(default_factory=dict)
    """labels of the machines"""
    tolerations: tuple[Toleration, ...] = ()
    """taints it accepts: those of preemptible machines"""


class KubeHead(Machine, Pod):
    """The head's pod. Select machines that are not preempted for it."""


class KubeGroup(WorkerGroup, Pod):
    """Pods of one kind; on preemptible machines, where a taint or a label says so."""

    gpu_resource: Word = "nvidia.com/gpu"
    """how Kubernetes calls the GPUs"""


class VolumeClaim(Spec):
    """A persistent volume claim that every pod mounts."""

    claim: str = field(min_length=1)
    path: str = field(pattern="^/.*")
    """folder in the pods"""


class KuberayCluster(ClusterSpec):
    """Pods on Kubernetes, made for one job by KubeRay's operator (1.5.1 or newer)."""

    kind: Literal["kuberay"]
    head: KubeHead
    workers: Annotated[Mapping[str, KubeGroup], Field(min_length=1)]
    image: Word = field(min_length=1)
    """with Python, Ray of `ray_version` and our dependencies; the code itself comes with the job"""
    ray_version: str = field("2.60.0", pattern=r"^\d+\.\d+\.\d+$")
    namespace: str = "default"
    store: str = "/tmp/rse-study/studies"
    """folder of the driver's ledgers, in the head's pod"""
    token_secret: str = field(min_length=1)
    """Secret with the token under the key `auth_token`"""
    secrets: tuple[str, ...] = ()
    """Secrets whose keys become variables of every pod: the storage's credentials"""
    volumes: tuple[VolumeClaim, ...] = ()
    service_account: str = ""
    image_pull_secret: str = ""
    queue: str = ""
    """of Kueue; the job starts suspended, with all its nodes, and Kueue lets it go"""
    submission_mode: SUBMISSION_MODES = "K8sJobMode"
    attempts: Count = 2
    """new clusters, where one has failed as a whole"""
    keep_seconds: Count = 600
    """how long the ended job stays to be looked at; its nodes go at once"""
    ship_code: bool = True
    """off: the image has the code of this version, which is too large for a ConfigMap (1 MiB)"""

    def fewest_nodes(self, group: WorkerGroup) -> int:
        """Return the number of idle pods; under Kueue a job neither grows nor shrinks."""
        return group.max_nodes if self.queue else group.min_nodes

    @property
    def study_path(self) -> str:
        return f"{FILES}/study.yaml"
