"""The problems that rules of a study find."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rse_study.errors import InputError

RuleProblems = Iterator[tuple[str, str, str]]  # what, rule, remedy


def errors_of(found: Iterable[tuple[str, str, str]], where: str) -> list[InputError]:
    """Return the problems as errors in the file `where`."""
    return [InputError(what, where=where, rule=rule, remedy=remedy) for what, rule, remedy in found]


def listed_twice(at: str, values: Sequence[Any]) -> RuleProblems:
    """Refuse values that stand in a list twice."""
    for index, value in enumerate(values):
        if value in values[:index]:
            yield listed_twice_at(f"{at}.{index}", value)


def listed_twice_at(at: str, value: Any) -> tuple[str, str, str]:
    """Return the problem of a value that its list has already."""
    return f"{at} = {value!r}", "is listed twice", "Keep one of them"
