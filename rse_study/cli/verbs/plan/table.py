"""A plan as lines for readers, and as JSON for scripts."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

from analysis.formats import show_duration
from rse_study.study.planning.footprint import lines_of
from rse_study.study.planning.measured import Range
from rse_study.study.planning.plan import Plan, StagePlan

MOST_ROWS = 10  # of what is new; JSON has all
HEADINGS = ("", "on", "cells", "done", "stopped early", "failed", "to run", "steps", "device time")
LEAST_IMPORTANT = ("on", "steps", "stopped early", "failed", "done", "cells")
"""columns in the order in which a narrow terminal leaves them out"""


def stage_rows(plan: Plan) -> list[tuple[str, ...]]:
    """Return a row a stage, and one of the evaluations, as text under HEADINGS."""
    return [*(_stage_row(stage) for stage in plan.stages), *_scores_row(plan)]


def lines_below(plan: Plan) -> Iterator[str]:
    """Yield the lines below that table: price, what is new, sources of the figures."""
    yield f"device time in all: {_time(plan.device_hours)}{_spent(plan)}{_price(plan)}"
    if plan.num_to_run:
        unknown = ["disk and memory: the shape of its encoder is not known here"]
        yield from lines_of(plan.footprint) if plan.footprint else unknown
    yield from _new(plan)
    if plan.scores.num_only:
        trained = f", {plan.scores.num_retrained} of them retrained" if plan.scores.num_retrained else ""
        cells = "complete cell" + "s" * (plan.scores.num_only > 1)
        yield f"to evaluate only: {plan.scores.num_only:,} {cells}{trained}"
    if plan.scores.missing:
        wanted = ", ".join(f"{name} {number:,}" for name, number in plan.scores.missing.items())
        yield f"scores to compute: {wanted}"
    yield (
        f"estimated from: {plan.source}" if plan.source else "the time of its cells is unknown: use --probe"
    )
    if plan.spent_hours:
        from rse_study.results.device_time import INCLUDED  # pandas, as above

        yield f"spent before: {INCLUDED}"
    for note in plan.notes:
        yield f"note: {note}"


def as_content(plan: Plan) -> dict[str, Any]:
    """Return the whole plan as JSON; null for what is unknown."""
    return {
        "study": plan.study,
        "stages": [_stage_content(stage) for stage in plan.stages],
        "evaluations": {
            "missing": plan.scores.missing,
            "num_only": plan.scores.num_only,
            "num_retrained": plan.scores.num_retrained,
            "device_hours": _range(plan.hours_of_scores),
        },
        "num_cells": sum(stage.num_cells for stage in plan.stages),
        "num_to_run": plan.num_to_run,
        "disk_bytes": plan.footprint.disk if plan.footprint else None,
        "memory_bytes": plan.footprint.cell.memory if plan.footprint else None,
        "steps": sum(stage.num_steps for stage in plan.stages),
        "device_hours": _range(plan.device_hours),
        "spent_hours": plan.spent_hours,
        "price_per_hour": plan.price_per_hour,
        "price": _range(plan.price),
        "source": plan.source,
        "notes": plan.notes,
        "new": plan.new,
    }


def _stage_content(stage: StagePlan) -> dict[str, Any]:
    used = stage.resources
    return {
        "name": stage.name,
        "executor": used.runs_on,
        **{name: getattr(used, name) for name in ("workers", "threads", "gpus")},
        "num_cells": stage.num_cells,
        **dict(zip(("num_done", "num_stopped", "num_failed"), stage.num_ended, strict=True)),
        "num_to_run": stage.num_to_run,
        "steps": stage.num_steps,
        "device_hours": _range(stage.device_hours),
    }


def _stage_row(stage: StagePlan) -> tuple[str, ...]:
    used = stage.resources
    device = f"{used.gpus:g} GPU" if used.gpus else f"{used.threads} thread{'s' * (used.threads > 1)}"
    counts = (
        stage.num_cells,
        *stage.num_ended,
        stage.num_to_run,
        stage.num_steps,
    )
    return (
        stage.name,
        f"{used.runs_on}, {used.workers} x {device}",
        *(f"{number:,}" for number in counts),
        _time(stage.device_hours),
    )


def _scores_row(plan: Plan) -> list[tuple[str, ...]]:
    hours = plan.hours_of_scores
    if not plan.scores.missing or (hours is not None and not hours.high):
        return []
    return [("evaluations", *("",) * (len(HEADINGS) - 2), _time(hours))]


def _new(plan: Plan) -> Iterator[str]:
    if not plan.new:
        return
    yield f"new: cells of {len(plan.new):,} row{'s' * (len(plan.new) > 1)}"
    for row, seeds in islice(plan.new.items(), MOST_ROWS):
        yield f"    {row}: seeds {', '.join(map(str, seeds))}"
    if len(plan.new) > MOST_ROWS:
        yield f"    and {len(plan.new) - MOST_ROWS:,} more (--json lists all)"


def _time(hours: Range | None) -> str:
    if hours is None:
        return "unknown"
    unit, factor = next(((u, f) for u, f in (("h", 1), ("min", 60)) if hours.mid * f >= 1), ("s", 3600))
    low, mid, high = (f"{value * factor:.3g}" for value in (hours.low, hours.mid, hours.high))
    return f"{mid} {unit}" if low == high else f"{mid} {unit} ({low} to {high})"


def _spent(plan: Plan) -> str:
    if not plan.spent_hours:
        return ""
    return f", {show_duration(3600 * plan.spent_hours)} spent before"


def _price(plan: Plan) -> str:
    price = plan.price
    return "" if price is None else f"; price {price.mid:.3g} ({price.low:.3g} to {price.high:.3g})"


def _range(value: Range | None) -> dict[str, float] | None:
    return None if value is None else asdict(value)
