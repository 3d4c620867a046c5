"""Everything that a report shows, read once from the ledger."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import pandas as pd

from analysis.formats import decimals_of
from rse_study.frames.study_results import StudyResults
from rse_study.results.comparing.item_contrasts import MeasuredItems, measured_items
from rse_study.results.reader import Reader
from rse_study.results.records import ALWAYS_SHOWN, COSTS, FINISHED, POINTS, SELECTING
from rse_study.results.row_checks import RowChecks, row_checks
from rse_study.results.row_names import names_of_cells
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.search.state import SearchState

BASE = "base"  # label and name of the trial with the base's settings
MOST_POINTS, FEWEST_POINTS, MOST_OF_ALL = 500, 50, 25_000
"""points of a line, of a line among many, of all lines of a figure"""


@dataclass(frozen=True)
class Contents:
    """A study's frames."""

    study: StudyRecord
    cells: pd.DataFrame
    """`Reader.cells` with retired ones; adds `name`, last `objective` and `t`, `status` for the next run."""
    curves: pd.DataFrame
    """cell, t, value: the objective at each step."""
    course: pd.DataFrame
    """cell, t, name, value: other scores measured during training."""
    diagnostics: pd.DataFrame
    """cell, t, name, value: diagnostics of training steps, which are no scores."""
    attempts: pd.DataFrame
    rungs: pd.DataFrame
    evaluations: pd.DataFrame
    importance: pd.DataFrame
    revisions: pd.DataFrame
    events: pd.DataFrame
    provenance: list[dict[str, Any]]
    search: SearchState
    checks: tuple[RowChecks, ...] = ()
    """The manipulation checks of rows with complete cells."""
    items: tuple[MeasuredItems, ...] = ()
    """Scores of pairs and inputs, of rows and their baseline."""
    collapsed: frozenset[str] = frozenset()
    """Cells whose last objective value comes from a collapsed model."""
    bin_steps: int = 1
    """Steps of which a line shows one point; 1: every point is drawn."""

    @property
    def thinned_note(self) -> str:
        """Say that lines are thinned; "" where every point is drawn."""
        if self.bin_steps == 1:
            return ""
        return f"Lines show the last point in every {self.bin_steps:,} steps; `report --tables` exports all of them."

    @property
    def label(self) -> str:
        return label_of(self.study.objective)

    @property
    def decimals(self) -> int:
        """The number of decimals of the objective; a loss needs more than a score."""
        return objective_decimals(self.study.objective)

    @property
    def decimals_by_measure(self) -> dict[str, int]:
        """The number of decimals of everything that is scored, by the name readers see."""
        measures = {one.name: decimals_of(one.metric, fine=4) for one in self.study.shown_measures}
        more = {label_of(one): objective_decimals(one) for one in self.study.other_objectives}
        return measures | {self.label: self.decimals} | more

    @property
    def with_units(self) -> dict[str, str]:
        """Names of measures that have a unit of their own, with it: "time an input, ms"."""
        shown = self.study.shown_measures
        return {one.name: f"{one.name}, {one.unit}" for one in shown if one.unit not in ("", POINTS)}

    @property
    def current(self) -> pd.DataFrame:
        return self.cells[~self.cells["retired"].astype(bool)]

    def stage(self, stage: str) -> pd.DataFrame:
        """Return the newest revision's cells of one stage, by trial and seed.

        Interrupted cells that no longer fit into the search's budget are left out.
        """
        cells = self.current[self.current["stage"] == stage]
        if stage != "search" or not self.study.is_cut_short:
            return cells
        return cells[cells["status"].isin(FINISHED) | (cells["reason"] != "")]

    @property
    def first_seeds(self) -> pd.DataFrame:
        """A search's cells of the first seed, one per trial."""
        cells = self.stage("search")
        return cells[~cells["seed"].isin(self.study.further_seeds)]


