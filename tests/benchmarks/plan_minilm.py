"""What `plan` says of the studies on MiniLM, beside what they took: `python -m tests.benchmarks.plan_minilm`.

The studies are those of docs/results/minilm, whose files say when each cell began and ended. Each was run twice, with
the first seeds and, hours later, with the others. Before each time `plan` is asked with a store of what had ended by
then, and its answers are added up. Needs the data folder. Ends with 1 where a study is beyond a factor of 1.5.
"""

import argparse
import shutil
import sqlite3
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rse_study.cli.arguments import study_file
from rse_study.results.archive import unpack_archive
from rse_study.results.device_time import seconds_between
from rse_study.results.files.schema import cell_folder, ledger_path
from rse_study.study.checking.validation import read_study
from rse_study.study.planning.plan import plan_study

SHIPPED = Path(__file__).parents[2] / "docs" / "results" / "minilm"
STUDIES = ("methods", "rse-table6", "rse-table5", "rse-figure5", "rse-table1", "joint", "mean")
LATER = "2026-11-23T12:00"  # when the other seeds were run
ATTACK_HOURS = {"rse-table1": 0.67 * 15 / 16}  # in no cell's time: 15 models of 16 that were attacked
FACTOR = 1.5


@dataclass(frozen=True)
class Cell:
    """A cell that a study trained itself."""

    folder: Path
    seed: int
    started: str
    ended: str

    @property
    def is_later(self) -> bool:
        return self.started > LATER


def measured() -> dict[str, np.ndarray]:
    """By study: hours planned (low, mid, high), and hours taken. The first of all had no history."""
    hours: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4))
    with tempfile.TemporaryDirectory() as folder:
        cells = {name: list(shipped(name, Path(folder))) for name in STUDIES}
        for name in STUDIES:
            for is_later in (False, True):
                mine = [cell for cell in cells[name] if cell.is_later == is_later]
                if mine and not (name == "methods" and not is_later):
                    store = store_before(min(cell.started for cell in mine), cells, Path(folder))
                    seeds = sorted({cell.seed for cell in cells[name] if is_later or not cell.is_later})
                    taken = sum(seconds_between(cell.started, cell.ended) for cell in mine) / 3600
                    hours[name] += [*planned(name, seeds, store), taken + ATTACK_HOURS.get(name, 0.0)]
    return hours


def shipped(name: str, folder: Path) -> Iterator[Cell]:
    """Unpack a study; its cells but those that it took from another."""
    study = unpack_archive(SHIPPED / f"{name}-minilm.tar.xz", folder)
    with closing(sqlite3.connect(ledger_path(study))) as ledger:
        rows = ledger.execute(
            "SELECT identity, seed, started, ended FROM cell WHERE started != ''"
        ).fetchall()
    for identity, *about in rows:
        yield Cell(cell_folder(study, identity), *about)


def store_before(time: str, cells: dict[str, list[Cell]], folder: Path) -> Path:
    """A store with the cells that had ended by then."""
    store = Path(tempfile.mkdtemp(dir=folder))
    for name, its_cells in cells.items():
        ended = [cell for cell in its_cells if cell.ended <= time]
        for cell in ended:
            shutil.copytree(cell.folder, store / f"{name}-minilm" / "cells" / cell.folder.name)
        if ended:
            study = store / f"{name}-minilm"
            shutil.copy(ledger_path(folder / study.name), study)
            with closing(sqlite3.connect(ledger_path(study))) as ledger, ledger:
                known = [cell.folder.name for cell in ended]
                others = f"substr(identity, 1, 16) NOT IN ({', '.join('?' * len(known))})"
                for table in ("metric", "rung"):
                    of_others = f"cell IN (SELECT identity FROM cell WHERE {others})"
                    ledger.execute(f"DELETE FROM {table} WHERE {of_others}", known)
                ledger.execute(f"DELETE FROM cell WHERE {others}", known)
    return store


def planned(name: str, seeds: list[int], store: Path) -> tuple[float, float, float]:
    """The hours that `plan` says with this store."""
    overrides = [] if name == "joint" else [f"seeds={seeds}"]
    checked = read_study(study_file(f"{name.replace('-', '_')}_minilm"), overrides)
    hours = plan_study(checked, store).device_hours
    assert hours is not None, name
    return hours.low, hours.mid, hours.high


def main() -> int:
    """Print a row for each study."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    ratios = []
    for name, (low, mid, high, taken) in measured().items():
        ratios.append(mid / taken)
        print(f"| {name} | {mid:.2f} ({low:.2f} to {high:.2f}) | {taken:.2f} | {mid / taken:.2f} |")
    return int(not all(1 / FACTOR <= ratio <= FACTOR for ratio in ratios))


if __name__ == "__main__":
    sys.exit(main())
