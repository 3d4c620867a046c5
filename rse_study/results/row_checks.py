"""Manipulation checks of the rows of a ledger, for its page, `check` and `status`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rse_study.results.files.queries import LedgerQueries
from rse_study.results.manipulation import ManipulationCheck, named_rows
from rse_study.results.records import CellRecord
from rse_study.results.row_names import names_of_labelled
from rse_study.results.study_record import StudyRecord

RISE = "inner/rise"
CONTROLS = ("noise", "flipped")
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
    names = names_of_labelled(study, [(one.trial, one.label, one.proposal, one.retired) for one in cells])
    checked = [check.metric for check in study.checks]
    means = ledger.later_means(checked)
    marks = [metric for metric in checked if metric.startswith(RECORDED)] or checked
    rows: dict[str, list[Mapping[str, float]]] = {}
    unchecked, controls = set[str](), set[str]()
    for cell, name in zip(cells, names, strict=True):
        if cell.status == "complete" and not cell.retired:
            rows.setdefault(name, []).append(means.get(cell.identity, {}))
            method = cell.config.get("method", {})
            if method.get("name") in study.unchecked:
                unchecked.add(name)
            if RISE in means.get(cell.identity, {}) and _is_control(method):
                controls.add(name)
    found = []
    for row, histories in rows.items():
        values = []
        for one in study.checks:
            of = [each[one.metric] for each in histories if one.metric in each]
            if any(of) or (of and not one.zero_is_off):
                # A control is not to raise the inner loss: its rise is shown, not judged.
                judged = replace(one, limit=None) if one.metric == RISE and row in controls else one
                values.append((judged, sum(of) / len(of)))
        is_recorded = any(check.metric in marks for check, _ in values)
        found.append(RowChecks(row, values if is_recorded else (), is_recorded, row in unchecked))
    return found


def _is_control(settings: Mapping[str, Any]) -> bool:
    """Whether an adversary among these settings leaves the gradient's direction on purpose."""
    return settings.get("ascent") in CONTROLS or any(
        _is_control(one) for one in settings.values() if isinstance(one, Mapping)
    )


def inert_sentences(rows: Sequence[RowChecks]) -> list[str]:
    """Say which parts of which rows were inert, and which histories do not tell."""
    inert: dict[ManipulationCheck, dict[str, float]] = {}
    for row in rows:
        for check, value in row.values:
            if check.is_inert(value):
                inert.setdefault(check, {})[row.row] = value
    texts = [check.sentence(values, len(rows)) for check, values in inert.items()]
    silent = [row.row for row in rows if not row.is_recorded and not row.names_none]
    none = [row.row for row in rows if row.names_none]
    for said, where in (("missing in", silent), ("not defined by the method of", none)):
        if where:
            what = f"Manipulation checks are {said} {named_rows(where, len(rows))}"
            texts.append(f"{what}: whether a part was inert is unknown.")
    return texts
