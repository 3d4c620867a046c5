"""Times of cells in the ledgers of a store, and cells that can be copied."""

import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from rse_study.errors import InputError
from rse_study.evaluation.registry import is_of_vectors
from rse_study.results.device_time import gpus_per_worker, seconds_between
from rse_study.results.files.connect import open_study
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.files.schema import MODEL_FOLDER, cell_folder
from rse_study.results.records import CellRecord
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study
from rse_study.study.pending import trials_by_number
from rse_study.study.planning.measured import Conditions, TimedWork, work_of
from rse_study.training.trial import Trial

NEWEST = 200  # complete cells of a ledger that are read


@dataclass(frozen=True)
class History:
    """Times of cells like a study's, and its cells in other studies."""

    timed: tuple[TimedWork, ...] = ()
    source: str = ""
    """where the times are from; empty without any"""
    elsewhere: Mapping[tuple[Trial, int], str] = field(default_factory=dict)
    """names of other studies that have run a trial and seed: a run copies their cells"""


def history_of(checked: CheckedStudy, store: Path, encoders: Collection[str]) -> History:
    """Read the ledgers of a store; one that cannot be read is skipped."""
    timed, names, elsewhere = list[TimedWork](), list[str](), dict[tuple[Trial, int], str]()
    for path in sorted(store.glob("*/ledger.sqlite")):
        folder = path.parent
        try:
            with closing(open_study(folder)) as connection:
                ledger = LedgerQueries(connection)
                cells = [one for one in ledger.cells() if one.status == "complete"]
                found = list(_timed(ledger, cells, encoders))
                if folder.name != checked.study.name:
                    elsewhere |= dict.fromkeys(_takeable(ledger, cells, folder, checked.study), folder.name)
        except InputError:
            continue
        names += [f"{len(found)} cells of {folder.name}"] if found else []
        timed += found
    return History(tuple(timed), ", ".join(names), elsewhere)


def scored_by_subject(ledger: LedgerQueries) -> dict[str, set[str]]:
    """Return the evaluations that each cell and baseline has."""
    scored, study = defaultdict[str, set[str]](set), ledger.study()
    fingerprints = study.fingerprints if study else {}
    for row in ledger.evaluations():
        if row.fingerprint == fingerprints.get(row.evaluation, row.fingerprint):
            scored[row.subject].add(row.evaluation)
    return scored


def _timed(
    ledger: LedgerQueries, cells: Collection[CellRecord], encoders: Collection[str]
) -> Iterator[TimedWork]:
    """Yield the times of the newest cells that ran in this study, and not in one they were copied from."""
    frozen = ledger.study()
    if frozen is None:
        return
    ran = [one for one in cells if one.started and one.duration_s > 0]
    ran = [one for one in ran if one.config.get("encoder", {}).get("name") in encoders]
    gpus = gpus_per_worker([one.provenance for one in ran], ledger.provenance())
    ran = sorted(ran, key=lambda one: one.ended)[-NEWEST:]
    last, num_attempts = (
        ledger.last_points(frozen.objective.metric),
        Counter(one.cell for one in ledger.attempts()),
    )
    scored, trials = scored_by_subject(ledger), trials_by_number(ran)
    for cell in (one for one in ran if one.trial in trials and one.identity in last):
        where, trial = cell.provenance, trials[cell.trial]
        on_gpu = where.get("device_type") == "cuda"
        used = where.get("workers", 1), where.get("threads", 1), gpus(cell.started) if on_gpu else 0.0
        whole, made = seconds_between(cell.started, cell.ended), filter(is_of_vectors, scored[cell.identity])
        yield TimedWork(
            conditions=Conditions.of(trial, *used),
            seconds=cell.duration_s,
            work=work_of(trial, last[cell.identity][0]),
            beside=max(0.0, whole - cell.duration_s) if num_attempts[cell.identity] <= 1 else None,
            scored=frozenset(made) if cell.stage in ("grid", "confirm") else frozenset(),
            ended=cell.ended,
            card=str(where.get("device") or "") if on_gpu else "",
        )


def _takeable(
    ledger: LedgerQueries, cells: Collection[CellRecord], folder: Path, study: Study
) -> Iterator[tuple[Trial, int]]:
    """Yield what a run copies if this machine is like theirs: a run compares the whole provenance."""
    of_vectors, scored = set(study.evaluations_of_vectors), scored_by_subject(ledger)
    needs_model = study.keep_models != "none" or len(of_vectors) < len(study.evaluations)
    device, trials = (
        "cuda" if study.resources.gpus else "cpu",
        trials_by_number(() if study.storage else cells),
    )
    for cell in (one for one in cells if one.trial in trials):
        is_alike = cell.provenance.get("device_type") == device and of_vectors <= scored[cell.identity]
        model = os.path.join(cell_folder(folder, cell.identity), MODEL_FOLDER)
        if is_alike and (not needs_model or os.path.isdir(model)):
            yield trials[cell.trial], cell.seed
