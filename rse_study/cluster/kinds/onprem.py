"""The user's own machines, reached by ssh: Ray's launcher, provider `local`."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from rse_study.cluster.machines import Machine, Word, WorkerGroup
from rse_study.cluster.spec import LauncherCluster
from rse_study.spec import field


class OnpremHead(Machine):
    """The machine of the head."""

    host: Word = field(min_length=1)
    """name or address"""


class OnpremGroup(WorkerGroup):
    """Machines that are alike."""

    hosts: Annotated[tuple[Word, ...], Field(min_length=1)]
    """names or addresses"""

    @model_validator(mode="before")
    @classmethod
    def _count_hosts(cls, given: object) -> object:
        if isinstance(given, dict) and isinstance(given.get("hosts"), list | tuple):
            num_hosts = len(given["hosts"])
            return {"min_nodes": num_hosts, "max_nodes": num_hosts} | given
        return given

    @model_validator(mode="after")
    def _no_more_than_hosts(self) -> "OnpremGroup":
        if self.max_nodes > len(self.hosts):
            raise ValueError(
                f"max_nodes {self.max_nodes} is more than its {len(self.hosts)} hosts. Name more hosts, or lower it"
            )
        return self


class OnpremCluster(LauncherCluster):
    """Machines that are there anyway: started by ssh, and ended by ssh."""

    kind: Literal["onprem"]
    head: OnpremHead
    workers: Annotated[Mapping[str, OnpremGroup], Field(min_length=1, max_length=1)]
    """one kind of machines: Ray's provider `local` knows no more"""
