"""A driver in a process of its own, which a test may kill.

python -m tests.faults.run_here STUDY.json WORLD FOLDER [ADDRESS]

Prints what happens, a line an event.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rse_study.on_ray.driver import run_study
from rse_study.study.checking.validation import check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build
from tests.on_ray.world import few, find_materials


class Teller:
    """A callback that puts everything into lines."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self.message = hear

    def cells_found(self, cells):
        self.message(f"found {len(cells)}")

    def started(self, cell):
        self.message(f"started {cell.number}/{cell.seed}")

    def progressed(self, cell, t, num_steps, metrics):
        self.message(f"progressed {cell.number}/{cell.seed} {t}")

    def ended(self, cell, record):
        self.message(f"ended {cell.number}/{cell.seed} {record.status}")

    def advanced(self, activity, done, total, detail=""):
        self.message(f"{activity}: {done} of {total}")

    def lost(self, cell, reason):
        self.message(f"lost {cell.number}/{cell.seed} {reason}")

    def node_lost(self, node, cells):
        self.message(f"node {node} was lost with {len(cells)} cells")


def run_in_world(
    content: dict, world: Path, folder: Path, hear: Callable[[str], None], address: str = ""
) -> None:
    """Run a study with the materials of a world, on a cluster or on a Ray of its own with two CPUs."""
    checked = check_study(build(Study, content, where="faults"), where="faults")
    materials = find_materials(world)
    run_study(checked, folder, lambda trial: materials, few, Teller(hear), num_cpus=2, address=address)


def main(study_file: str, world: str, folder: str, address: str = "") -> None:
    content = json.loads(Path(study_file).read_text(encoding="utf-8"))
    run_in_world(content, Path(world), Path(folder), partial(print, flush=True), address)


if __name__ == "__main__":
    main(*sys.argv[1:])
