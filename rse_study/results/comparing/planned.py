"""Contrasts that a study's file plans: weighted sums of its rows, judged together.

They are one family: intervals and p hold for all of a measure at once. One that was added or changed when results were
there says so.
"""

from dataclasses import dataclass
from typing import Any

from rse_study.results.comparing import comparisons
from rse_study.results.comparing.contrasts import Family, measures_of, numbers_of
from rse_study.results.comparing.criterion import after_a_look
from rse_study.results.frame_columns import frame_of
from rse_study.results.reader import Reader
from rse_study.results.row_names import BY, WrittenContrast, contrasts_of, row_finder, weights_of


@dataclass(frozen=True)
class PlannedContrasts(Family):
    """The contrasts of a study's file whose rows are in the ledger."""

    noun = "contrast"


def read_planned(reader: Reader) -> PlannedContrasts:
    """Return the planned contrasts on every measure, the objective first."""
    study, cells = reader.study(), reader.cells()
    find, since = row_finder(study, cells), _since(reader)
    axes = {axis.name: axis.choices for axis in study.axes}
    known: dict[str, tuple[str, dict[str, float]]] = {}
    for written, content in study.settings.contrasts.items():
        for name, weights in contrasts_of(written, content, study.settings.grid.rows, axes):
            rows = {find(row): weight for row, weight in weights.items()}
            if None not in rows:
                known[name] = written, rows  # type: ignore[assignment]
    measures, lines = measures_of(study) if known else {}, []
    for metric, scores in comparisons.scores_by_metric(reader, measures).items() if known else ():
        here = {name: one for name, one in known.items() if {*one[1]} <= {*scores.table.index}}
        of_rows = [weights for _, weights in here.values()]
        compared = comparisons.compare(scores.table, of_rows, criterion=scores.criterion)
        fixed = {"measure": measures[metric], "metric": metric, "less_is_better": scores.less_is_better}
        for (name, (written, weights)), one in zip(here.items(), compared, strict=True):
            waits = bool(scores.criterion.on(weights).so_far)
            own = {"contrast": name, "since": since.get(written, ""), "waits": waits}
            lines.append(fixed | own | numbers_of(scores, weights, one))
    return PlannedContrasts(frame_of(lines, "planned"))


def _since(reader: Reader) -> dict[str, str]:
    """Return since which revision contrasts are as they are, if there were results before it."""
    found: dict[str, str] = {}
    for number, *both in after_a_look(reader.study(), reader.revisions(), reader.cells(retired=True)):
        old, new = (study.get("contrasts") or {} for study in both)
        found |= {
            name: f"revision {number}" for name in new if _content(new[name]) != _content(old.get(name))
        }
    return found


def _content(written: WrittenContrast | None) -> Any:
    return written and (written.get(BY), weights_of(written))
