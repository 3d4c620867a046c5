"""kill -9 of a study's processes at random moments, then the same command.

python -m tests.faults.kill_driver [KILLS [STUDY ...]]

Studies of every kind, one cell at a time, so that each must end equal to an undisturbed one. Prints what it found;
tests/faults/test_kill_driver.py kills a driver whose cells run side by side.
"""

import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rse_study.results.files.schema import ledger_path
from tests.faults.drivers import DRIVER, Scene, contents
from tests.on_ray.world import STUDY, make_materials
from tests.simulation.studies import SERIAL, STUDIES

GRID = {key: value for key, value in STUDY.items() if key not in ("search", "num_trials", "sampler")} | {
    "name": "grid",
    "grid": {"axes": {"rho": [0.0, 0.5, 1.0]}, "rows": {"strong": {"alpha": 1e-3}}},
    "seeds": [0, 1],
    "evaluations": ["builtin/test"],
}
SEARCH = STUDY | {
    "name": "search",
    # A learning rate at which trials differ, so that some are stopped.
    "base": STUDY["base"] | {"budget": {"unit": "steps", "amount": 8}, "optimizer": {"lr": 1e-2}},
    "num_trials": 10,
    "early_stopping": {"first": 2, "factor": 2},
    "evaluations": ["builtin/test"],
    "confirm": {"seeds": [1], "num_best": 1},
}
LONGEST_S = 20.0
PARTS = (DRIVER, "ImplicitFunc", "raylet", "gcs_server", "DashboardAgent")
"""what is killed: the driver, its cell's process, and Ray's own"""


@dataclass
class Story:
    """What was killed, and what came of it."""

    kills: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    num_changed: int = 0
    """committed cells whose rows were different later"""
    num_studies: int = 0
    num_unequal: int = 0
    """studies that are not, row for row, those of an undisturbed run"""
    num_rebuilt_unequal: int = 0
    """the same of ledgers that were made again from the files beside them"""

    def compare(self, committed: dict[str, list[str]], now: dict[str, list[str]]) -> dict[str, list[str]]:
        """Count the committed cells that have changed, and return those of now."""
        self.num_changed += sum(now.get(cell) != rows for cell, rows in committed.items())
        return now


def kill_often(
    scene: Scene,
    folder: Path,
    story: Story,
    num_kills: int,
    draw: random.Random,
    parts: Sequence[str] = (DRIVER,),
) -> None:
    """Kill a process again and again, 1 to 20 s after each start, until the story has so many or the study ends."""
    begun, committed = time.monotonic(), finished_cells(folder)
    while story.kills.total() < num_kills:
        part = draw.choice(parts)
        if not scene.kill_after(folder, draw.uniform(1.0, LONGEST_S), part):
            break
        story.kills[part] += 1
        committed = story.compare(committed, finished_cells(folder))
    scene.finish(folder)
    story.compare(committed, finished_cells(folder))
    story.seconds += time.monotonic() - begun


def finished_cells(folder: Path) -> dict[str, list[str]]:
    """Rows of the metrics of every complete cell, by identity."""
    if not ledger_path(folder).exists():
        return {}
    held = contents(folder, ("cell", "metric"))
    complete = [row for row in held["cell"] if "('status', 'complete')" in row]
    identities = [row.split("('identity', '")[1].split("'")[0] for row in complete]
    return {one: [row for row in held["metric"] if one in row] for one in identities}


def main(num_kills: str = "7", *names: str) -> None:
    root, most = Path(tempfile.mkdtemp()), int(num_kills)
    make_materials(root / "world")
    # Left out by default: hours, which are other ones on a busy machine.
    for name in names or sorted(STUDIES.keys() - {"hours"}):
        study = dict(STUDIES[name]) | {"name": name, "resources": SERIAL}
        here, draw = Scene(study, root / "world", root), random.Random(name)
        whole = here.folder(f"{name}-whole")
        here.finish(whole)
        story = Story()
        while story.kills.total() < most:
            folder = here.folder(f"{name}-{story.kills.total()}")
            kill_often(here, folder, story, most, draw, parts=PARTS)
            story.num_studies += 1
            story.num_unequal += contents(folder) != contents(whole)
            ledger_path(folder).unlink()
            here.finish(folder)
            story.num_rebuilt_unequal += contents(folder) != contents(whole)
        print(f"{name}: {story}", flush=True)
    shutil.rmtree(root)


if __name__ == "__main__":
    main(*sys.argv[1:])
