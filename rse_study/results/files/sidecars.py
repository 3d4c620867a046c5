"""Files beside a ledger, kept up to date to rebuild a lost one."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rse_study.results.files.cell_file import write_cell
from rse_study.results.files.evaluation_file import write_evaluations
from rse_study.results.files.item_file import write_items
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.files.schema import baselines_folder, cell_folder
from rse_study.results.files.study_file import write_revisions
from rse_study.results.records import EvaluationRow


def write_study(study_dir: Path, rows: LedgerQueries) -> None:
    """Write study.json: every revision."""
    write_revisions(study_dir, rows.revisions())


def write_cells(study_dir: Path, rows: LedgerQueries, identities: Iterable[str]) -> None:
    """Write cell.json of these cells, as the ledger has them now."""
    for identity in identities:
        write_cell(cell_folder(study_dir, identity), rows.cell(identity))


def write_scores(study_dir: Path, rows: LedgerQueries, changed: Sequence[EvaluationRow]) -> None:
    """Write evaluations.json, and items.json if kept, of the subjects of these rows."""
    named = {row.subject for row in changed}
    known, study = rows.is_retired(named), rows.study()
    keeps_items = study is None or study.settings.keep_items
    by_folder: dict[Path, set[str]] = {}
    for row in changed:
        is_cell = row.subject in known
        folder = cell_folder(study_dir, row.subject) if is_cell else baselines_folder(study_dir)
        by_folder.setdefault(folder, set()).add(row.subject)
    scores = rows.evaluations(named)
    for folder, subjects in by_folder.items():
        if keeps_items:
            write_items(folder, [row for row in changed if row.subject in subjects])
        write_evaluations(folder, [row for row in scores if row.subject in subjects])


def write_everything(study_dir: Path, rows: LedgerQueries) -> None:
    """Write all files, which a ledger of an earlier version lacks."""
    write_study(study_dir, rows)
    write_cells(study_dir, rows, [cell.identity for cell in rows.cells()])
    write_scores(study_dir, rows, rows.evaluations())
