"""Sections of an exported model's card: scores, source, configuration of its cell."""

import json
from pathlib import Path

from rse_study.results.citation import citation
from rse_study.results.files.result_file import FILE_NAME, read_result
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader


def card_of_cell(cell: Path) -> str:
    """Return sections (Markdown) for the end of the card of a cell's model."""
    if not (cell / FILE_NAME).is_file():
        return ""
    result, card, source, scores = read_result(cell), "", "", dict[str, float]()
    study = cell.parent.parent
    if ledger_path(study).is_file():
        with Reader(study) as reader:
            rows = reader.ledger.evaluations([result.identity])
            source = f"\n## Source\n\n{citation(reader)} Cell {result.identity[:16]}.\n"
        scores = {f"{row.task}/{row.split}": row.value for row in rows}
    dev = [result.final[metric] for metric in ("dev/kept", "dev") if metric in result.final]
    scores = {**dict(zip(["dev"], dev, strict=False)), **scores}
    if scores:
        lines = "".join(f"| {measure} | {value:.2f} |\n" for measure, value in scores.items())
        card += (
            f"\n## Scores\n\nOf this one cell, seed {result.seed}.\n\n| measure | score |\n|---|--:|\n{lines}"
        )
    return f"{card}{source}\n## Configuration\n\n```json\n{json.dumps(result.config, indent=1)}\n```\n"
