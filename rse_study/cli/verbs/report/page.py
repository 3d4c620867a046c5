"""The body of `report`: the page of a study or of attacks, and files beside it."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from analysis.report import report_path, write_report
from rse_study.cli.arguments.study import study_folder
from rse_study.cli.arguments.writable import require_file
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.next_step import suggest
from rse_study.cli.terminal.screen import stderr
from rse_study.cli.verbs.report.files import FilesRequest, write_files, write_images
from rse_study.errors import InputError
from rse_study.results.files.attack_file import is_attack_folder


def write_page(
    study: str,
    store: Path,
    out: Path | None,
    tables: Path | None,
    figures: Path | None,
    formats: Collection[str],
    kit: Path | None = None,
) -> None:
    """Write the page of a study or of attacks, and files; print every path."""
    if not study:
        remedy = "Name one (rse-study studies lists them), or ask for all: rse-study report --all"
        raise InputError("no study is named", where="STUDY", remedy=remedy)
    if out:
        require_file(out, where="--out")
    request = FilesRequest(tables, figures, kit, formats)
    if is_attack_folder(Path(study)):
        _report_attacks(Path(study), out, request)
        return
    folder = study_folder(study, store)
    if not out:
        require_file(report_path(folder), where="the study's folder (or name a file by --out)")
    request.check()
    with ActivityBars(stderr()) as bars, bars.waiting("writing the report"):  # stdout gets paths
        _enter_missing_importance(folder)
        path = write_report(folder, out)
    print(path)
    with ActivityBars(stderr()) as bars, bars.waiting("writing files"):
        files = list(write_files(folder, path.read_text(encoding="utf-8"), request))
    for written in files:
        print(written)
    suggest(f"open {path} in a browser")


def _enter_missing_importance(study_dir: Path) -> None:
    """Enter the importance of a search's axes, which no file beside a ledger holds."""
    from rse_study.results.files.ledger import Ledger
    from rse_study.results.reader import Reader
    from rse_study.results.records import FEWEST_TRIALS

    with Reader(study_dir) as reader:
        complete = [one for one in reader.records() if (one.stage, one.status) == ("search", "complete")]
        if len(complete) < FEWEST_TRIALS or len(reader.importance()) or reader.is_held():
            return
    from rse_study.sampling.importance import enter_importance

    with suppress(InputError), Ledger.open(study_dir) as ledger:  # a folder that cannot be written
        enter_importance(ledger)


def _report_attacks(folder: Path, out: Path | None, request: FilesRequest) -> None:
    from analysis.attacks import write_attacks

    for option, asked in (("--tables", request.tables), ("--kit", request.kit)):
        if asked:
            rule, remedy = "it is made of a study's ledger", f"Read {folder}/*.jsonl: an outcome a line"
            raise InputError("attacks have none", where=f"{option} {asked}", rule=rule, remedy=remedy)
    request.check()
    path = write_attacks(folder, out)
    print(path)
    if request.figures:
        for written in write_images(path.read_text(encoding="utf-8"), request.figures, request):
            print(written)
