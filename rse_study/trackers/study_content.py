"""Reading of a tracker's content from a ledger."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rse_study.frames.tables import times
from rse_study.results.files.lock import holder
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader
from rse_study.results.row_names import in_order_of_file, names_of_cells
from rse_study.results.study_record import StudyRecord
from rse_study.spec import fingerprint_of
from rse_study.trackers.content import CellState, TrackedCell, TrackedPoint, TrackedStudy, TrackedTrial

SECONDS = "seconds"
"""Name of the score that gives a cell's training time."""


def read_study(study_dir: Path) -> TrackedStudy:
    """Read a snapshot of a study's current cells, as far as they have started."""
    is_held = holder(study_dir) is not None  # before the ledger is read, to see its last changes
    written = written_at(study_dir)
    with Reader(study_dir) as reader:
        study, revision, provenance = reader.study(), reader.revisions().iloc[-1], reader.provenance()
        cells = _begun_cells(reader, study, is_held, written)
        histories, scores = _histories(reader), _scores(reader)
    trials: dict[str, list[pd.Series]] = defaultdict(list)
    for _, cell in cells.iterrows():
        setting = fingerprint_of([cell["label"], cell["proposal"]])
        trials[f"{cell['trial']}-{setting[:12]}"].append(cell)
    return TrackedStudy(
        name=study.name,
        question=study.question,
        kind=study.kind,
        objective=study.objective.label or study.objective.metric,
        direction=study.objective.direction,
        revision=int(revision["number"]),
        revised=_seconds(pd.Series([revision["at"]]))[0],
        code=str(provenance[-1].get("code", "")) if provenance else "",
        resolved=study.resolved,
        trials=tuple(
            TrackedTrial(
                key=key,
                name=of[0]["row"],
                label=of[0]["label"],
                params=_params(study, of[0]["proposal"]),
                cells=tuple(
                    _cell(study, cell, histories.get(cell["identity"], {}), scores.get(cell["identity"], {}))
                    for cell in of
                ),
            )
            for key, of in trials.items()
        ),
    )


def written_at(study_dir: Path) -> float:
    """Return the time (Unix) of the last change of the ledger or its -wal file."""
    ledger = ledger_path(study_dir)
    files = (ledger, ledger.with_name(f"{ledger.name}-wal"))
    return max((path.stat().st_mtime for path in files if path.is_file()), default=0.0)


def _begun_cells(reader: Reader, study: StudyRecord, is_held: bool, written: float) -> pd.DataFrame:
    """Return started cells by trial and seed, with state, times and code revision."""
    cells, attempts = reader.cells(), reader.attempts().drop_duplicates("cell", keep="last").set_index("cell")
    cells["row"] = names_of_cells(study, cells)
    newest = attempts.reindex(cells["identity"]).reset_index(drop=True)
    own_end = _seconds(cells["ended"])
    # A cell run by another study has a result but no attempt.
    cells["begin"] = _seconds(newest["started"].fillna("")).fillna(own_end - cells["duration_s"])
    cells["end"] = own_end.fillna(_seconds(newest["ended"].fillna("")))
    cells["state"] = [_state(status, is_held) for status in cells["status"]]
    cells["until"] = cells["end"].fillna(written)
    cells["end"] = cells["until"].where(cells["state"] != "running")
    lost = cells["state"] == "interrupted"
    cells["reason"] = cells["reason"].mask(lost, newest["reason"].fillna(""))
    cells["code"] = [_code_at(reader.provenance(), begin) for begin in cells["begin"]]
    return cells[cells["begin"].notna()]


def _state(status: str, is_held: bool) -> CellState:
    if status == "running":
        return "running" if is_held else "interrupted"
    # A planned cell that has started was lost: the next run resumes it.
    states: Mapping[str, CellState] = {
        "complete": "complete",
        "stopped_early": "stopped_early",
        "failed": "failed",
    }
    return states.get(status, "interrupted")


def _code_at(provenance: Sequence[Mapping[str, Any]], begin: float) -> str:
    """Return the code revision of the last run started by then, else of the first."""
    runs = zip(_seconds(pd.Series([run["at"] for run in provenance], dtype=object)), provenance, strict=True)
    revisions = [(at, str(run.get("code", ""))) for at, run in runs]
    earlier = [code for at, code in revisions if at <= begin]
    return (earlier[-1:] or [code for _, code in revisions[:1]] or [""])[0]


def _params(study: StudyRecord, proposal: Mapping[str, Any]) -> dict[str, Any]:
    headings = dict(zip((axis.name for axis in study.axes), study.headings, strict=True))
    return {headings.get(name, name): value for name, value in in_order_of_file(study, proposal).items()}


def _cell(
    study: StudyRecord,
    cell: pd.Series,
    history: Mapping[int, Mapping[str, float]],
    scores: Mapping[str, float],
) -> TrackedCell:
    confirms = " (confirm)" if cell["stage"] == "confirm" else ""
    has_ended = cell["state"] != "running"
    seconds = {SECONDS: float(cell["duration_s"])} if has_ended and cell["duration_s"] else {}
    return TrackedCell(
        identity=cell["identity"],
        name=f"{cell['row']} seed {cell['seed']}{confirms}",
        seed=int(cell["seed"]),
        stage=cell["stage"],
        state=cell["state"],
        reason=cell["reason"],
        params=_params(study, cell["proposal"]) | {"seed": int(cell["seed"])},
        config=cell["config"],
        code=cell["code"],
        started=float(cell["begin"]),
        ended=float(cell["end"]) if has_ended else None,
        points=_points(history, float(cell["begin"]), float(cell["until"])),
        scores={**scores, **seconds},
    )


def _points(
    history: Mapping[int, Mapping[str, float]], begin: float, until: float
) -> tuple[TrackedPoint, ...]:
    """Spread points over the cell's time by step: a ledger has no times of points."""
    last = max(history, default=0) or 1
    span = max(until - begin, 0.0)
    return tuple(
        TrackedPoint(t=t, at=begin + span * t / last, values=values) for t, values in sorted(history.items())
    )


def _histories(reader: Reader) -> dict[str, dict[int, dict[str, float]]]:
    found: dict[str, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    metrics = reader.metrics()
    columns = (metrics[name] for name in ("cell", "t", "name", "value"))
    for cell, t, name, value in zip(*columns, strict=True):
        found[cell][int(t)][name] = float(value)
    return found


def _scores(reader: Reader) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    rows = reader.evaluations()
    for subject, metric, value in zip(rows["subject"], rows["metric"], rows["value"], strict=True):
        found[subject][metric] = float(value)
    return found


def _seconds(stamps: pd.Series) -> pd.Series:
    return (times(stamps.astype(object)) - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
