"""The body of `plan`: a study checked, counted, priced, in lines or as JSON."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from analysis.formats import show_duration
from rse_study.activity import SILENCE
from rse_study.cli import parameters
from rse_study.cli.arguments import materials_of, study_file
from rse_study.cli.terminal import screen
from rse_study.cli.terminal.activity_bars import ActivityBars, SaidOnce
from rse_study.cli.verbs.data import missing_text
from rse_study.data import cache_dir, data_dir
from rse_study.errors import refuse
from rse_study.results.archive import ORIGIN
from rse_study.results.device_time import INCLUDED
from rse_study.results.files.connect import has_ledger
from rse_study.study.checking.data_check import check_data
from rse_study.study.checking.rules import MADE_FROM_CORPUS
from rse_study.study.checking.validation import CheckedStudy, read_study
from rse_study.study.planning.footprint import disk_too_small, lines_of, missing_gpu
from rse_study.study.planning.measured import Range, TimedWork
from rse_study.study.planning.plan import Plan, StagePlan, check_hours, plan_study
from rse_study.training.materials import Materials, PrepareMaterials
from rse_study.training.trial import Replayed, Trial


def show_plan(
    study: parameters.StudyArgument,
    overrides: parameters.Overrides = None,
    probes: Annotated[
        bool,
        typer.Option(
            "--probe", help="Time a few training steps on this machine to estimate how long cells take."
        ),
    ] = False,
    as_json: parameters.AsJson = False,
    max_hours: parameters.MaxHours = None,
    max_cost: parameters.MaxCost = None,
    cluster: Annotated[
        str,
        typer.Option(
            metavar="SPEC", help="Use the prices of this cluster; default: allowance.price_per_hour."
        ),
    ] = "",
    store: parameters.Store = parameters.DEFAULT_STORE,
    is_wide: parameters.Wide = False,
) -> None:
    """Show the remaining cells of a study and estimate their cost.

    The cost in steps, device hours and price.

    Hours are estimated from the studies in the store, or from a probe; otherwise they are unknown. A device is a GPU,
    or a processor core if cells use no GPU. Exit code 4 if the expected total of a grid exceeds --max-hours; a
    warning if only the high estimate does.
    """
    overrides = overrides or []
    checked = read_study(study_file(study), overrides, max_hours)
    missing = check_data(checked, data_dir())
    prepare = materials_of_identity(checked, store, is_here=not missing)
    planned = plan_study(checked, store, prepare, probe_with_bars if probes else None)
    if cluster:
        planned = _priced_on(cluster, checked, planned)
    if as_json:
        print(screen.json_of(as_content(planned)))
    else:
        rows = stage_rows(planned)
        screen.print_rows(HEADINGS, rows, "--wide, or --json", droppable=LEAST_IMPORTANT, is_wide=is_wide)
        screen.announce(*lines_below(planned))
    for warning in _warnings(checked, planned, store, max_hours, is_here=not cluster):
        screen.say(f"warning: {warning}", screen.stderr())
    if missing:
        screen.say(missing_text(missing, study), screen.stderr())
    if not as_json:
        limit = () if max_hours is None else ("--max-hours", f"{max_hours:g}")
        words = (study, *screen.with_overrides(overrides), *screen.in_store(store), *limit)
        screen.suggest(
            screen.command("data", "fetch", "--for", study, *screen.with_overrides(overrides))
            if missing
            else _next(planned, words, cluster, probes, store)
        )


def _warnings(
    checked: CheckedStudy, planned: Plan, store: Path, max_hours: float | None, *, is_here: bool
) -> Iterator[str]:
    """Yield warnings on the machine, if the study runs here, and on the limit; raise OverBudget beyond that."""
    if is_here:
        busy = busy_machine(os.getloadavg()[1], os.cpu_count() or 1) if planned.device_hours else ""
        found = (busy, disk_too_small(checked.study, planned.footprint, store), missing_gpu(checked))
        yield from (str(one) for one in found if one)
    if max_hours and checked.rows:
        yield from check_hours(planned, max_hours)


def busy_machine(load: float, num_cores: int) -> str:
    """Return a warning where other work shares the cores with what is planned."""
    if load <= num_cores / 2:
        return ""
    times = 1 + load / num_cores
    return (
        f"this machine is busy (load {load:.1f} on {num_cores} cores): until that ends, cells may take up to"
        f" {times:.1f} times as long"
    )


def _next(planned: Plan, words: Sequence[str], cluster: str, probes: bool, store: Path) -> str:
    if planned.device_hours is None and not probes:
        return screen.command("plan", *words, "--probe")
    if cluster:
        return screen.command("cluster", "submit", cluster, *words)
    is_complete = planned.is_complete
    return (
        screen.command("report", planned.study, *screen.in_store(store))
        if is_complete
        else screen.command("run", *words)
    )


def _priced_on(cluster: str, checked: CheckedStudy, planned: Plan) -> Plan:
    """Price a plan on a cluster; raise InputErrors where it cannot run there."""
    from rse_study.cluster.check import check_resources
    from rse_study.cluster.node_capacity import describe_price, describe_time, device_hour_price
    from rse_study.cluster.spec import read_cluster

    spec = read_cluster(cluster)
    refuse(list(check_resources(spec, checked, where=cluster)))
    resources = checked.study.resources
    price = device_hour_price(spec, resources)
    notes = [f"{spec.name}: {describe_price(spec)}"]
    if price:
        notes.append(f"price: {price:.3g} a device hour, all nodes full; starting and idle nodes cost on top")
    if planned.device_hours is not None:
        notes.append(describe_time(spec, resources, planned.device_hours.mid, planned.num_to_run))
    return replace(planned, price_per_hour=price, notes=(*planned.notes, *notes))


def probe_with_bars(checked: CheckedStudy, folder: Path) -> tuple[TimedWork, ...]:
    """Time a few steps of a study on this machine, with a bar on stderr."""
    from rse_study.study.planning.probe import probe  # imports torch, which most plans do without

    with ActivityBars(screen.stderr()) as bars:  # stdout may be JSON
        prepared = partial(materials_of, SaidOnce(bars), checked.folder, study_dir=folder)
        return probe(checked, prepared, partial(bars.advanced, "probe: trials timed"))


def materials_of_identity(checked: CheckedStudy, store: Path, *, is_here: bool) -> PrepareMaterials | None:
    """Return a function that prepares the materials of a trial's identity.

    None if there is no ledger to compare with, or if the study's data or base are not on this machine.
    """
    folder = store / checked.study.name
    if not is_here or not has_ledger(folder) or stands_elsewhere(checked, folder):
        return None
    return partial(_without_replayed, checked.folder, folder)


def _without_replayed(beside: Path, study_dir: Path, trial: Trial) -> Materials:
    """Prepare a trial's materials without its replayed sets, which take long."""
    plain = trial.model_copy(update={"replayed": Replayed()})
    with ActivityBars(screen.stderr()) as bars, bars.waiting("comparing corpus and base with the ledger's"):
        return materials_of(SILENCE, beside, plain, study_dir=study_dir)


def stands_elsewhere(checked: CheckedStudy, folder: Path) -> bool:
    """Whether a study came in an archive, or without the base that was trained for it."""
    if (folder / ORIGIN).is_file():
        return True
    from rse_study.assets.store import trained_assets  # imports torch

    return checked.study.base.encoder.name in MADE_FROM_CORPUS and not trained_assets(folder, cache_dir())


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
    counts = (stage.num_cells, *stage.num_ended, stage.num_to_run, stage.num_steps)
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
