"""What a trial, and a task beside it, reserves of a cluster."""

from typing import Any

import ray
from ray import tune

from rse_study.cluster.node_capacity import share_of
from rse_study.cluster.spec import DRIVER_RESOURCE
from rse_study.study.definition.config import Resources


def trial_reservation(resources: Resources) -> tune.PlacementGroupFactory:
    """What a trial actor reserves.

    All of its cell's resources where the cell runs in it, next to nothing where it only waits for Train's workers.
    """
    if resources.runs_on == "inline":
        return tune.PlacementGroupFactory([share_of(resources)], **labels_of_bundles(resources, 1))
    return tune.PlacementGroupFactory(
        [{DRIVER_RESOURCE: 1.0} if DRIVER_RESOURCE in ray.cluster_resources() else {"CPU": 0.1}]
    )


def labels_of_bundles(resources: Resources, number: int) -> dict[str, Any]:
    """The argument that keeps bundles of a placement group on some nodes.

    None where no labels are asked for.
    """
    return {"bundle_label_selector": [dict(resources.labels)] * number} if resources.labels else {}
