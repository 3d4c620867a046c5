"""A few of the cells that `python -m tests.faults.stopped_cells` stops by the dozen (docs/results/faults.md)."""

import pytest

from tests.faults.stopped_cells import Left, stop_cells
from tests.on_ray.world import make_materials

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]
CELLS = [("inline", 8), ("train", 2)]
# One each, however many cells: ours, and the one in which Train notes what it asks of the autoscaler.
STAY = {"inline": ("_CoordinatorActor",), "train": ("_AutoscalingCoordinatorActor", "_CoordinatorActor")}


@pytest.mark.parametrize(("executor", "num_stopped"), CELLS)
def test_stopped_cells_leave_nothing_behind(executor, num_stopped, tmp_path):
    left = stop_cells(executor, num_stopped, make_materials(tmp_path / "world"), tmp_path / "study")
    assert left == Left(num_stopped, 1, placement_groups=0, actors=STAY[executor], workers=0)
