"""Resources that a trial, and a task beside it, reserve on a cluster."""

from typing import Any

import ray
from ray import tune

from rse_study.cluster.node_capacity import share_of
from rse_study.cluster.spec import DRIVER_RESOURCE
from rse_study.study.definition.config import Resources


def trial_reservation(resources: Resources) -> tune.PlacementGroupFactory:
    """Return a trial's reservation: its cell's, or next to nothing on Train."""
    if resources.runs_on == "inline":
        return tune.PlacementGroupFactory([share_of(resources)], **labels_of_bundles(resources, 1))
    return tune.PlacementGroupFactory(
        [{DRIVER_RESOURCE: 1.0} if DRIVER_RESOURCE in ray.cluster_resources() else {"CPU": 0.1}]
    )


def labels_of_bundles(resources: Resources, number: int) -> dict[str, Any]:
    """Return the argument that binds placement group bundles to labelled nodes."""
    return {"bundle_label_selector": [dict(resources.labels)] * number} if resources.labels else {}
