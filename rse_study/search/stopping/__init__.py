"""Early stopping of searches; a new rule is a file and an entry of `RULES`."""

from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Discriminator, Tag, TypeAdapter, ValidationError

from rse_study.errors import InputError
from rse_study.results.study_record import StudyRecord
from rse_study.search.stopping.asha import Asha
from rse_study.search.stopping.hyperband import Hyperband
from rse_study.search.stopping.median import Median
from rse_study.search.stopping.rule import RuleByClass, StoppingRule
from rse_study.search.stopping.rule import RungValues as RungValues
from rse_study.search.stopping.rule import SpacedRule as SpacedRule
from rse_study.search.stopping.rule import TrialAtRung as TrialAtRung

RULES: dict[str, type[StoppingRule]] = {
    "asha": Asha,
    "median": Median,
    "hyperband": Hyperband,
}
"""Rules by name, in the order of docs and messages; the first is the default."""
DEFAULT = next(iter(RULES))


def _name_of(given: Any) -> Any:
    """Name of the rule, unless it has a class; files may leave the first one's out."""
    if isinstance(given, RuleByClass) or (isinstance(given, dict) and "class" in given):
        return "class"
    return given.get("name", DEFAULT) if isinstance(given, dict) else getattr(given, "name", DEFAULT)


if TYPE_CHECKING:
    EarlyStopping = StoppingRule
else:
    _TAGGED = [Annotated[cls, Tag(name)] for name, cls in {**RULES, "class": RuleByClass}.items()]
    EarlyStopping = Annotated[reduce(or_, _TAGGED), Discriminator(_name_of)]


@cache
def _rules() -> TypeAdapter[StoppingRule]:
    return TypeAdapter(EarlyStopping)


def rule_of(study: StudyRecord) -> StoppingRule | None:
    """Return the rule of a frozen study; None where nothing is stopped early."""
    settings = study.settings.early_stopping
    try:  # an earlier version may have let trials run: what ended is read, whatever their share
        return _rules().validate_python({**settings, "let_run": 0}) if settings else None
    except ValidationError as error:
        rule, remedy = "this version does not know this rule", "Read it with the version that ran it"
        what = f"early_stopping: {error.errors()[0]['msg']}"
        raise InputError(what, where=study.name, rule=rule, remedy=remedy) from None
