"""The readable parts of an invalid study file, so that all problems show at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.methods.presets import KEY
from rse_study.study.definition.config import Study
from rse_study.study.definition.problems import problems_of
from rse_study.training.trial import Trial

METHOD = ("base", "method")
STAND_INS: dict[str, Any] = {"name": "unnamed", "question": "unasked", "base": Trial()}


@dataclass(frozen=True)
class PartialStudy:
    """A study without its invalid parts."""

    study: Study
    broken: frozenset[str] = frozenset()
    """fields left out as a whole"""
    incomplete: frozenset[str] = frozenset()
    """fields that lack a part"""
    dropped: frozenset[tuple[str, ...]] = frozenset()
    """paths of what was left out, for which defaults stand"""
    further: tuple[InputError, ...] = ()
    """problems of settings beside a wrong preset, which hid them"""

    def lacks(self, *fields: str) -> bool:
        """Whether any of these fields was not read, or not completely."""
        return bool((self.broken | self.incomplete) & set(fields))


def partial_study(content: dict[str, Any], where: str = "") -> PartialStudy | None:
    """Return a study without broken axes, rows and fields; None if nothing is left."""
    valid = {str(key): value for key, value in content.items()}
    broken: set[str] = set()
    incomplete: set[str] = set()
    dropped: set[tuple[str, ...]] = set()
    further: list[InputError] = []
    for _ in range(3):  # the rest may be invalid in turn, such as a search without its only axis
        try:
            study = Study.model_validate({**STAND_INS, **valid})
            return PartialStudy(
                study, frozenset(broken), frozenset(incomplete), frozenset(dropped), tuple(further)
            )
        except InputError:
            return None
        except ValidationError as error:
            if (*METHOD, KEY) in dropped:
                found = problems_of(error, Study, where=where)
                further += [one for one in found if one.what.startswith(".".join(METHOD))]
            for path in _paths(error):
                path = _as_written(valid, path) if path[0] == "base" else path
                (broken if len(path) == 1 else incomplete).add(path[0])
                dropped.add(path)
                valid = _without(valid, path)
    return None


def _paths(error: ValidationError) -> Iterator[tuple[str, ...]]:
    """Yield for each finding what to leave out: an axis, a row, a field of the study or of its base."""
    for finding in error.errors(include_url=False):
        loc = tuple(str(part) for part in finding["loc"])
        if loc[0] == "base":
            yield loc
            continue
        is_part = (loc[0] == "search" and len(loc) > 1) or (loc[0] == "grid" and len(loc) > 2)
        yield loc[: 2 if loc[0] == "search" else 3] if is_part else loc[:1]


def _as_written(content: Any, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return a path without pydantic's tags, as far as it stands in the file."""
    written: list[str] = []
    for part in path:
        if isinstance(content, dict) and part in content:
            content = content[part]
            written.append(part)
    if written == ["base", "method"] and isinstance(content, dict) and KEY in content:
        written.append(KEY)  # the preset is wrong; the settings beside it may still be read
    return tuple(written) or path[:1]


def _without(content: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    head, *rest = path
    if head not in content:
        return content
    below = content[head]
    if rest and isinstance(below, dict):
        return {**content, head: _without({str(key): value for key, value in below.items()}, tuple(rest))}
    return {key: value for key, value in content.items() if key != head}
