"""A stopping rule that a study names by its class: of ours, or a pruner of Optuna."""

from collections.abc import Callable
from typing import Any

from pydantic import ConfigDict, PrivateAttr, model_validator

from rse_study.registry import ClassPath
from rse_study.search.stopping.rule import SpacedRule, StoppingRule, TrialAtRung
from rse_study.spec import field


class RuleByClass(SpacedRule):
    """A rule by `module:Class`.

    The class decides; all else is known without importing it. It derives from StoppingRule, and then needs `passes`
    alone, or from Optuna's BasePruner. Rungs lie where `first` and `every` or `factor` say, the same for every trial.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    class_: ClassPath = field(alias="class")
    """`module:Class` of a StoppingRule or of a pruner of Optuna: of a file beside the study, or installed"""
    settings: dict[str, Any] = field({})
    """what `class` is made with, beside the rungs"""

    _decides: Callable[[TrialAtRung], bool] | None = PrivateAttr(None)

    @model_validator(mode="before")
    @classmethod
    def _has_no_name(cls, given: Any) -> Any:
        if isinstance(given, dict) and "name" in given:
            remedy = "Keep one (`name: null` takes away that of a file extended)"
            raise ValueError(f"has a name and a class. {remedy}")
        return given

    @property
    def condition(self) -> str:
        return f"{self.class_} lets it go on"

    def shared_with(self, cls: type[StoppingRule]) -> dict[str, Any]:
        """Return the fields that a class shares, unless `settings` gives them."""
        names = [
            name for name in SpacedRule.model_fields if name in cls.model_fields and name not in self.settings
        ]
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def decided_by(self, decides: Callable[[TrialAtRung], bool]) -> "RuleByClass":
        """Return this rule with the function that decides who passes."""
        rule = self.model_copy()
        rule._decides = decides
        return rule

    def passes(self, waiting: TrialAtRung) -> bool:
        assert self._decides is not None, "the class is imported before a search runs"
        return self._decides(waiting)
