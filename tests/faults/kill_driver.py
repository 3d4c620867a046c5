"""kill -9 of the driver at random moments, then the same command: python -m tests.faults.kill_driver [KILLS]

Prints what it found; tests/faults/test_kill_driver.py runs the same with fewer kills.
"""

import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from rse_study.results.files.schema import ledger_path
from tests.faults.drivers import Scene, contents
from tests.on_ray.world import STUDY, make_materials

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
ONE_AT_A_TIME = SEARCH | {"name": "serial", "resources": {"max_concurrent": 1}}


@dataclass
class Story:
    """A study that was killed and went on."""

    kills: int = 0
    seconds: float = 0.0
    num_changed: int = 0  # committed cells whose rows were different later


def kill_often(scene: Scene, folder: Path, num_kills: int, draw: random.Random, longest: float) -> Story:
    """Kill the driver `num_kills` times, after 1 to `longest` seconds each, then let it finish."""
    story, begun, committed = Story(), time.monotonic(), {}
    while story.kills < num_kills:
        if not scene.kill_after(folder, draw.uniform(1.0, longest)):
            break
        story.kills += 1
        now = finished_cells(folder)
        story.num_changed += sum(now.get(cell) != rows for cell, rows in committed.items())
        committed = now
    scene.finish(folder)
    now = finished_cells(folder)
    story.num_changed += sum(now.get(cell) != rows for cell, rows in committed.items())
    story.seconds = time.monotonic() - begun
    return story


def finished_cells(folder: Path) -> dict[str, list[str]]:
    """Rows of the metrics of every complete cell, by identity."""
    if not ledger_path(folder).exists():
        return {}
    held = contents(folder, ("cell", "metric"))
    complete = [row for row in held["cell"] if "('status', 'complete')" in row]
    identities = [row.split("('identity', '")[1].split("'")[0] for row in complete]
    return {one: [row for row in held["metric"] if one in row] for one in identities}


def main(num_kills: int = 10) -> None:
    root = Path(tempfile.mkdtemp())
    scene = Scene(GRID, root / "world", root)
    make_materials(scene.world)
    for study in (GRID, ONE_AT_A_TIME, SEARCH):
        here = replace(scene, study=study)
        undisturbed, folder = here.folder(f"{study['name']}-whole"), here.folder(f"{study['name']}-killed")
        here.finish(undisturbed)
        story = kill_often(here, folder, num_kills, random.Random(0), longest=25.0)
        whole, killed = contents(undisturbed), contents(folder)
        same = {table: rows == killed[table] for table, rows in whole.items()}
        sizes = {table: (len(rows), len(killed[table])) for table, rows in whole.items()}
        print(f"{study['name']}: {story}; rows {sizes}; equal {same}", flush=True)
        ledger_path(folder).unlink()
        here.finish(folder)
        rebuilt = contents(folder)
        print(f"  rebuilt: { {t: rows == rebuilt[t] for t, rows in killed.items()} }", flush=True)
    shutil.rmtree(root)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
