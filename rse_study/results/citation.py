"""One-line citation of a study, and the card of a model that a cell trained."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rse_study.results.files.result_file import FILE_NAME, read_result
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader
from rse_study.results.study_record import StudyRecord
from rse_study.spec import fingerprint_of

SHOWN = 12  # digits of a fingerprint


def citation(reader: Reader) -> str:
    """Return the citation below a report and in every exported file."""
    revision = int(reader.revisions()["number"].iloc[-1])
    return citation_of(reader.study(), revision, reader.provenance() or reader.cells()["provenance"])


def citation_of(study: StudyRecord, revision: int, runs: Iterable[Mapping[str, Any]]) -> str:
    """Return the citation by the newest run, without unknown fingerprints.

    If no run is on record, the newest cell stands for it.
    """
    newest: Mapping[str, Any] = next(reversed(list(runs)), {})
    packages = newest.get("packages", {})
    prints = {"study": study.resolved, "data": study.fingerprints, "materials": newest.get("materials")}
    shown = [f"{name} {fingerprint_of(content)[:SHOWN]}" for name, content in prints.items() if content]
    parts = [
        f"rse_study {packages.get('rse-study', 'of unknown version')}",
        *([f"code {newest['code']}"] if newest.get("code") else ()),
        *([f"torch {packages['torch']}"] if "torch" in packages else ()),
        f"study {study.name!r}, revision {revision}",
        *([f"sha256 of {', '.join(shown)}"] if shown else ()),
    ]
    return "; ".join(parts) + "."


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
