"""Rules of a study beyond single fields: how they are entered and applied."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from rse_study.errors import InputError
from rse_study.study.definition.config import Study
from rse_study.study.definition.problems import RuleProblems, errors_of

Rule = Callable[..., RuleProblems]
RULES: list[Rule] = []
RULES_OF_TRIALS: list[Rule] = []


def study_rule(check: Callable[[Study], RuleProblems]) -> Rule:
    """Enter a rule of a study's fields."""
    RULES.append(check)
    return check


def trials_rule(check: Rule) -> Rule:
    """Enter a rule of a study, its space and its rows, once these are valid."""
    RULES_OF_TRIALS.append(check)
    return check


def broken_rules(
    rules: Iterable[Rule], study: Study, *trials: Any, where: str, broken: Collection[str] = ()
) -> list[InputError]:
    """Return every broken rule, but those about fields that could not be read."""
    readable, found = study.model_copy(), list[tuple[str, str, str]]()
    for name in broken:
        vars(readable).pop(name, None)
    for check in rules:
        try:
            found += [*check(readable, *trials)]
        except AttributeError as error:
            if error.name not in broken:
                raise
    return errors_of(found, where)


def broken_by(make: Callable[[], object]) -> RuleProblems:
    """Yield why an object of a user's own class cannot be made."""
    try:
        make()
    except InputError as error:
        yield from ((one.what, one.rule, one.remedy) for one in error.problems)
