"""The body of `report`: the page of a study or of attacks, and files beside it."""

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from analysis.report import changed_at, report_path, study_folders, write_index, write_report
from rse_study.cli import parameters
from rse_study.cli.arguments.paths import require_file, study_folder
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import announce, stderr, suggest
from rse_study.cli.verbs.report.files import FilesRequest, write_files, write_images
from rse_study.cli.verbs.status.content import state_of
from rse_study.cli.verbs.status.show import summary_of
from rse_study.errors import InputError
from rse_study.results.files.attack_file import is_attack_folder
from rse_study.results.files.lock import holder
from rse_study.results.reader import Reader
from rse_study.results.records import FEWEST_TRIALS


def write_page(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="A study that has run: its name, folder, YAML file or archive. Or a folder of attacks.",
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(help="The HTML file; default: report.html in the study's folder, or attacks.html."),
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the ledger's tables into this folder.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write every figure into this folder.")
    ] = None,
    formats: Annotated[
        list[parameters.FileFormat] | None,
        typer.Option(
            "--as",
            help="Tables: parquet (default), csv, or latex for a paper. Figures: svg (default) or png.",
        ),
    ] = None,
    kit: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write what a paper needs here: tables, figures, BibTeX, an archive, how rows were compared.",
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Write an index of all studies, and each report that is missing or old."),
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Update it while the study runs; the page reloads itself.")
    ] = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Write the study's report: one self-contained HTML file.

    --tables also writes its numbers for other programs or for a paper, and --figures its figures as images (extra
    `images`).

    For a folder that `attack` wrote, writes the page of its attacks.
    """
    files = {"--tables": tables, "--figures": figures, "--kit": kit}
    if every:
        _refuse({"STUDY": study, **files, "--watch": watch}, "--all", "it is of all studies at once")
        _write_index(store, out)
    elif watch:
        _refuse(files, "--watch", "files are written once, at the end")
        watch_page(study, store, out)
    else:
        _write_page(study, store, out, FilesRequest(tables, figures, kit, formats or ()))


def _refuse(options: Mapping[str, Any], other: str, rule: str) -> None:
    """Raise InputError for the first of these options that was given beside `other`."""
    for name in (name for name, given in options.items() if given):
        what, remedy = f"cannot be combined with {other}", f"Leave out {name}, or {other}"
        raise InputError(what, where=name, rule=rule, remedy=remedy)


def _write_page(study: str, store: Path, out: Path | None, request: FilesRequest) -> None:
    """Write the page of a study or of attacks, and files; print every path."""
    if not study:
        remedy = "Name one (rse-study studies lists them), or ask for all: rse-study report --all"
        raise InputError("no study is named", where="STUDY", remedy=remedy)
    if out:
        require_file(out, where="--out")
    if is_attack_folder(Path(study)):
        _report_attacks(Path(study), out, request)
        return
    folder = study_folder(study, store)
    if not out:
        require_file(report_path(folder), where="the study's folder (or name a file by --out)")
    request.check()
    with ActivityBars(stderr()) as bars, bars.waiting("writing the report"):  # stdout gets paths
        enter_missing_importance(folder)
        path = write_report(folder, out)
    print(path)
    with ActivityBars(stderr()) as bars, bars.waiting("writing files"):
        files = list(write_files(folder, path.read_text(encoding="utf-8"), request))
    for written in files:
        print(written)
    suggest(f"open {path} in a browser")


def _report_attacks(folder: Path, out: Path | None, request: FilesRequest) -> None:
    from analysis.attacks import write_attacks

    for option, asked in (("--tables", request.tables), ("--kit", request.kit)):
        if asked:
            rule, remedy = "it is made from a study's ledger", f"Read {folder}/*.jsonl: one outcome per line"
            raise InputError("attacks have none", where=f"{option} {asked}", rule=rule, remedy=remedy)
    request.check()
    path = write_attacks(folder, out)
    print(path)
    if request.figures:
        for written in write_images(path.read_text(encoding="utf-8"), request.figures, request):
            print(written)


def _write_index(store: Path, out: Path | None) -> None:
    """Write the index and reports that are missing or old."""
    if out:
        require_file(out, where="--out")
    if not study_folders(store):
        raise InputError("no study has run here", where=str(store), remedy="Run one: rse-study run STUDY")
    with ActivityBars(stderr()) as bars, bars.waiting("writing reports and their index"):
        for folder in study_folders(store):
            enter_missing_importance(folder)
        path = write_index(store, out)
    print(path)
    suggest(f"open {path} in a browser")


def enter_missing_importance(study_dir: Path) -> None:
    """Enter the importance of a search's axes, which no file beside a ledger holds."""
    from rse_study.results.files.ledger import Ledger

    with suppress(InputError):  # a ledger that cannot be read or written goes without it
        with Reader(study_dir) as reader:
            complete = [one for one in reader.records() if (one.stage, one.status) == ("search", "complete")]
            if len(complete) < FEWEST_TRIALS or len(reader.importance()) or reader.is_held():
                return
        from rse_study.sampling.importance import enter_importance

        with Ledger.open(study_dir) as ledger:
            enter_importance(ledger)


LOOK_SECONDS = 2.0
RELOAD_SECONDS = 10
REST = 4  # the page is written for at most one part in so many of the time


def watch_page(study: str, store: Path, out: Path | None) -> None:
    """Write the page again when the ledger has changed, until the run ends or Ctrl-C."""
    if out:
        require_file(out, where="--out")
    study_dir = study_folder(study, store)
    try:
        for _ in changes(study_dir):
            path = write_report(study_dir, out, reload_s=RELOAD_SECONDS)
            announce(f"{time.strftime('%H:%M:%S')} {summary_of(state_of(study_dir))}: {path}")
    finally:
        enter_missing_importance(study_dir)
        announce(f"{write_report(study_dir, out)}: final; it no longer reloads itself")


def changes(study_dir: Path) -> Iterator[None]:
    """Yield at once and after each change of a study's ledger, while somebody runs it."""
    while holder(study_dir) is not None:
        began, state = time.monotonic(), changed_at(study_dir)
        yield
        took = time.monotonic() - began
        time.sleep(max(LOOK_SECONDS, (REST - 1) * took))
        while holder(study_dir) is not None and changed_at(study_dir) == state:
            time.sleep(LOOK_SECONDS)
