"""Seeds that shipped studies would have spent until decided, by the scores that were recorded of them.

    python -m tests.on_ray.recorded_seeds

Nothing trains here: the cell queue gives the cells over a real ledger, and each gets its recorded score. Every study
runs one cell at a time, four at a time, and killed at every cell; the three ledgers must be the same.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from rse_study.search.state import search_state
from rse_study.study.checking.validation import read_study
from tests.on_ray.queue.test_undecided_seeds import GrowingWorld

ROOT = Path(__file__).parents[2]
FIXED = 8  # seeds of every row in the shipped studies


def recorded(name: str) -> dict[tuple[str, int], float]:
    """The objective by row and seed."""
    if name == "quickstart":
        frame = pd.read_parquet(ROOT / "docs/results/quickstart.parquet").dropna(subset="seed")
        return {
            (row, int(seed)): value
            for row, seed, value in zip(frame["row"], frame["seed"], frame["dev"], strict=True)
        }
    frame = pd.read_parquet(ROOT / "docs/results/rse_mini/rse-figure5-mini.parquet")
    rows = [label or f"N = {number}" for label, number in zip(frame["label"], frame["N"], strict=True)]
    return dict(zip(zip(rows, frame["seed"], strict=True), frame["objective"], strict=True))


class RecordedWorld(GrowingWorld):
    """A shipped study with seeds until decided, whose cells have their recorded scores."""

    def __init__(self, folder, name, path, at_most, margin):
        until = f"seeds={{until: decided, at_least: 3, at_most: {at_most}}}"
        self.checked = read_study(ROOT / "search_spaces" / path, [until, f"margin={margin}"])
        self.scores = recorded(name)
        self.open(folder)

    def score(self, cell):
        return self.scores[cell.label or f"N = {cell.proposal['N']}", cell.seed]

    def courses(self):
        state = search_state(self.ledger, self.ledger.cells(), is_held=True)
        names = {cell.trial: cell.label or f"N = {cell.proposal['N']}" for cell in self.ledger.cells()}
        return {names[trial]: (one.verdict, one.num_pairs) for trial, one in state.rows.courses.items()}


def show(name, path, at_most, margin):
    with TemporaryDirectory() as folder:
        worlds = [RecordedWorld(Path(folder) / way, name, path, at_most, margin) for way in "abc"]
        worlds[0].run_at_a_time(1)
        worlds[1].run_at_a_time(4)
        num_kills = worlds[2].run_killed_at_every_cell()
        same = [world.content_of() == worlds[0].content_of() for world in worlds]
        num_rows, num_cells = len(worlds[0].checked.rows), len(worlds[0].ledger.cells())
        print(
            f"{name}, at most {at_most}, margin {margin}: {num_cells} cells, of {at_most * num_rows} at most"
        )
        print(f"    fixed {FIXED}: {FIXED * num_rows}; same ledger four at a time: {same[1]}; ", end="")
        print(f"after {num_kills} kills: {same[2]}")
        for row, (verdict, number) in worlds[0].courses().items():
            print(f"    {row}: {verdict}, {number} seeds", flush=True)
        for world in worlds:
            world.ledger.close()


if __name__ == "__main__":
    for margin in (0.5, 0.0):
        show("quickstart", "quickstart.yaml", 16, margin)
    for margin in (0.5, 0.0):
        show("rse-figure5-mini", "mini/rse_figure5_mini.yaml", 8, margin)
