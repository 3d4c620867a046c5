"""The body of `run`: check, prepare, run, table, report."""

import os
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from analysis.comparison_table import NOT_AGAIN
from analysis.report import report_of
from analysis.scores import as_text
from rse_study.cli import parameters
from rse_study.cli.arguments import materials_of, problems_of_table, require_cache, require_folder, study_file
from rse_study.cli.terminal import screen
from rse_study.cli.terminal.activity_bars import ActivityBars, SaidOnce
from rse_study.cli.terminal.errors import INCOMPLETE, OK
from rse_study.cli.terminal.progress import ProgressBoard
from rse_study.data import data_dir
from rse_study.errors import InputError, refuse
from rse_study.on_ray.nodes.ray_folder import ray_folder
from rse_study.results.reader import Reader
from rse_study.results.row_names import names_by_identity
from rse_study.search.state import SearchState
from rse_study.study.checking.data_check import check_data, notes_on_data
from rse_study.study.checking.validation import CheckedStudy, read_study
from rse_study.study.pending import PendingRevision
from rse_study.study.planning.footprint import missing_gpu


def run_and_report(
    study: parameters.StudyArgument,
    overrides: parameters.Overrides = None,
    store: parameters.Store = parameters.DEFAULT_STORE,
    cpus: Annotated[
        int, typer.Option(min=0, help="CPUs to use; 0 = all that are available to this process.")
    ] = 0,
    address: Annotated[
        str, typer.Option(help="Address of a running Ray cluster; default: Ray on this machine.")
    ] = "",
    track: Annotated[str, typer.Option(help="Follow it in a tracker: mlflow, wandb, tensorboard.")] = "",
    max_hours: parameters.MaxHours = None,
    max_cost: parameters.MaxCost = None,
    is_wide: parameters.Wide = False,
    is_revised: parameters.Revise = False,
) -> int:
    """Run or resume a study, and write its report.

    An interrupted study continues where it stopped.

    The first Ctrl-C lets running cells finish; the second stops at once. Exit code 0 if every cell completed, 3 if
    some did not, 4 if a grid would take more than --max-hours, 130 after Ctrl-C.
    """
    overrides = overrides or []
    path = study_file(study)
    checked = read_study(path, overrides, max_hours)
    folder = store / checked.study.name
    screen.announce(f"{checked.study.name}: {checked.study.question}")
    screen.announce(*(f"warning: {warning}" for warning in checked.warnings))
    if track and folder.is_dir():
        screen.announce(
            f"note: {track} gets the cells that run now; docs/trackers.md logs those that have ended"
        )
    # What is wrong with Ray's folder is said before the work.
    with nullcontext() if address else ray_folder():
        notes = _require_everything(checked, folder, on_this_machine=not address)
    screen.announce(*(f"note: {note}" for note in notes))
    on_ray = {"num_cpus": cpus, "address": address, "track": track, "max_hours": max_hours}
    _run_missing(checked, folder, is_revised=is_revised, **on_ray)
    again = screen.command("run", study, *screen.with_overrides(overrides), *screen.in_store(store), "--wide")
    with Reader(folder) as reader:
        show_table(reader, f"{again}, or in the report", is_wide)
        with ActivityBars() as bars, bars.waiting("writing the report"):
            report = report_of(reader)
        screen.announce(f"report: {report.resolve()}")
        code = conclude(reader)
    screen.suggest(_next(checked, store, code))
    return code


def _consents(board: ProgressBoard, pending: PendingRevision) -> bool:
    """Ask for consent to a revision, if anybody is there; raise InputError where it is refused."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    board.bars.live.stop()  # which would be drawn over the question
    screen.say(str(pending.refusal), screen.stderr())
    try:
        if typer.confirm("Revise it?", err=True):
            return True
    except typer.Abort:
        raise KeyboardInterrupt from None
    raise InputError("nothing was revised", where=pending.refusal.where)


def _run_missing(checked: CheckedStudy, folder: Path, *, is_revised: bool, **on_ray: Any) -> None:
    from rse_study.on_ray.driver import run_study  # torch and Ray, which a refused study need not wait for

    if os.environ.get("RAY_ADDRESS") and not on_ray["address"]:
        screen.announce(
            "note: RAY_ADDRESS is not followed: this run starts Ray itself. --address auto joins it"
        )
    evaluation = partial(checked.read_evaluation, data_dir=data_dir())
    study = checked.study
    may_need_fewer = study.gives_seeds_until_decided or study.search_budget or study.ablation_path
    with ProgressBoard(
        checked.num_cells,
        objective=study.objective.metric,
        read_planned=partial(num_planned, folder) if may_need_fewer else int,
        shows_seeds=study.gives_seeds_until_decided,
    ) as board:
        prepared = partial(materials_of, SaidOnce(board), checked.folder, study_dir=folder)

        def consents(pending: PendingRevision) -> bool:
            return is_revised or _consents(board, pending)

        run_study(checked, folder, prepared, evaluation, board, consents=consents, **on_ray)


def num_planned(folder: Path) -> int:
    """Return the number of cells that a running study may still come to."""
    with Reader(folder) as reader:
        return SearchState.read(reader).num_planned


def _next(checked: CheckedStudy, store: Path, code: int) -> str:
    """Ask why cells are missing; else do what a grid or a search is made for."""
    name, where = checked.study.name, screen.in_store(store)
    if code != OK:
        return screen.command("status", name, *where)
    if checked.study.grid is not None:
        return screen.command("check", name, *where)
    return screen.command("export", name, f"{name}-best", *where)


def _require_everything(checked: CheckedStudy, folder: Path, *, on_this_machine: bool) -> list[str]:
    """Return notes on the data; raise InputErrors where something is missing, or where nothing can be written."""
    require_folder(folder, where="--store")
    require_cache()
    study = checked.study
    table = study.paper.table if study.paper else ""
    no_gpu = missing_gpu(checked) if on_this_machine else None
    missing = check_data(checked, data_dir(), is_run=True) + ([no_gpu] if no_gpu else [])
    refuse(problems_of_table(table, where=study.name) + missing)
    return notes_on_data(checked, data_dir())


def conclude(reader: Reader) -> int:
    """Return 0 where every cell has ended well, else 3 and print what is missing."""
    search = SearchState.read(reader)
    counts, names = search.counts, names_by_identity(search.study, search.cells)
    num_left = counts["planned"] - counts["complete"] - counts["stopped_early"]
    if num_left <= 0:
        return OK
    parts = {"failed": counts["failed"], "still to run": counts["missing"] + counts["running"]}
    told = f"{num_left} of {counts['planned']} cells are not complete"
    told += "".join(f", {number} of them {what}" for what, number in parts.items() if number)
    failed = next((one for one in reader.ledger.cells() if one.status == "failed" and not one.retired), None)
    if failed:
        told += f". {names[failed.identity]}: {failed.reason}"
        told += f". {NOT_AGAIN}" if counts["failed"] else ""
    screen.say(told, screen.stderr())
    return INCOMPLETE


def show_table(reader: Reader, see_all: str, is_wide: bool = False) -> None:
    """Print a study's table; columns of seeds are left out first."""
    study, table = reader.study(), as_text(reader)
    label = study.objective.label or study.objective.metric
    if study.kind == "grid":
        screen.announce(f"{label}:")
        table = table.rename(columns={name: name.removeprefix(f"{label} ") for name in table.columns})
    seeds = [name for name in table.columns[::-1] if name.startswith("seed ")]
    screen.print_table(table, see_all, droppable=[*seeds, "time", "step"], is_wide=is_wide)
