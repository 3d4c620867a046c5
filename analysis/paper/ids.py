"""The tables and figures of the four papers, by their ids."""

import csv
from importlib.resources import files

PAPER = files("analysis.paper")
FIGURES = "figures.csv"


def table_ids() -> tuple[str, ...]:
    """Return the tables that `tables.read_table` reads, in alphabetical order."""
    found = (PAPER / "tables").iterdir()
    return tuple(sorted(path.name.removesuffix(".csv") for path in found if path.name.endswith(".csv")))


def known_places() -> tuple[str, ...]:
    """Return every table and figure that a study may name."""
    with (PAPER / FIGURES).open(encoding="utf-8") as text:
        figures = [row["id"] for row in csv.DictReader(text)]
    return tuple(sorted({*table_ids(), *figures}))
