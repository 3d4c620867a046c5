"""A driver in a process of its own, which a test may kill: python -m tests.faults.run_here STUDY.json WORLD FOLDER

Prints what happens, a line an event.
"""

import json
import sys
from pathlib import Path

from rse_study.on_ray.driver import run_study
from rse_study.study.checking.validation import check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build
from tests.on_ray.world import few, find_materials


class Printer:
    """A callback that prints."""

    def started(self, cell):
        self.message(f"started {cell.number}/{cell.seed}")

    def progressed(self, cell, t, num_steps, metrics):
        self.message(f"progressed {cell.number}/{cell.seed} {t}")

    def ended(self, cell, record):
        self.message(f"ended {cell.number}/{cell.seed} {record.status}")

    def lost(self, cell, reason):
        self.message(f"lost {cell.number}/{cell.seed} {reason}")

    def message(self, text):
        print(text, flush=True)


def main(study_file: str, world: str, folder: str) -> None:
    content = json.loads(Path(study_file).read_text(encoding="utf-8"))
    checked = check_study(build(Study, content, where=study_file), where=study_file)
    materials = find_materials(Path(world))
    run_study(checked, Path(folder), lambda trial: materials, few, Printer(), num_cpus=2)


if __name__ == "__main__":
    main(*sys.argv[1:])
