"""Cloud machines, which Ray's launcher starts and terminates."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from rse_study.cluster.machines import Count, Machine, Word, WorkerGroup
from rse_study.cluster.spec import LauncherCluster
from rse_study.spec import Spec, field


class Instance(Spec):
    """A machine of a cloud."""

    instance: Word = field(min_length=1)
    """type of the machine, as the cloud calls it"""
    disk_gb: Count = field(150, gt=0)


class CloudHead(Machine, Instance):
    """The head's machine: on demand, for it must not be taken away."""


class CloudGroup(WorkerGroup, Instance):
    """Machines of one type."""

    spot: bool = True
    """cheaper, and taken away at any time: what is lost is one attempt at its cells"""


class GcpGroup(CloudGroup):
    """Machines of one type, with GPUs that Google Cloud attaches."""

    accelerator: Word = ""
    """type of the GPUs (`nvidia-tesla-t4`) where the machine's type does not say it itself"""


class CloudCluster(LauncherCluster):
    """A head on demand, workers that come with the work and go without it."""

    head: CloudHead
    workers: Annotated[Mapping[str, CloudGroup], Field(min_length=1)]
    region: Word = field(min_length=1)
    zone: Word = ""
    """empty: any of the region"""

    def fewest_nodes(self, group: WorkerGroup) -> int:
        return group.min_nodes


class AwsCluster(CloudCluster):
    """Amazon EC2."""

    kind: Literal["aws"]
    image: str = field(pattern=r"^(ami-[0-9a-f]+|resolve:ssm:.+)$")
    """AMI with drivers for the GPUs, of the region"""
    instance_profile: Word = ""
    """IAM instance profile by which nodes may read and write the storage; empty: Ray's own"""


class GcpCluster(CloudCluster):
    """Google Compute Engine."""

    kind: Literal["gcp"]
    workers: Annotated[Mapping[str, GcpGroup], Field(min_length=1)]
    zone: Word = field(min_length=1)
    project: Word = field(min_length=1)
    image: Word = field(min_length=1)
    """projects/.../global/images/family/... with drivers for the GPUs"""
    service_account: Word = ""
    """by which nodes may read and write the storage; empty: Ray's own"""


class AzureImage(Spec):
    """An image of Azure's marketplace."""

    publisher: Word = field(min_length=1)
    offer: Word = field(min_length=1)
    sku: Word = field(min_length=1)
    version: Word = "latest"


class AzureCluster(CloudCluster):
    """Azure virtual machines. `region` is its location."""

    kind: Literal["azure"]
    resource_group: Word = field(min_length=1)
    image: AzureImage
    ssh_public_key: str = "~/.ssh/id_rsa.pub"
    """to `ssh_key`, where one is named"""
