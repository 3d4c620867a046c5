"""The fields that all kinds of clusters share."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from rse_study.cluster.machines import Environment, Limits, Machine, Word, WorkerGroup
from rse_study.spec import Spec, field

DRIVER_RESOURCE = "rse_driver"
"""resource of the head alone, reserved by drivers and waiting tasks, not CPUs"""
NUM_DRIVERS = 1000
STUDY_FILE = "study.yaml"


class ClusterSpec(Spec):
    """Where a study runs; a subclass for each `kind`.

    The head holds the driver and offers no CPU to trials; the workers run them.
    """

    kind: str
    name: str = field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=40)
    """the cluster's own name"""
    head: Machine
    workers: Annotated[Mapping[str, WorkerGroup], Field(min_length=1)]
    """kinds of worker nodes, by name"""
    storage: str = ""
    """where studies that name no storage keep their files: a URL, or a folder that all nodes see"""
    shared: tuple[str, ...] = ()
    """folders that all nodes see under the same path"""
    store: str = field("studies", min_length=1)
    """folder of the driver's ledgers, on the head's own disk; a relative one is below the job's folder"""
    environment: Environment = Environment()
    limits: Limits = Limits()

    @property
    def study_path(self) -> str:
        return STUDY_FILE

    def fewest_nodes(self, group: WorkerGroup) -> int:
        return group.max_nodes


class LauncherCluster(ClusterSpec):
    """A cluster that Ray's own launcher (`ray up`) starts by ssh."""

    store: str = field("/tmp/rse-study/studies", min_length=1)
    """folder of the driver's ledgers, on the head's own disk"""
    ssh_user: Word = field("ubuntu", min_length=1)
    ssh_key: str = ""
    """private key; empty: Ray's, or ssh's own choice"""
    token: str = field("~/.ray/auth_token", min_length=1)
    """file with the token on this machine; `ray up` puts it on every node"""
    container: Word = ""
    """image in which everything runs on a node; empty: on the node itself"""
    setup: tuple[str, ...] = ()
    """shell lines for a new node, once: `python -m venv ...`"""
    install: bool = True
    """nodes install our wheel with its dependencies; off: they have them already, in this version"""
