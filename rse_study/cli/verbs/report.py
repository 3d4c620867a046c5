"""The body of `report`: the page of a study or of attacks, and files beside it."""

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from analysis.comparison import comparison_of
from analysis.contents import contents_of
from analysis.paper.kit import ImageKind, bibtex, how_compared, how_to_replay, write_figures
from analysis.paper.layout import write_latex
from analysis.report import changed_at, report_path, study_folders, write_index, write_report
from rse_study import open_study
from rse_study.cli import parameters
from rse_study.cli.arguments import require_file, require_folder, study_folder
from rse_study.cli.status_content import state_of
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import announce, stderr, suggest
from rse_study.cli.verbs.status import summary_of
from rse_study.data import cache_dir
from rse_study.errors import InputError
from rse_study.frames.study_results import StudyResults
from rse_study.results.archive import write_archive
from rse_study.results.export import write_tables
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.attack_file import is_attack_folder
from rse_study.results.files.connect import holder
from rse_study.results.reader import Reader
from rse_study.results.records import FEWEST_TRIALS

FORMATS = {"--tables": ("parquet", "csv", "latex"), "--figures": ("svg", "png")}
"""by the option that asks for the files; the first of each is the default"""
CITATION = "citation.txt"


@dataclass(frozen=True)
class FilesRequest:
    """Files to write beside the page."""

    tables: Path | None
    figures: Path | None
    kit: Path | None
    formats: Collection[str]
    """named by the user"""

    def check(self) -> None:
        """Raise InputError where a folder cannot be written, or a format decides nothing."""
        folders = {"--tables": self.tables, "--figures": self.figures}
        for option, folder in {**folders, "--kit": self.kit}.items():
            if folder:
                require_folder(folder, where=option)
        for name in self.formats:
            (option,) = (option for option, known in FORMATS.items() if name in known)
            if folders[option] is None:
                rule, remedy = "a format that has no effect", f"Say where they go: {option} DIR"
                raise InputError(f"--as {name} without {option}", rule=rule, remedy=remedy)

    def formats_of(self, option: str) -> list[str]:
        """Return the formats of --tables or --figures."""
        return [name for name in FORMATS[option] if name in self.formats] or [FORMATS[option][0]]


def write_files(study_dir: Path, html: str, request: FilesRequest) -> Iterator[Path]:
    """Write the requested files beside a study's page, and yield the paths."""
    study = open_study(study_dir)
    if request.tables:
        for name in request.formats_of("--tables"):
            if name == "latex":
                yield from write_latex(study, request.tables)
                continue
            with Reader(study_dir) as reader:
                yield from write_tables(reader, request.tables, cast(Literal["parquet", "csv"], name))
    if request.figures:
        yield from write_images(html, request.figures, request)
    if request.kit:
        yield from write_kit(study, html, request.kit)
    for folder in dict.fromkeys(folder for folder in (request.tables, request.figures) if folder):
        yield write_whole(folder / CITATION, f"{study.citation}\n")


def write_images(html: str, folder: Path, request: FilesRequest) -> Iterator[Path]:
    """Write a page's figures in every requested format, and yield the paths."""
    for name in request.formats_of("--figures"):
        yield from write_figures(html, folder, cast(ImageKind, name))


def write_kit(study: StudyResults, html: str, folder: Path) -> Iterator[Path]:
    """Write a paper's kit: paragraph, citation, tables, figures, archive."""
    from rse_study.assets.store import trained_assets

    archive = f"{study.name}.tar.xz"
    contents = contents_of(study)
    texts = {
        "how-compared.txt": f"{how_compared(contents, comparison_of(study))}\n",
        "citation.bib": bibtex(contents, study.citation),
        "replay.md": how_to_replay(contents, study.citation, archive),
    }
    for name, text in texts.items():
        yield write_whole(folder / name, text)
    yield from write_latex(study, folder / "tables")
    with Reader(study.folder) as reader:
        yield from write_tables(reader, folder / "tables", "csv")
    yield write_archive(study.folder, folder / archive, trained_assets(study.folder, cache_dir()))
    yield from write_figures(html, folder / "figures", "svg")  # last, for it needs a browser


def write_page(
    study: Annotated[str, parameters.argument("STUDY", f"{parameters.RAN} Or a folder of attacks.")] = "",
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
