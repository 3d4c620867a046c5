"""Content of a study's file: read, overridden, and what can be read of it."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rse_study.errors import InputError, refuse
from rse_study.methods.presets import KEY
from rse_study.study.definition.config import FORMER_KEYS, SEARCH_ONLY, Study
from rse_study.study.definition.problems import problems_of
from rse_study.study.definition.reading import apply_overrides, build, read_extended, require_kind
from rse_study.study.definition.resolution import resolve_space
from rse_study.study.definition.rows import rows_of
from rse_study.training.trial import Trial
from rse_study.yaml12 import parse_yaml

OTHERS = ("search", "grid", "paper", "contrasts")
"""what a study asks beside its base, which the grid takes the place of"""
FEWEST_STEPS = 2  # one step, at the full learning rate, is no shorter training
METHOD = ("base", "method")
STAND_INS: dict[str, Any] = {"name": "unnamed", "question": "unasked", "base": Trial()}


def read_content(path: Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Return a study's unchecked mapping: its file, what that extends, overrides."""
    content = read_extended(path, former=FORMER_KEYS)
    require_kind(content, "study", where=str(path))
    written, others = with_quick_grid(content, overrides)
    content = deepcopy(written)
    apply_overrides(content, others, former=FORMER_KEYS)
    return in_proportion(written, content, where=str(path)) if others else content


