"""Budgets of rows, and stated hours, where an override changes the base's budget."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from rse_study.errors import InputError, InputErrors
from rse_study.study.definition.config import Study
from rse_study.study.definition.paths import overlap
from rse_study.study.definition.reading import build
from rse_study.study.definition.resolution import resolve_space
from rse_study.study.definition.settings import lay, settings_of
from rse_study.study.definition.space import Axis
from rse_study.training.trial import Budget, Trial

FEWEST_STEPS = 2  # one step, at the full learning rate, is no shorter training


def in_proportion(written: dict[str, Any], content: dict[str, Any], *, where: str) -> dict[str, Any]:
    """Return a mapping in which an override of the base's budget holds for all rows.

    `written` is the mapping without overrides. A row with a budget of its own keeps its share of the base's, unless an
    override changes the row. Raises InputErrors if a share is unknown or too small.
    """
    try:
        before, after = build(Study, written, where=where), build(Study, content, where=where)
    except InputError:  # which validation reports
        return content
    if before.base.budget == after.base.budget:
        return content
    axes = _axes(before, after, where)
    if hours := after.allowance.hours_per_cell:
        told = before.allowance.steps_per_cell or _num_steps(before.base)
        steps = told if hours == before.allowance.hours_per_cell else 0
        content = content | {"allowance": {**content["allowance"], "steps_per_cell": steps}}
    if before.grid and after.grid:
        shares = dict(_shares(before, after, axes, where))
        content |= {"grid": {**content["grid"], "rows": after.grid.rows | shares}}
    return content


def _axes(before: Study, after: Study, where: str) -> tuple[Axis, ...]:
    """Return the axes; refuse those that set budgets, unless an override brought them."""
    (at, domains), (_, known) = (
        (one.grid.at, one.grid.domains) if one.grid else ("search", one.search or {})
        for one in (after, before)
    )
    axes = resolve_space(after.base, domains, where=where, at=at)[0].axes
    rule, remedy = "sets budgets, which an override of the base's does not change", "Override the axis, too"
    own = [
        axis.name for axis in axes if known.get(axis.name) == axis.domain and _writes(axis.paths, "budget")
    ]
    if own:
        raise InputErrors([InputError(f"{at}.{name}", where=where, rule=rule, remedy=remedy) for name in own])
    return axes


def _shares(
    before: Study, after: Study, axes: Iterable[Axis], where: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each row with a budget of its own, with its share of the new one instead."""
    assert before.grid and after.grid
    fields, problems = {axis.name: axis.paths for axis in axes}, []
    # An epoch of a row may have another number of steps, of which it keeps its share.
    has_epochs = "epochs" == before.base.budget.unit != after.base.budget.unit
    parts = ("budget", "corpus.limit", "batch_size") if has_epochs else ("budget",)
    for name, row in after.grid.rows.items():
        at = f"grid.rows.{name}"
        settings = settings_of(before.base, row, fields, where=where, at=at)
        own = {one.at.removeprefix(f"{at}.") for one in settings if _writes(one.paths, "budget")}
        if not any(_writes(one.paths, *parts) for one in settings) or row != before.grid.rows.get(name):
            continue
        was, now = (lay(base, settings, where=where, at=at) for base in (before.base, after.base))
        budget = _share(before.base, after.base, was, now)
        if budget and now.model_copy(update={"budget": budget}).num_steps(FEWEST_STEPS) >= FEWEST_STEPS:
            yield name, {key: row[key] for key in row if key not in own} | {"budget": budget.model_dump()}
            continue
        rule = (
            "its share of the base's new budget is a single step"
            if budget
            else "an epoch has no known length"
        )
        remedy = "Give the base a larger budget" if budget else "Set base.corpus.limit"
        remedy += f", or override this row's budget, too: -o '{at}.budget={{unit: steps, amount: N}}'"
        problems.append(InputError(at, where=where, rule=rule, remedy=remedy))
    if problems:
        raise InputErrors(problems)


def _share(before: Trial, after: Trial, was: Trial, now: Trial) -> Budget | None:
    """Return the part of the new budget that a row had of the old one; None if unknown."""
    is_alike, own = before.budget.unit == after.budget.unit, was.budget
    parts = [one.budget.amount if is_alike else _num_steps(one) for one in (after, before)]
    ratio = Fraction(*parts) if all(parts) else Fraction(0)
    unit, amount = own.unit, own.amount * ratio
    if unit == "epochs" and amount.denominator > 1:
        unit, amount = "steps", _num_steps(now if is_alike else was) * ratio
    return Budget(unit=unit, amount=max(1, round(amount))) if amount else None


def _num_steps(trial: Trial) -> int:
    """Return the steps of a trial's budget, as far as its file says; 0 if unknown."""
    given = (trial.corpus.limit, getattr(trial.corpus.source, "num_sentences", 0))
    num_sentences = min(filter(None, given), default=0)
    is_known = trial.budget.unit != "epochs" or num_sentences
    return trial.num_steps(num_sentences // trial.batch_size) if is_known else 0


def _writes(paths: Iterable[str], *parts: str) -> bool:
    return any(overlap(part, path) for path in paths for part in parts)
