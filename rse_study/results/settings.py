"""Settings that readers of a ledger need; missing and unknown ones are no errors."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, model_validator

from rse_study.spec import Spec


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class GridSettings(_Settings):
    """Rows of a grid as written, factors of its design, and its baseline."""

    rows: dict[str, dict[str, Any]] = Field(default_factory=dict)
    factorial: dict[str, Any] = Field(default_factory=dict)
    baseline: str = ""


class Paper(Spec):
    """The table or figure of a paper that a grid repeats.

    Its claims are checked on the grid's rows.
    """

    table: str = ""
    """for example rse-table6; empty: of no table of a paper"""
    scale: Literal["paper", "mini", "minilm"] = "paper"
    """mini: a tiny encoder, minilm: one that has seen sentence pairs; neither proves anything about the paper's, and
    `check` says `same direction here`, or `on MiniLM`"""


class UntilDecided(Spec):
    """Seeds that a grid's rows, or confirmed trials, get until they are decided.

    One is decided once its anytime-valid verdict against the baseline is better, worse or the same within the margin.
    A grid's seeds count from 0, those of confirmed trials from the first number above the search's own seeds.
    """

    until: Literal["decided"]
    """what ends the seeds of a row or trial"""
    at_least: int = Field(3, ge=3)
    """seeds of each before the first verdict"""
    at_most: int = Field(16, ge=3, le=1000)
    """seeds after which one stays undecided; may be raised later"""

    @model_validator(mode="after")
    def _has_room(self) -> "UntilDecided":
        if self.at_most < self.at_least:
            raise ValueError(
                f"has at_most = {self.at_most}, which is below at_least = {self.at_least}. Raise at_most"
            )
        return self

    @property
    def range_text(self) -> str:
        return f"{self.at_least} to {self.at_most}"


class Confirmation(Spec):
    """Trials that a confirmation runs again."""

    num_best: PositiveInt = 1
    """trials, beside the baseline"""
    baseline: Literal["base", "none"] = "base"
    """what they are compared with, run with the same seeds"""


class ConfirmSettings(Confirmation, extra="ignore"):
    """Settings of a search's confirmation; without one, no seeds."""

    seeds: tuple[int, ...] = ()
    """all that a trial may have"""
    until_decided: UntilDecided | None = None

    @property
    def num_trials(self) -> int:
        return self.num_best + (self.baseline == "base")

    @property
    def num_cells(self) -> int:
        return self.num_trials * len(self.seeds)

    @property
    def least_seeds(self) -> tuple[int, ...]:
        """Those that every trial has."""
        return self.seeds[: self.until_decided.at_least] if self.until_decided else self.seeds


class Flips(Spec):
    """The order of an ablation path."""

    order: Literal["greedy", "importance"] = "greedy"
    """greedy: of all axes left, the one that brings most, k(k+1)/2 points over k axes that differ; importance: the axes
    by their importance, k points"""


class PathSettings(Flips, extra="ignore"):
    """Settings of a search's ablation path; without one, no seeds."""

    seeds: tuple[int, ...] = ()


class StudySettings(_Settings):
    """Sections of a study's file; an absent one is empty."""

    notes: str = ""
    tags: tuple[str, ...] = ()
    base: dict[str, Any] = Field(default_factory=dict)
    grid: GridSettings = GridSettings()
    paper: Paper = Paper()
    search: dict[str, Any] = Field(default_factory=dict)
    contrasts: dict[str, dict[str, float | str]] = Field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    """all that a row or trial may have"""
    until_decided: UntilDecided | None = None
    num_trials: int = 0
    tune_each: str = ""
    margin: float | None = None
    early_stopping: dict[str, Any] = Field(default_factory=dict)
    search_budget: dict[str, Any] = Field(default_factory=dict)
    confirm: ConfirmSettings = ConfirmSettings()
    ablation_path: PathSettings = PathSettings()
    keep_items: bool = True

    @model_validator(mode="before")
    @classmethod
    def _without_absent(cls, given: dict[str, Any]) -> dict[str, Any]:
        given = _with_all_seeds({name: value for name, value in given.items() if value is not None})
        if "confirm" in given:
            first = 1 + max(given.get("seeds", ()), default=0)
            given["confirm"] = _with_all_seeds(given["confirm"], first)
        return given

    def of_base(self, path: str) -> Any:
        """Return the base's value at a dotted path; None where it has none."""
        content: Any = self.base
        for name in path.split("."):
            content = content.get(name) if isinstance(content, dict) else None
        return content


def _with_all_seeds(section: dict[str, Any], first: int = 0) -> dict[str, Any]:
    """Return a section with all seeds that its bounds allow, if it has bounds."""
    bounds = section.get("seeds")
    if not isinstance(bounds, dict):
        return section
    most = UntilDecided.model_validate(bounds).at_most
    return section | {"seeds": range(first, first + most), "until_decided": bounds}
