"""The body of `plan`: a study checked, counted, priced, printed."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rse_study.cli.arguments.materials import materials_of
from rse_study.cli.arguments.study import study_file
from rse_study.cli.terminal.activity_bars import ActivityBars, SaidOnce
from rse_study.cli.terminal.json_output import json_of
from rse_study.cli.terminal.next_step import command, in_store, suggest, with_overrides
from rse_study.cli.terminal.screen import announce, print_rows, say, stderr
from rse_study.cli.verbs.data.listing import missing_text
from rse_study.cli.verbs.plan.table import HEADINGS, LEAST_IMPORTANT, as_content, lines_below, stage_rows
from rse_study.data.location import data_dir
from rse_study.errors import InputError, InputErrors
from rse_study.study.checking.data_check import check_data
from rse_study.study.checking.validation import CheckedStudy, read_study
from rse_study.study.definition.config import Allowance
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.footprint import footprint, free_bytes, lines_of, show_bytes
from rse_study.study.planning.ledger_state import LedgerState
from rse_study.study.planning.plan import Plan, check_allowance, plan
from rse_study.study.planning.sampling import spread
from rse_study.study.planning.throughput import Throughput, with_stated_hours


def show_plan(
    study: str,
    overrides: Sequence[str],
    store: Path,
    probes: bool,
    as_json: bool,
    max_hours: float | None,
    max_cost: float | None,
    cluster: str = "",
    is_wide: bool = False,
) -> None:
    """Print the plan; raise OverBudget where its expected total passes a limit."""
    checked = read_study(study_file(study), overrides)
    planned = planned_study(checked, store, sizes_of(checked), probes)
    if cluster:
        planned = _priced_on(cluster, checked, planned)
    if as_json:
        print(json_of(as_content(planned)))
    else:
        rows = stage_rows(planned)
        print_rows(HEADINGS, rows, "--wide, or --json", droppable=LEAST_IMPORTANT, is_wide=is_wide)
        for line in lines_below(planned):
            announce(line)
    busy = (
        ""
        if cluster or planned.device_hours is None
        else busy_machine(os.getloadavg()[1], os.cpu_count() or 1)
    )
    if busy:
        say(busy, stderr())
    _check(planned, limits(checked, max_hours, max_cost))
    missing = check_data(checked, data_dir())
    if missing:
        say(missing_text(missing, study), stderr())
    if not as_json:
        words = (study, *with_overrides(overrides), *in_store(store))
        suggest(
            command("data", "fetch", "--for", study, *with_overrides(overrides))
            if missing
            else _next(planned, words, cluster, probes)
        )


def busy_machine(load: float, num_cores: int) -> str:
    """Return a warning where other work shares the cores with what is planned."""
    if load <= num_cores / 2:
        return ""
    times = 1 + load / num_cores
    return (
        f"warning: this machine is busy (load {load:.1f} on {num_cores} cores): while it is, hours may be up to "
        f"{times:.1f} times as many"
    )


def _next(planned: Plan, words: Sequence[str], cluster: str, probes: bool) -> str:
    if planned.device_hours is None and not probes:
        return command("plan", *words, "--probe")
    if cluster:
        return command("cluster", "submit", cluster, *words)
    is_left = planned.scores.num_only or any(stage.num_to_run for stage in planned.stages)
    return command("run", *words) if is_left else command("report", planned.study)


def _priced_on(cluster: str, checked: CheckedStudy, planned: Plan) -> Plan:
    """Price a plan on a cluster; raise InputErrors where it cannot run there."""
    from rse_study.cluster.checking.resources import check_resources
    from rse_study.cluster.price import describe_price, describe_time, device_hour_price
    from rse_study.cluster.reading import read_cluster

    spec = read_cluster(cluster)
    problems = list(check_resources(spec, checked, where=cluster))
    if problems:
        raise InputErrors(problems)
    resources = checked.study.resources
    price = device_hour_price(spec, resources)
    notes = [f"{spec.name}: {describe_price(spec)}"]
    if price:
        notes.append(f"price: {price:.3g} a device hour, all nodes full; starting and idle nodes cost on top")
    if planned.device_hours is not None:
        notes.append(describe_time(spec, resources, planned.device_hours.mid))
    return replace(planned, price_per_hour=price, notes=(*planned.notes, *notes))


def sizes_of(checked: CheckedStudy) -> DataSizes:
    """Return the sizes of a study's data, each counted once, when it is asked for."""
    return DataSizes(data_dir(), checked.study.settings, checked.folder)


