"""`study.json`: every revision of a study, to rebuild a lost ledger."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rse_study.results.files.atomic import read_sealed, write_sealed
from rse_study.results.study_record import Revision

FILE_NAME = "study.json"


def write_revisions(study_dir: Path, revisions: Sequence[Revision]) -> Path:
    """Write all revisions, oldest first."""
    content = [json.loads(revision.model_dump_json()) for revision in revisions]
    return write_sealed(study_dir / FILE_NAME, "revisions", content)


def read_revisions(study_dir: Path) -> list[Revision]:
    """Read the revisions, oldest first."""
    return read_sealed(
        study_dir / FILE_NAME,
        "revisions",
        _revisions,
        missing="Is this a study's folder? Running the study writes it",
        remedy="Move it and the ledger away and run the study again: results found on disk are kept",
    )


def _revisions(content: list[Any]) -> list[Revision]:
    if not content:
        raise ValueError("no revision")
    return [Revision.model_validate(revision) for revision in content]
