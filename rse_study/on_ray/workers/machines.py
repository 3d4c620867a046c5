"""The machines on which a cell would run, as its provenance would name them."""

from collections.abc import Sequence
from typing import Any

import ray
import torch
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rse_study.cluster.node_capacity import Node, slots
from rse_study.on_ray.queue.cell import Cell
from rse_study.training.provenance import provenance

ANSWER_SECONDS = 60.0


def machine_of(cell: Cell) -> dict[str, Any]:
    """Return the provenance of the cell in this process, on a GPU if it uses any."""
    device = torch.device("cuda" if cell.resources.gpus else "cpu")
    here = provenance(device, cell.resources.workers, cell.trial.precision)
    return here | {"threads": cell.resources.threads}


def machines_of(cell: Cell, nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """Ask each node that has room for it; nothing where one of them does not answer."""
    task, fitting = ray.remote(machine_of), [node for node in nodes if slots(node, cell.resources)]
    asked = [
        task.options(
            num_cpus=0,
            num_gpus=cell.resources.gpus,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node.identity, soft=False),
        ).remote(cell)
        for node in fitting
    ]
    try:
        return list(ray.get(asked, timeout=ANSWER_SECONDS))
    except ray.exceptions.RayError:
        for one in asked:
            ray.cancel(one)
        return []