def with_quick_grid(content: dict[str, Any], overrides: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Turn a study into a grid over settings with several values.

    The other overrides are returned, too. The grid has a name of its own, `quickstart-rho`, and its first row is the
    baseline. An axis of the study's own writes the fields that it writes there.
    """
    axes, others = dict[str, list[Any]](), list[str]()
    for override in overrides:
        path, _, text = override.partition("=")
        values = _several(text) if _is_setting(path.strip()) else []
        others += [] if values else [override]
        axes |= {path.strip().removeprefix("base."): values} if values else {}
    if not axes:
        return content, others
    own = {**(content.get("search") or {}), **((content.get("grid") or {}).get("axes") or {})}
    name, several = content.get("name", ""), content.get("objectives")
    kept = {key: value for key, value in content.items() if key not in (*SEARCH_ONLY, *OTHERS)}
    kept |= {"objective": several[0]} if several and "objective" not in kept else {}
    baseline = ", ".join(f"{axis} = {values[0]}" for axis, values in axes.items())
    domains = {
        axis: {"choice": values, "into": own[axis]["into"]} if "into" in (own.get(axis) or ()) else values
        for axis, values in axes.items()
    }
    return {
        **kept,
        "name": "-".join([name, *(axis.rpartition(".")[2].lower() for axis in axes)]),
        "question": f"Which values of {' and '.join(axes)} are best in {name}?",
        "grid": {"axes": domains, "baseline": baseline},
    }, others


def _is_setting(path: str) -> bool:
    """Whether a path names a setting of the base, not another field of the study."""
    return path.startswith("base.") or path.partition(".")[0] not in Study.model_fields


def _several(text: str) -> list[Any]:
    """Return values with commas between them; none for one value, a list or a quoted text."""
    value = parse_yaml(f"value: {text}", where="-o")["value"]
    if not isinstance(value, str) or "," not in value or value != text.strip():
        return []
    return [parse_yaml(f"value: {part}", where="-o")["value"] for part in value.split(",")]


def in_proportion(written: dict[str, Any], content: dict[str, Any], *, where: str) -> dict[str, Any]:
    """Return a mapping in which an override of the base's budget holds for all rows.

    `written` is the mapping without overrides. A row keeps its share of the base's steps, unless an override changes
    the row. Raises InputErrors if a share is unknown or too small.
    """
    try:
        before, after = (build(Study, one, where=where) for one in (written, content))
    except InputError:  # which validation reports
        return content
    if before.base.budget == after.base.budget:
        return content
    if after.allowance.hours_per_cell:
        told = before.allowance.steps_per_cell or _num_steps(before.base)
        is_of_old = before.allowance.hours_per_cell == after.allowance.hours_per_cell
        content = content | {
            "allowance": {**content["allowance"], "steps_per_cell": told if is_of_old else 0}
        }
    for axis in resolve_space(after.base, after.search or {}, where=where)[0].axes:
        what, sets_it = f"search.{axis.name}", any(path.startswith("budget") for path in axis.paths)
        if sets_it and (before.search or {}).get(axis.name) == axis.domain:
            rule, remedy = "sets the budgets of trials itself", f"Override it, too: -o '{what}={{...}}'"
            raise InputError(what, where=where, rule=rule, remedy=remedy)
    if not (before.grid and after.grid):
        return content
    return content | {"grid": {**content["grid"], "rows": _rows_in_proportion(before, after, where)}}


def _rows_in_proportion(before: Study, after: Study, where: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a grid, each with its share of the base's new steps."""
    assert before.grid is not None and after.grid is not None
    rows, known, problems = dict(after.grid.rows), _trials(before, where), dict[str, InputError]()
    grown = Fraction(_num_steps(after.base), _num_steps(before.base) or 1)
    for name, now in _trials(after, where).items():
        was, row = known.get(name), rows.get(name, {})
        if was is None or row != before.grid.rows.get(name, {}):
            continue
        steps = _num_steps(was) * grown
        follows = (was.budget, now.budget) == (before.base.budget, after.base.budget)
        if round(steps) == _num_steps(now) > 0 or (follows and not steps):
            continue
        if name in rows and round(steps) >= FEWEST_STEPS:
            kept = {key: value for key, value in row.items() if key.partition(".")[0] != "budget"}
            rows[name] = kept | {"budget": {"unit": "steps", "amount": round(steps)}}
        else:
            at = f"grid.rows.{name}" if name in rows else after.grid.at
            rule, remedy = _why_no_share(name, at, steps, before.base.budget.unit)
            problems[at] = InputError(at, where=where, rule=rule, remedy=remedy)
    refuse(problems.values())
    return rows


def _why_no_share(name: str, at: str, steps: Fraction, unit: str) -> tuple[str, str]:
    """Return rule and remedy of a row that cannot have its share of the base's steps."""
    share = f"{round(steps)} step(s)" if steps else "unknown without corpus.limit"
    if at == f"grid.rows.{name}":
        remedy = "Give the base a larger budget, or override this one, too"
        example = f"-o '{at}.budget={{unit: steps, amount: N}}'"
        return f"its share of the base's new budget is {share}", f"{remedy}: {example}"
    rule = f"a row of axes has the base's budget, and the share of {name} is {share}"
    return rule, f"Keep the budget's unit ({unit}), or override the axes, too"


def _trials(study: Study, where: str) -> dict[str, Trial]:
    assert study.grid is not None
    space, _ = resolve_space(study.base, study.grid.domains, where=where, at=study.grid.at)
    return {row.label or str(row): row.trial for row in rows_of(study.grid, space, where=where)[0]}


def _num_steps(trial: Trial) -> int:
    """Return the steps of a trial's budget, as far as its file says; 0 if unknown."""
    given = (trial.corpus.limit, getattr(trial.corpus.source, "num_sentences", 0))
    num_sentences = min(filter(None, given), default=0)
    return trial.num_steps(num_sentences // trial.batch_size)


@dataclass(frozen=True)
class PartialStudy:
    """A study without its invalid parts."""

    study: Study
    dropped: frozenset[tuple[str, ...]] = frozenset()
    """paths of what was left out, for which defaults stand"""
    further: tuple[InputError, ...] = ()
    """problems of settings beside a wrong preset, which hid them"""

    @property
    def broken(self) -> set[str]:
        """Fields left out as a whole."""
        return {path[0] for path in self.dropped if len(path) == 1}

    def lacks(self, *fields: str) -> bool:
        """Whether any of these fields was not read, or not completely."""
        return any(path[0] in fields for path in self.dropped)


def partial_study(content: dict[str, Any], where: str = "") -> PartialStudy | None:
    """Return a study without broken axes, rows and fields; None if nothing is left."""
    valid = {str(key): value for key, value in content.items()}
    dropped: set[tuple[str, ...]] = set()
    further: list[InputError] = []
    for _ in range(3):  # the rest may be invalid in turn, such as a search without its only axis
        try:
            study = Study.model_validate({**STAND_INS, **valid})
            return PartialStudy(study, frozenset(dropped), tuple(further))
        except InputError:
            return None
        except ValidationError as error:
            if (*METHOD, KEY) in dropped:
                found = problems_of(error, Study, where=where)
                further += [one for one in found if one.what.startswith(".".join(METHOD))]
            for path in _paths(error):
                path = _as_written(valid, path) if path[0] == "base" else path
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