def require_allowance(
    checked: CheckedStudy, store: Path, data_sizes: DataSizes, max_hours: float | None, max_cost: float | None
) -> None:
    """Raise OverBudget where a limit would be passed; without history, probe cells."""
    allowed = limits(checked, max_hours, max_cost)
    if not allowed.max_hours and not allowed.max_cost:
        return
    planned = planned_study(checked, store, data_sizes, probes=False)
    if planned.device_hours is None:
        if not planned.price_per_hour:
            check_allowance(planned, 0.0, allowed.max_cost)  # refused before minutes of probing
        planned = planned_study(checked, store, data_sizes, probes=True)
    _check(planned, allowed)


def require_disk(checked: CheckedStudy, store: Path, data_sizes: DataSizes, num_to_run: int) -> None:
    """Raise InputError where the study's files would not fit on the disk."""
    location = checked.study.storage or str(store.absolute())
    if "://" in location:
        return  # an object store has no end that could be asked for
    wanted, free = footprint(checked, num_to_run, data_sizes), free_bytes(Path(location))
    if wanted is None or wanted.disk <= free:
        return
    least = replace(checked, study=checked.study.model_copy(update={"keep_models": "none"}))
    lean = footprint(least, num_to_run, data_sizes)
    option = "`storage: FOLDER` on a larger disk" if checked.study.storage else "a larger disk: --store DIR"
    if lean is not None and lean.disk <= free:
        lighter = (
            f"`-o keep_models=none` (`best` also keeps the best model), which takes {show_bytes(lean.disk)}"
        )
        option = f"{lighter}, or {option}"
    what, *_ = lines_of(wanted)
    rule = f"{show_bytes(free)} are free in {location}"
    raise InputError(what, where=checked.study.name, rule=rule, remedy=f"Use {option}")


def limits(checked: CheckedStudy, max_hours: float | None, max_cost: float | None) -> Allowance:
    """Return the study's allowance, overridden by the command line."""
    given = {"max_hours": max_hours, "max_cost": max_cost}
    said = {name: value for name, value in given.items() if value is not None}
    return checked.study.allowance.model_copy(update=said)


def planned_study(checked: CheckedStudy, store: Path, data_sizes: DataSizes, probes: bool) -> Plan:
    """Plan a study against its folder in the store, timed by histories or a probe."""
    ledger_state, throughput = _history(checked, store, data_sizes)
    if probes:
        from rse_study.study.planning.probe import probe

        with ActivityBars(stderr()) as bars:  # stdout may be JSON
            prepared = partial(materials_of, SaidOnce(bars), checked.folder)
            timed = probe(checked, prepared, partial(bars.advanced, "probe: trials timed"))
        throughput = replace(throughput, timed=timed, source="a probe on this machine")
    return plan(checked, ledger_state, with_stated_hours(throughput, checked, data_sizes), data_sizes)


def _history(checked: CheckedStudy, store: Path, data_sizes: DataSizes) -> tuple[LedgerState, Throughput]:
    """Read the ledgers of the store; without any, import nothing to read them."""
    if not any(store.glob("*/ledger.sqlite")):
        return LedgerState(), Throughput()
    from rse_study.study.planning.history import history_of

    encoders = {trial.encoder.name for trial in spread(checked)}
    return history_of(store / checked.study.name, store, data_sizes, encoders, checked.study)


def _check(planned: Plan, allowed: Allowance) -> None:
    for warning in check_allowance(planned, allowed.max_hours, allowed.max_cost):
        say(f"warning: {warning}", stderr())
