"""The state of a search, read from its ledger."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rse_study.results.comparing.row_seeds import RowSeeds, row_seeds_of
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.reader import Reader, count_cells
from rse_study.results.records import CellRecord, Stage
from rse_study.results.settings import StudySettings
from rse_study.results.study_record import StudyRecord
from rse_study.search.ablation_path import PathState, most_path_cells, num_path_cells, path_state
from rse_study.search.budget import BudgetShare, as_far_as_it_went, budget_shares, ended_by, searched_cells
from rse_study.search.choice import TrialResult, is_search_over, standings_of

STAGES: dict[Stage, str] = {
    "grid": "grid",
    "search": "search",
    "confirm": "confirmation",
    "path": "ablation path",
}
"""The stages of a study in order, with the names that reports give them."""


@dataclass(frozen=True)
class SearchState:
    """The state of a search; for a grid, its study and cells."""

    study: StudyRecord
    """as frozen, but with fewer trials or cells if the budget had no room for more, or rows are decided"""
    cells: tuple[CellRecord, ...] = ()
    """newest revision's, with the status that the next run finds"""
    budget: tuple[BudgetShare, ...] = ()
    rows: RowSeeds | None = None
    """None unless a grid's rows, or confirmed trials, get seeds until they are decided"""
    path: PathState | None = None
    """None without an ablation path, and before the search is over"""
    standings: tuple[TrialResult[str], ...] = ()
    """results of the trials; the key is the identity of the first seed's cell"""

    @classmethod
    def read(cls, reader: Reader) -> "SearchState":
        reader.study()  # refused where nothing was frozen yet
        return search_state(reader.ledger, reader.records(), is_held=reader.is_held())

    @property
    def is_over(self) -> bool:
        """Whether all trials have ended: before that, another may become the best."""
        return is_search_over(self.study, self.cells)

    @property
    def reason_of_end(self) -> str:
        """Which limits ended the search; empty if none did."""
        return ended_by(self.study, self.budget) if self.study.is_cut_short else ""

    @property
    def most_cells(self) -> dict[Stage, int]:
        """The largest number of cells that each stage may still come to."""
        if self.study.kind == "grid":
            return {"grid": self.study.num_cells}
        num_searched = self.study.num_trials + num_of_further_seeds(self.study, self.cells)
        num_confirmed = self.rows.most_cells if self.rows else self.study.confirm_settings.num_cells
        return {"search": num_searched, "confirm": num_confirmed, "path": self.num_path_cells}

    @property
    def num_planned(self) -> int:
        """The largest number of cells that the study may still come to."""
        counted = most_cells_by_stage(self.study.settings, len(self.study.axes))["path"]
        return self.study.num_cells - counted + self.num_path_cells

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells by status, with those planned and missing."""
        return count_cells((cell.status for cell in self.cells), self.num_planned)

    @property
    def num_path_cells(self) -> int:
        return num_path_cells(self.study, self.cells, self.path, is_search_over=self.is_over)


def most_cells_by_stage(settings: StudySettings, num_axes: int) -> dict[Stage, int]:
    """Return the largest number of cells of each stage of a search that has not begun."""
    num_in_path = most_path_cells(num_axes, settings.ablation_path, settings.confirm)
    return {"search": settings.num_trials, "confirm": settings.confirm.num_cells, "path": num_in_path}


def search_state(ledger: LedgerQueries, cells: Iterable[CellRecord], *, is_held: bool) -> SearchState:
    """Return the state of a frozen study's search."""
    frozen, cells = ledger.study(), tuple(cells)
    assert frozen is not None, "nothing was frozen yet"
    num_spared = frozen.num_trials * len(frozen.further_seeds) - num_of_further_seeds(frozen, cells)
    frozen = frozen.model_copy(update={"num_cells": frozen.num_cells - num_spared})
    shares = budget_shares(ledger, is_held=is_held)
    searched = searched_cells(cells, ledger.attempts()) if shares else []
    study = as_far_as_it_went(frozen, searched, shares)
    rows = row_seeds_of(ledger, study, cells)
    if rows is not None:
        others = 0 if study.kind == "grid" else study.num_cells - study.confirm_settings.num_cells
        study = study.model_copy(update={"num_cells": others + rows.most_cells})
    is_over = is_search_over(study, cells)
    last_points, importance = ledger.last_points(study.objective.metric), ledger.importance()
    return SearchState(
        study=study,
        cells=cells,
        budget=shares,
        rows=rows,
        path=path_state(study, cells, last_points, importance, is_search_over=is_over),
        standings=tuple(standings_of(ledger, cells)) if study.kind == "search" else (),
    )


def num_of_further_seeds(study: StudyRecord, cells: Iterable[CellRecord]) -> int:
    """Count the cells of further seeds, which earlier versions gave to trials."""
    further = study.further_seeds
    return sum(cell.stage == "search" and cell.seed in further for cell in cells)


def describe_counts(counts: Mapping[str, int], is_live: bool = True) -> str:
    """Describe `SearchState.counts`; running cells that nobody runs are interrupted."""
    names = {"stopped_early": "stopped early", "missing": "to run"}
    shown = {names.get(name, name): number for name, number in counts.items() if number}
    if not is_live and "running" in shown:
        shown["interrupted"] = shown.pop("running")
    planned = shown.pop("planned", 0)
    return f"{planned} cells: {', '.join(f'{number} {name}' for name, number in shown.items()) or 'none yet'}"
