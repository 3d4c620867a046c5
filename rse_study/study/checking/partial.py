"""The readable parts of an invalid study file, so that all problems show at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.study.definition.config import Study
from rse_study.training.trial import Trial

STAND_INS: dict[str, Any] = {"name": "unnamed", "question": "unasked", "base": Trial()}


@dataclass(frozen=True)
class PartialStudy:
    """A study without its invalid parts."""

    study: Study
    broken: frozenset[str] = frozenset()
    """fields left out as a whole"""
    incomplete: frozenset[str] = frozenset()
    """fields that lack a part"""

    def lacks(self, *fields: str) -> bool:
        """Whether any of these fields was not read, or not completely."""
        return bool((self.broken | self.incomplete) & set(fields))


def partial_study(content: dict[str, Any]) -> PartialStudy | None:
    """Return a study without broken axes, rows and fields; None if nothing is left."""
    valid = {str(key): value for key, value in content.items()}
    broken: set[str] = set()
    incomplete: set[str] = set()
    for _ in range(2):  # the rest may be invalid in turn, such as a search without its only axis
        try:
            return PartialStudy(
                Study.model_validate({**STAND_INS, **valid}), frozenset(broken), frozenset(incomplete)
            )
        except InputError:
            return None
        except ValidationError as error:
            for path in _paths(error):
                (broken if len(path) == 1 else incomplete).add(path[0])
                valid = _without(valid, path)
    return None


def _paths(error: ValidationError) -> Iterator[tuple[str, ...]]:
    """Yield for each finding what to leave out: an axis, a row, or a field of the study."""
    for finding in error.errors(include_url=False):
        loc = tuple(str(part) for part in finding["loc"])
        is_part = (loc[0] == "search" and len(loc) > 1) or (loc[0] == "grid" and len(loc) > 2)
        yield loc[: 2 if loc[0] == "search" else 3] if is_part else loc[:1]


def _without(content: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    head, *rest = path
    if head not in content:
        return content
    below = content[head]
    if rest and isinstance(below, dict):
        return {**content, head: _without({str(key): value for key, value in below.items()}, tuple(rest))}
    return {key: value for key, value in content.items() if key != head}
