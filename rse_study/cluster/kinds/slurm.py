"""Ray in a Slurm allocation, started and ended with the job."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from rse_study.cluster.machines import Count, Word, WorkerGroup
from rse_study.cluster.spec import ClusterSpec
from rse_study.spec import field


class SlurmGroup(WorkerGroup):
    """Nodes of a partition."""

    partition: Word = ""
    """empty: Slurm's default"""
    constraint: Word = ""
    """features the nodes must have: `a100&nvlink`"""
    gres: Word = ""
    """how this Slurm calls GPUs: `gpu:a100`; empty: `--gpus-per-node`"""

    @model_validator(mode="after")
    def _counts_once(self) -> "SlurmGroup":
        """Refuse a number in `gres`, since `gpus` is written behind it."""
        if self.gres and not re.fullmatch(r"[A-Za-z]\w*(:(?!\d{1,2}$)[\w.-]+)?", self.gres):
            raise ValueError(
                f"gres = {self.gres!r} is no NAME or NAME:TYPE, behind which `gpus` is written as the number. "
                "For example: gres: gpu:a100, gpus: 4"
            )
        if self.gres and not self.gpus:
            raise ValueError(f"gres = {self.gres!r} has no number. Set gpus")
        return self


class SlurmCluster(ClusterSpec):
    """A batch job: head and driver on its first node, workers on all of them."""

    kind: Literal["slurm"]
    workers: Annotated[Mapping[str, SlurmGroup], Field(min_length=1, max_length=1)]
    """one kind of nodes: a job asks for nodes that are alike"""
    form: Literal["steps", "symmetric-run"] = "steps"
    """steps: head, workers that start again, driver; symmetric-run: Ray's own command, without either"""
    folder: str = field(pattern=r"^/[^\s%'\"\\\\]*$")
    """where the job's files and its log are put; all nodes see it"""
    account: Word = ""
    qos: Word = ""
    options: tuple[Annotated[str, Field(pattern=r"^[^\n\r\u2028\u2029]*$")], ...] = ()
    """other directives of sbatch, as on its command line: `--exclusive`"""
    requeue: bool = True
    """put the job into the queue again where it was interrupted: a node failed, its time was up"""
    warn_seconds: Count = field(120, gt=0, lt=65_536)
    """before the time limit: the driver is interrupted, so that running cells may end"""
    start_seconds: Count = field(600, gt=0)
    """how long workers may take to join, before the study starts on those that have"""
    port: Count = field(0, lt=65_536)
    """of Ray's head; 0: one that follows from the job's number"""

    def fewest_nodes(self, group: WorkerGroup) -> int:
        """Return the number of nodes a job starts with; without `min_nodes`, all."""
        return group.min_nodes or group.max_nodes
