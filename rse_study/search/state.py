"""The state of a search, read from its ledger."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rse_study.results.cell_state import count_cells
from rse_study.results.queries import LedgerQueries, now
from rse_study.results.records import CellRecord, StudyRecord
from rse_study.search.ablation_path import PathState, num_path_cells, num_planned, path_state
from rse_study.search.budget import BudgetShare, as_far_as_it_went, budget_shares
from rse_study.search.choice import TrialResult, standings_of
from rse_study.search.race import RaceState, race_of

if TYPE_CHECKING:
    from rse_study.results.reader import Reader  # and pandas, which `status` does without


@dataclass(frozen=True)
class SearchState:
    """The state of a search; for a grid, its study and cells."""

    study: StudyRecord
    """as frozen, but with fewer trials if the budget had no room for more"""
    cells: tuple[CellRecord, ...]
    """newest revision's, with the status that the next run finds"""
    budget: tuple[BudgetShare, ...]
    race: RaceState | None
    path: PathState | None
    """None without an ablation path, and before the search is over"""
    standings: tuple[TrialResult[str], ...]
    """results of the trials; the key is the identity of the first seed's cell"""

    @classmethod
    def read(cls, reader: "Reader") -> "SearchState":
        reader.study()  # refused where nothing was frozen yet
        return search_state(reader.ledger, reader.records(), is_held=reader.is_held())

    @property
    def num_planned(self) -> int:
        return num_planned(self.study, self.cells, self.path, self.race)

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells by status, with those planned and missing."""
        return count_cells((cell.status for cell in self.cells), self.num_planned)

    @property
    def num_path_cells(self) -> int:
        return num_path_cells(self.study, self.cells, self.path, self.race)


def search_state(ledger: LedgerQueries, cells: Iterable[CellRecord], *, is_held: bool) -> SearchState:
    """Return the state of a frozen study's search."""
    frozen, cells = ledger.study(), tuple(cells)
    assert frozen is not None, "nothing was frozen yet"
    shares = budget_shares(ledger, now(), is_held=is_held)
    study = as_far_as_it_went(ledger, frozen, cells, shares)
    race = race_of(ledger, study, cells)
    last_points, importance = ledger.last_points(study.objective.metric), ledger.importance()
    return SearchState(
        study=study,
        cells=cells,
        budget=shares,
        race=race,
        path=path_state(study, cells, last_points, importance, race),
        standings=tuple(standings_of(ledger, "search")) if study.kind == "search" else (),
    )
