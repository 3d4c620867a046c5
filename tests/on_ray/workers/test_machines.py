"""Whoever would run a cell is asked what it is."""

from dataclasses import replace

import pytest
import ray

from rse_study.cluster.node_capacity import Node
from rse_study.on_ray.nodes.launch import ray_session
from rse_study.on_ray.queue import Cell
from rse_study.on_ray.stored.shared_cells import machine_of, machines_of
from rse_study.study.definition.parts import Resources
from rse_study.training.trial import Trial

pytestmark = pytest.mark.xdist_group("ray")


def test_every_node_with_room_says_what_it_is_and_one_without_is_not_asked(cluster):
    cell = Cell(0, 0, "f" * 64, Trial())
    with ray_session(0, cluster):
        nodes = [Node("here", one["Resources"], one["Labels"], one["NodeID"]) for one in ray.nodes()]
        assert machines_of(cell, nodes) == [machine_of(cell)]
        assert machines_of(replace(cell, resources=Resources(gpus=1)), nodes) == []
