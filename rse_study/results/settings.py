"""Settings that readers of a ledger need; missing and unknown ones are no errors."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class GridSettings(_Settings):
    """Rows of a grid as written, and the baseline of its comparisons."""

    rows: dict[str, dict[str, Any]] = Field(default_factory=dict)
    baseline: str = ""


class PaperSettings(_Settings):
    """The table of a paper that a study repeats."""

    table: str = ""
    scale: str = "paper"


class ConfirmSettings(_Settings):
    """Settings of a search's confirmation."""

    num_best: int = 0
    baseline: Literal["base", "none"] = "none"
    seeds: tuple[int, ...] = ()

    @property
    def num_cells(self) -> int:
        return (self.num_best + (self.baseline == "base")) * len(self.seeds)


class PathSettings(_Settings):
    """Settings of a search's ablation path."""

    order: Literal["greedy", "importance"] = "greedy"
    seeds: tuple[int, ...] = ()


class WarmStartSettings(_Settings):
    """Points that a search runs first."""

    trials: tuple[dict[str, Any], ...] = ()


class BudgetSettings(_Settings):
    """Limits of a search; 0 means none."""

    hours: float = 0.0
    steps: float = 0.0
    device_hours: float = 0.0
    cost: float = 0.0
    price_per_hour: float = 0.0


class StudySettings(_Settings):
    """Sections of a study's file; an absent one is empty."""

    base: dict[str, Any] = Field(default_factory=dict)
    grid: GridSettings = GridSettings()
    paper: PaperSettings = PaperSettings()
    search: dict[str, Any] = Field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    num_trials: int = 0
    tune_each: str = ""
    early_stopping: dict[str, Any] = Field(default_factory=dict)
    search_budget: BudgetSettings = BudgetSettings()
    confirm: ConfirmSettings = ConfirmSettings()
    ablation_path: PathSettings = PathSettings()
    warm_start: WarmStartSettings = WarmStartSettings()
    allowance: dict[str, Any] = Field(default_factory=dict)
    keep_items: bool = True

    @model_validator(mode="before")
    @classmethod
    def _without_absent(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in given.items() if value is not None}

    def of_base(self, path: str) -> Any:
        """Return the base's value at a dotted path; None where it has none."""
        content: Any = self.base
        for name in path.split("."):
            content = content.get(name) if isinstance(content, dict) else None
        return content
