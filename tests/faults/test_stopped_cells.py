"""Cells stopped early in a row, and what is left of them while the study's cluster is still up.

docs/results/faults.md has the same of dozens of cells.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import ray
from ray.util.state import list_actors, list_placement_groups

from rse_study.on_ray.runtime import RayRuntime
from rse_study.on_ray.stored import MaterialsCache, StudyFiles
from rse_study.on_ray.study_run import StudyRun
from rse_study.results.files.ledger import Ledger
from rse_study.study.checking.validation import CheckedStudy, check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build
from rse_study.training.materials import Materials
from tests.faults.drivers import workers_of
from tests.on_ray.world import STUDY, few, make_materials

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("faults")]
# One each, however many cells: ours, and the one in which Train notes what it asks of the autoscaler.
STAY = ("_AutoscalingCoordinatorActor", "_CoordinatorActor")


@dataclass(frozen=True)
class Left:
    """What stands after the last cell: `workers` are processes that run a trial or a Train worker."""

    num_stopped: int
    num_complete: int
    placement_groups: int
    actors: tuple[str, ...]
    workers: int


class Silent:
    """A callback that says nothing."""

    def started(self, *heard):
        pass

    cells_found = progressed = ended = lost = node_lost = message = advanced = started


def study_of(num_stopped: int) -> CheckedStudy:
    """The base has lambda1 = 0 and so the smallest loss: whoever comes after it is stopped at the first rung."""
    method = STUDY["base"]["method"] | {"lambda1": 0.0}
    content = STUDY | {
        "name": "stopped",
        "base": STUDY["base"] | {"budget": {"unit": "steps", "amount": 4}, "method": method},
        "search": {"lambda1": {"float": [0, 1]}},
        "num_trials": num_stopped + 1,
        "sampler": {"name": "quasi_random"},
        "objective": {"metric": "loss", "direction": "minimize"},
        "early_stopping": {"first": 1, "factor": 1000},
        # One at a time: whoever comes to the first rung before the base has nobody to be worse than.
        "resources": {"executor": "train", "max_concurrent": 1},
    }
    return check_study(build(Study, content, where="stopped"), where="stopped")


def stop_cells(num_stopped: int, materials: Materials, folder: Path) -> Left:
    """Run the study and count what is left before its cluster is shut down."""
    checked = study_of(num_stopped)
    with ExitStack() as stack:
        ledger, files = stack.enter_context(Ledger.open(folder)), StudyFiles(folder)
        run = StudyRun(checked, files, ledger, MaterialsCache(lambda trial: materials), few, Silent())
        run.prepare()
        runtime = RayRuntime(stack, files, run.materials, Silent(), 2, "")
        run.all_stages(runtime)
        statuses = [cell.status for cell in ledger.cells()]
        titles, driver = ("ImplicitFunc", "RayTrainWorker"), psutil.Process()
        # A process that is to end takes a moment; one that was forgotten takes for ever.
        _, alive = psutil.wait_procs(
            [one for title in titles for one in workers_of(driver, title)], timeout=60
        )
        here = ray.get_runtime_context().gcs_address  # others may run on this machine
        groups = list_placement_groups(here, filters=[("state", "!=", "REMOVED")])
        actors = list_actors(here, filters=[("state", "!=", "DEAD")])
        return Left(
            num_stopped=statuses.count("stopped_early"),
            num_complete=statuses.count("complete"),
            placement_groups=len(groups),
            actors=tuple(sorted(actor.class_name for actor in actors)),
            workers=len(alive),
        )


def test_stopped_cells_leave_nothing_behind(tmp_path):
    left = stop_cells(2, make_materials(tmp_path / "world"), tmp_path / "study")
    assert left == Left(2, 1, placement_groups=0, actors=STAY, workers=0)
