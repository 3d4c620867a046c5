"""What `run` does: check, prepare, search, table, report."""

from collections.abc import Sequence
from pathlib import Path

from analysis.report import write_report
from analysis.tables import as_text
from rse_study.assets import prepare
from rse_study.cli.screen import Board, announce, print_table
from rse_study.data.location import cache_dir, data_dir
from rse_study.on_ray.driver import run_study
from rse_study.study.validation import read_study
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial


def search_here(path: Path, overrides: Sequence[str], store: Path, cpus: int, address: str) -> None:
    """Run what is missing of the study, show its table and say where the report is."""
    checked = read_study(path, overrides)
    study = checked.study
    announce(f"{study.name}: {study.question}")
    for warning in checked.warnings:
        announce(f"warning: {warning}")
    folder = store / study.name
    with Board(study.num_trials) as board:
        run_study(checked, folder, _prepare, board, num_cpus=cpus, address=address)
    print_table(as_text(folder))
    announce(f"report: {write_report(folder).resolve()}")


def _prepare(trial: Trial) -> Materials:
    return prepare(trial, cache_dir(), data_dir(), announce)
