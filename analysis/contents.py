"""Everything that a report shows, read once from the ledger."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.formats import decimals_of
from rse_study.frames.study_results import StudyResults
from rse_study.results.reader import Reader
from rse_study.results.records import (
    ALWAYS_SHOWN,
    BASELINES,
    COSTS,
    FINISHED,
    SELECTING,
    ObjectiveRecord,
    StudyRecord,
)
from rse_study.results.row_names import names_of_cells
from rse_study.search.ablation_path import PathState
from rse_study.search.budget import BudgetShare
from rse_study.search.choice import TrialResult
from rse_study.search.race import RaceState
from rse_study.search.state import SearchState

BASE = "base"  # label of the trial that is the paper's setting
PAPER_SETTING = "paper setting"


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
    standings: tuple[TrialResult[str], ...] = ()
    """Results of a search's trials; the key is the identity of the first seed's cell."""
    race: RaceState | None = None
    collapsed: frozenset[str] = frozenset()
    """Cells whose last objective value comes from a collapsed model."""
    path: PathState | None = None
    """Progress of the ablation path; None without one, and before the search is over."""
    search_budget: tuple[BudgetShare, ...] = ()
    """Used share of each limit of a search."""
    num_path_cells: int = 0

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
    def current(self) -> pd.DataFrame:
        return self.cells[~self.cells["retired"].astype(bool)]

    def stage(self, stage: str) -> pd.DataFrame:
        """Return the newest revision's cells of one stage, by trial and seed.

        Interrupted cells that no longer fit into the search's budget are left out.
        """
        cells = self.current[self.current["stage"] == stage]
        if stage != "search" or not self.study.is_ended_by_budget:
            return cells
        return cells[cells["status"].isin(FINISHED) | (cells["reason"] != "")]

    @property
    def first_seeds(self) -> pd.DataFrame:
        """A search's cells of the first seed, one per trial; all cells without a race."""
        cells = self.stage("search")
        return cells[~cells["seed"].isin(self.study.raced_seeds[1:])]


def read_contents(reader: Reader) -> Contents:
    """Read all frames of a ledger."""
    search, metrics = SearchState.read(reader), reader.metrics(retired=True)
    study = search.study
    cells = reader.cells(retired=True)
    cells = cells.assign(status=cells["identity"].map(reader.statuses_for_next_run()))
    last = reader.last_points(study.objective.metric)
    curves = metrics.loc[metrics["name"] == study.objective.curve, ["cell", "t", "value"]]
    metric_names = metrics["name"].unique()
    watched = [name for name in metric_names if is_watched(study, name)]
    diagnostic = [name for name in metric_names if is_diagnostic(study, name)]
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
        standings=search.standings,
        race=search.race,
        collapsed=reader.collapsed(),
        path=search.path,
        search_budget=search.budget,
        num_path_cells=search.num_path_cells,
    )


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


def is_diagnostic(study: StudyRecord, metric: str) -> bool:
    """Whether a metric is neither a score nor a score's mark."""
    is_score = metric in (study.objective.curve, SELECTING) or is_watched(study, metric)
    return not is_score and not metric.endswith("/degenerate")


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
        f"{trial} ({PAPER_SETTING})" if label == BASE else label if trial < 0 else str(trial)
        for trial, label in zip(cells["trial"], cells["label"], strict=True)
    ]


def label_of(objective: ObjectiveRecord) -> str:
    """Return the objective's name for readers."""
    return objective.label or objective.metric


def objective_decimals(objective: ObjectiveRecord) -> int:
    """Return the number of decimals of an objective's values; 0 for counts."""
    if objective.metric in COSTS:
        return 0
    return decimals_of(objective.evaluation, fine=4) if objective.evaluation else 4


def baseline_scores(evaluations: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the baselines on one evaluation: subject, label, value, degenerate."""
    matching = evaluations[evaluations["metric"] == metric].set_index("subject")
    shown = {*ALWAYS_SHOWN, *evaluations["subject"]}
    rows = [(subject, label) for subject, label in BASELINES.items() if subject in shown]
    frame = pd.DataFrame(rows, columns=["subject", "label"])
    return frame.assign(
        value=frame["subject"].map(matching["value"]).astype(float),
        degenerate=frame["subject"].isin(matching.index[matching["degenerate"]]),
    )
