"""Budgets of a study's rows, and stated hours, where an override changes the base's budget."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from rse_study.errors import InputError, InputErrors
from rse_study.study.definition.config import Study
from rse_study.study.definition.paths import overlap
from rse_study.study.definition.reading import build
from rse_study.study.definition.resolution import resolve_space
from rse_study.study.definition.rows import rows_of
from rse_study.study.definition.settings import settings_of
from rse_study.study.definition.space import Axis
from rse_study.training.trial import Budget, Trial

FEWEST_STEPS = 2  # a single one has the full learning rate, and nothing follows it


def in_proportion(written: dict[str, Any], content: dict[str, Any], *, where: str) -> dict[str, Any]:
    """Return a study's mapping in which an override of the base's budget holds for all rows.

    `written` is the mapping without overrides. Rows with a budget of their own keep their share of the base's, unless
    an override names them, too. Raises InputErrors where nobody can say how much that is.
    """
    try:
        before, after = build(Study, written, where=where), build(Study, content, where=where)
    except InputError:  # which validation says
        return content
    if before.base.budget == after.base.budget or not (after.grid or after.search):
        return content
    hours = {"steps_per_cell": before.allowance.steps_per_cell or _steps(before.base)}
    if hours["steps_per_cell"] and before.allowance.hours_per_cell == after.allowance.hours_per_cell:
        content = {**content, "allowance": {**(content.get("allowance") or {}), **hours}}
    return content if after.grid is None else _with_rows(before, after, content, where)
