"""Resources of a cluster's nodes, and their price per hour."""

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from rse_study.spec import Spec, field


class Machine(Spec):
    """The resources and the price of one node."""

    cpus: PositiveInt
    memory_gib: PositiveFloat
    gpus: NonNegativeInt = 0
    price_per_hour: NonNegativeFloat
    """price of one such node for an hour, in the currency of the study's allowance; 0 where nobody bills it"""

    @property
    def memory_mib(self) -> int:
        """Memory in Slurm's unit."""
        return round(self.memory_gib * 1024)


class WorkerGroup(Machine):
    """Nodes of one kind, on which trials run."""

    min_nodes: NonNegativeInt = 0
    """never fewer than these, idle or not"""
    max_nodes: PositiveInt = 1
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

    hours: PositiveFloat = field(24.0)
    """time limit of the whole job"""
    idle_minutes: PositiveFloat = 10.0
    """a node without work is given back after so long, where the cluster can grow again"""
