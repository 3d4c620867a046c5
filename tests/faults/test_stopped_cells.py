"""A few of the cells that `python -m tests.faults.stopped_cells` stops by the dozen (docs/results/faults.md)."""

import pytest

from tests.faults.stopped_cells import Left, stop_cells
from tests.on_ray.world import make_materials

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]
# One each, however many cells: ours, and the one in which Train notes what it asks of the autoscaler.
STAY = ("_AutoscalingCoordinatorActor", "_CoordinatorActor")


def test_stopped_cells_leave_nothing_behind(tmp_path):
    left = stop_cells("train", 2, make_materials(tmp_path / "world"), tmp_path / "study")
    assert left == Left(2, 1, placement_groups=0, actors=STAY, workers=0)