def read_contents(reader: Reader) -> Contents:
    """Read all frames of a ledger."""
    search, cells = SearchState.read(reader), reader.cells(retired=True)
    study, bin_steps = search.study, bin_for_drawing(reader, len(cells))
    metrics = reader.metrics(retired=True) if bin_steps == 1 else reader.thinned_metrics(bin_steps)
    cells = cells.assign(status=cells["identity"].map(reader.statuses_for_next_run()))
    last = reader.last_points(study.objective.metric)
    curves = metrics.loc[metrics["name"] == study.objective.curve, ["cell", "t", "value"]]
    metric_names = metrics["name"].unique()
    watched = [name for name in metric_names if is_watched(study, name)]
    others = [name for name in metric_names if not name.endswith("/degenerate")]
    diagnostic = [name for name in others if name not in (study.objective.curve, SELECTING, *watched)]
    return Contents(
        study=study,
        cells=with_other_objectives(reader, with_last_values(study, cells, last)),
        curves=curves.reset_index(drop=True),
        course=metrics.loc[metrics["name"].isin(watched), ["cell", "t", "name", "value"]],
        diagnostics=metrics.loc[metrics["name"].isin(diagnostic), ["cell", "t", "name", "value"]],
        attempts=reader.attempts(retired=True),
        rungs=reader.rungs(),
        evaluations=reader.evaluations(retired=True),
        importance=reader.importance(),
        revisions=reader.revisions(),
        events=reader.events(),
        provenance=reader.provenance(),
        search=search,
        checks=tuple(row_checks(reader.ledger, study, search.cells)),
        items=tuple(measured_items(reader)),
        collapsed=reader.collapsed(),
        bin_steps=bin_steps,
    )


def bin_for_drawing(reader: Reader, num_cells: int) -> int:
    """Return the steps of which a line shows one point, so that a page stays small."""
    num_points, last = reader.longest_history()
    most = min(MOST_POINTS, max(FEWEST_POINTS, MOST_OF_ALL // max(1, num_cells)))
    return 1 if num_points <= most else ceil(last / most)


def contents_of(study: StudyResults) -> Contents:
    """Read all frames of an opened study."""
    with Reader(study.folder) as reader:
        return read_contents(reader)


def is_watched(study: StudyRecord, metric: str) -> bool:
    """Whether a metric, except the objective, is of a watched evaluation or attack."""
    if metric == study.objective.curve or metric.endswith("/degenerate"):
        return False
    evaluation = metric.rpartition("/")[0]
    return evaluation in ("robust", SELECTING) or evaluation in (study.settings.of_base("watched") or {})


def with_last_values(study: StudyRecord, cells: pd.DataFrame, last: pd.DataFrame) -> pd.DataFrame:
    """Add each cell's name, and the objective and `t` at its last step."""
    return cells.assign(
        objective=cells["identity"].map(last["value"]).astype(float),
        t=cells["identity"].map(last["t"]).astype("Int64"),
        name=names(study, cells),
    )


def with_other_objectives(reader: Reader, cells: pd.DataFrame) -> pd.DataFrame:
    """Add a column for each further objective, named by its metric."""
    metrics = [one.metric for one in reader.study().other_objectives]
    return cells.assign(
        **{metric: cells["identity"].map(reader.final_values(metric)).astype(float) for metric in metrics}
    )


def names(study: StudyRecord, cells: pd.DataFrame) -> list[str]:
    """Return a name per cell: its grid row, or the number of its trial."""
    if study.kind == "grid":
        return names_of_cells(study, cells)
    return [
        f"{trial} ({BASE})" if label == BASE else label if trial < 0 else str(trial)
        for trial, label in zip(cells["trial"], cells["label"], strict=True)
    ]


def label_of(objective: ObjectiveRecord) -> str:
    """Return the objective's name for readers."""
    return objective.label or objective.metric


def labels(contents: Contents) -> list[str]:
    """Return the name of each objective for readers."""
    return [label_of(one) for one in contents.study.all_objectives]


def objective_decimals(objective: ObjectiveRecord) -> int:
    """Return the number of decimals of an objective's values; 0 for counts."""
    if objective.metric in COSTS:
        return 0
    return decimals_of(objective.evaluation, fine=4) if objective.evaluation else 4


def baseline_scores(study: StudyRecord, evaluations: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the baselines on one evaluation: subject, label, value, degenerate."""
    matching = evaluations[evaluations["metric"] == metric].set_index("subject")
    shown = {*ALWAYS_SHOWN, *evaluations["subject"]}
    rows = [(subject, label) for subject, label in study.baselines.items() if subject in shown]
    frame = pd.DataFrame(rows, columns=["subject", "label"])
    return frame.assign(
        value=frame["subject"].map(matching["value"]).astype(float),
        degenerate=frame["subject"].isin(matching.index[matching["degenerate"]]),
    )
