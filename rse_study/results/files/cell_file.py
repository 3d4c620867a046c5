"""`cell.json`: a cell's ledger row beside its result, to rebuild a lost ledger."""

import json
from pathlib import Path

from rse_study.results.files.atomic import read_sealed, write_sealed
from rse_study.results.records import CellRecord

FILE_NAME = "cell.json"


def write_cell(directory: Path, cell: CellRecord) -> Path:
    """Write the cell into its folder, atomically."""
    return write_sealed(directory / FILE_NAME, "cell", json.loads(cell.model_dump_json()))


def read_cell(directory: Path) -> CellRecord:
    """Read the cell from its folder."""
    return read_sealed(
        directory / FILE_NAME,
        "cell",
        CellRecord.model_validate,
        missing="Run the study again: that rewrites it",
        remedy="Remove it and run the study again",
    )
