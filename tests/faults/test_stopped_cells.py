"""A few of the cells that `python -m tests.faults.stopped_cells` stops by the dozen (docs/results/faults.md)."""

import os

import pytest

from tests.faults.stopped_cells import Left, stop_cells
from tests.on_ray.world import make_materials

pytestmark = pytest.mark.xdist_group("ray")
# One each, however many cells: ours, and the one in which Train notes what it asks of the autoscaler.
# On Train it takes more than a minute: `make faults` (RSE_STUDY_SLOW=1) runs it too.
CELLS = [("inline", 4), ("train", 1)] if os.environ.get("RSE_STUDY_SLOW") else [("inline", 2)]
STAY = {"inline": ("_Desk",), "train": ("_AutoscalingCoordinatorActor", "_Desk")}


@pytest.mark.parametrize(("executor", "num_stopped"), CELLS)
def test_stopped_cells_leave_nothing_behind(executor, num_stopped, tmp_path, ray_home):
    left = stop_cells(executor, num_stopped, make_materials(tmp_path / "world"), tmp_path / "study")
    assert left == Left(num_stopped, num_complete=1, placement_groups=0, actors=STAY[executor], workers=0)
