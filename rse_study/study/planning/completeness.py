"""Whether a study has nothing left to run, by its ledger alone."""

from pathlib import Path

from rse_study.errors import InputError
from rse_study.results.files.connect import has_ledger
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.reader import Reader
from rse_study.results.records import CellRecord
from rse_study.results.study_record import StudyRecord
from rse_study.search.state import SearchState
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build
from rse_study.study.planning.run_again import run_again
from rse_study.study.revisions import change_to


def is_complete(checked: CheckedStudy, study_dir: Path) -> bool:
    """Whether the ledger has all cells and scores of exactly this study.

    The numbers are this code's; neither data nor models are looked at.
    """
    if not has_ledger(study_dir):
        return False
    with Reader(study_dir) as reader:
        ledger, frozen = reader.ledger, reader.ledger.study()
        if frozen is None or not _is_the_same(frozen, checked):
            return False
        counts, cells = SearchState.read(reader).counts, reader.records()
        last = ledger.last_points(frozen.objective.metric)
        complete = [cell for cell in cells if cell.status == "complete"]
        return (
            len(complete) + counts["stopped_early"] >= counts["planned"]
            and _are_scored(ledger, frozen, complete, checked.study.baselines)
            and not run_again(complete, None, last)
        )


def _is_the_same(frozen: StudyRecord, checked: CheckedStudy) -> bool:
    """Whether the file is the frozen one; newer settings have their defaults."""
    try:
        before = {"resolved": build(Study, frozen.resolved, where=frozen.name).resolved()}
        return not change_to(frozen.model_copy(update=before), checked.study)
    except InputError:
        return False  # the run says what is wrong


def _are_scored(
    ledger: LedgerQueries, study: StudyRecord, complete: list[CellRecord], baselines: tuple[str, ...]
) -> bool:
    """Whether all results have all scores, and each baseline some."""
    scored: dict[str, set[str]] = {}
    for row in ledger.evaluations():
        if row.fingerprint == study.fingerprints.get(row.evaluation, row.fingerprint):
            scored.setdefault(row.subject, set()).add(row.evaluation)
    results = [cell.identity for cell in complete if cell.stage in ("grid", "confirm")]
    have_all = all(set(study.evaluations) <= scored.get(one, set()) for one in results)
    return have_all and set(baselines) <= scored.keys()
