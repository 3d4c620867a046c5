"""What `run` does: check, prepare, search, table, report."""

import functools
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.report import write_report
from analysis.tables import as_text
from rse_study.assets import prepare
from rse_study.cli.border import INCOMPLETE, OK
from rse_study.cli.places import require_cache, require_folder
from rse_study.cli.screen import Board, announce, print_table
from rse_study.data.location import cache_dir, data_dir
from rse_study.on_ray.driver import run_study
from rse_study.results.reader import Reader
from rse_study.study.validation import read_study
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial


def search_here(path: Path, overrides: Sequence[str], store: Path, cpus: int, address: str) -> int:
    """Run what is missing of the study, show its table, say where the report is; the exit code says if all is well."""
    checked = read_study(path, overrides)
    study = checked.study
    announce(f"{study.name}: {study.question}")
    for warning in checked.warnings:
        announce(f"warning: {warning}")
    folder = store / study.name
    require_folder(folder, where="--store")
    require_cache()
    say = functools.cache(announce)  # what several trials share is said once

    def prepared(trial: Trial) -> Materials:
        return prepare(trial, cache_dir(), data_dir(), say)

    with Board(study.num_trials) as board:
        run_study(checked, folder, prepared, board, num_cpus=cpus, address=address)
    print_table(as_text(folder))
    announce(f"report: {write_report(folder).resolve()}")
    return conclude(folder)


def conclude(folder: Path) -> int:
    """0 where every planned trial has ended well; else 3, and what is missing on stderr."""
    with Reader(folder) as reader:
        num_planned, cells = reader.study().num_trials, reader.cells()
    ended_well = cells["status"].isin(["complete", "stopped_early"])
    num_left = num_planned - int(ended_well.sum())
    if num_left <= 0:
        return OK
    failed = cells[cells["status"] == "failed"]
    told = f"{num_left} of {num_planned} trials are not complete, {len(failed)} of them failed"
    if len(failed):
        told += f". Trial {failed['trial'].iloc[0]}: {failed['reason'].iloc[0]}"
    print(told, file=sys.stderr)
    return INCOMPLETE
