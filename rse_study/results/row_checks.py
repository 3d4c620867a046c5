"""Manipulation checks of the rows of a ledger, for its page, `check` and `status`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rse_study.results.files.queries import LedgerQueries
from rse_study.results.manipulation import ManipulationCheck, named_rows
from rse_study.results.records import CellRecord
from rse_study.results.row_names import names_of_records
from rse_study.results.study_record import StudyRecord

RISE, GRADIENT = "inner/rise", "gradient"
RECORDED = "loss_share/"  # beginning of metrics that checked cells have, if their study checks a loss


@dataclass(frozen=True)
class RowChecks:
    """The checks of a row of a grid, or of a search's trial: means over its cells."""

    row: str
    values: Sequence[tuple[ManipulationCheck, float]]
    is_recorded: bool
    """false for cells of versions that checked nothing"""
    names_none: bool = False
    """whether its method names no checks"""


def row_checks(ledger: LedgerQueries, study: StudyRecord, cells: Sequence[CellRecord]) -> list[RowChecks]:
    """Return the checks of rows with complete cells, over their later halves."""
    names = names_of_records(study, cells)
    means = ledger.later_means([check.metric for check in study.checks])
    rows: dict[str, list[CellRecord]] = {}
    for cell, name in zip(cells, names, strict=True):
        if cell.status == "complete" and not cell.retired:
            rows.setdefault(name, []).append(cell)
    return [_checks_of(row, of_row, means, study) for row, of_row in rows.items()]


def _checks_of(
    row: str, cells: Sequence[CellRecord], means: Mapping[str, Mapping[str, float]], study: StudyRecord
) -> RowChecks:
    histories = [means.get(one.identity, {}) for one in cells]
    methods = [one.config.get("method") or {} for one in cells]
    values = []
    for check in (one.of_today() for one in study.checks):
        of = [each[check.metric] for each in histories if check.metric in each]
        if any(of) or (of and not check.zero_is_off):
            # A control is not to raise the inner loss: its rise is shown, not judged.
            is_meant = check.metric == RISE and any(map(_is_control, methods))
            values.append((replace(check, limit=None) if is_meant else check, sum(of) / len(of)))
    metrics = [check.metric for check in study.checks]
    marks = [metric for metric in metrics if metric.startswith(RECORDED)] or metrics
    is_recorded = any(check.metric in marks for check, _ in values)
    names_none = any(method.get("name") in study.unchecked for method in methods)
    return RowChecks(row, values if is_recorded else (), is_recorded, names_none)


def _is_control(settings: Mapping[str, Any]) -> bool:
    """Whether an adversary among these settings leaves the gradient's direction on purpose."""
    return settings.get("ascent", GRADIENT) != GRADIENT or any(
        _is_control(one) for one in settings.values() if isinstance(one, Mapping)
    )


def inert_sentences(rows: Sequence[RowChecks]) -> list[str]:
    """Say which parts of which rows were inert, and which histories do not tell."""
    inert: dict[ManipulationCheck, dict[str, float]] = {}
    for row in rows:
        for check, value in row.values:
            if check.is_inert(value):
                inert.setdefault(check, {})[f'"{row.row}"'] = value
    texts = [check.sentence(values, len(rows)) for check, values in inert.items()]
    silent = [row.row for row in rows if not row.is_recorded and not row.names_none]
    none = [row.row for row in rows if row.names_none]
    for said, where in (("missing in", silent), ("not defined by the method of", none)):
        if where:
            what = f"Manipulation checks are {said} {named_rows(where, len(rows))}"
            texts.append(f"{what}: whether a part was inert is unknown.")
    return texts
