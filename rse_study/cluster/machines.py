"""Resources of a cluster's nodes, and their price per hour."""

from typing import Annotated

from pydantic import Field, model_validator

from rse_study.spec import Spec, field

Count = Annotated[int, Field(ge=0, le=1_000_000)]
Amount = Annotated[float, Field(ge=0, le=1e6)]
# A name of a user, a machine or an account: no program takes it for an option.
Word = Annotated[str, Field(pattern=r"^([A-Za-z0-9_.:/@&|*()\[\],=+][A-Za-z0-9_.:/@&|*()\[\],=+-]*)?$")]


class Machine(Spec):
    """The resources and the price of one node."""

    cpus: Count = field(gt=0)
    memory_gib: Amount = field(gt=0)
    gpus: Count = 0
    price_per_hour: Amount
    """price of one such node for an hour, in the currency of the study's allowance; 0 where nobody bills it"""

    @property
    def memory_mib(self) -> int:
        """Memory in Slurm's unit."""
        return round(self.memory_gib * 1024)


class WorkerGroup(Machine):
    """Nodes of one kind, on which trials run."""

    min_nodes: Count = 0
    """never fewer than these, idle or not"""
    max_nodes: Count = field(1, gt=0)
    labels: dict[str, str] = Field(default_factory=dict)
    """Ray's node labels, by which a study may ask for this kind"""

    @model_validator(mode="after")
    def _from_few_to_many(self) -> "WorkerGroup":
        if self.min_nodes > self.max_nodes:
            raise ValueError(
                f"min_nodes {self.min_nodes} is more than max_nodes {self.max_nodes}. Lower it, or raise max_nodes"
            )
        return self


class Environment(Spec):
    """Software and variables for the processes of a node."""

    activate: tuple[str, ...] = ()
    """shell lines that make Python and Ray available: `module load ...`, `source .../bin/activate`"""
    variables: dict[str, str] = Field(default_factory=dict)
    """of every process; no secret belongs here"""


class Limits(Spec):
    """How long a cluster may live."""

    hours: Amount = field(24.0, gt=0)
    """time limit of the whole job"""
    idle_minutes: Amount = field(10.0, gt=0)
    """a node without work is given back after so long, where the cluster can grow again"""
