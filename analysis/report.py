"""The report of a study, one self-contained HTML file, and the index of a store."""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from analysis import page
from analysis.comparison import Comparison, read_comparison
from analysis.contents import Contents, read_contents
from analysis.cost import device_time
from analysis.formats import counted, show_duration
from analysis.search_answer import stage_progress
from analysis.sections.account import cells, cost, failures, how_it_ran, provenance, revisions
from analysis.sections.compared import compared, decisions, each_pair, factors, items, planned
from analysis.sections.opening import answer, opening
from analysis.sections.paper import paper_figure, paper_table
from analysis.sections.results import confirmation, course, diagnostics, grid_axes, grid_rows, grid_steps
from analysis.sections.search import search_sections
from rse_study.errors import InputError
from rse_study.results.device_time import INCLUDED
from rse_study.results.files.backup import FILE_NAME as BACKUP
from rse_study.results.files.connect import holder
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader
from rse_study.results.records import Stage

SHARED = (items, paper_figure, course, diagnostics, cells, cost, how_it_ran, failures, revisions, provenance)
"""Sections at the end of every report."""


def report_path(study_dir: Path) -> Path:
    """Return the default path of a study's report."""
    return study_dir / "report.html"


def write_report(study_dir: Path, out: Path | None = None, reload_s: int = 0) -> Path:
    """Write a study's report, which reloads itself every `reload_s` seconds if not 0."""
    with Reader(study_dir) as reader:
        return report_of(reader, out, reload_s)


def report_of(reader: Reader, out: Path | None = None, reload_s: int = 0) -> Path:
    """Write the report of a study whose ledger is open."""
    html = render(read_contents(reader), read_comparison(reader), reload_s)
    return page.write(report_path(reader.study_dir) if out is None else out, html)


def render(contents: Contents, comparison: Comparison | None = None, reload_s: int = 0) -> str:
    """Return the report as HTML, which depends on the ledger alone."""
    if contents.study.kind == "grid":
        beside = compared(contents, comparison) if comparison else ""
        columns = paper_table(comparison) if comparison else ""
        effects = factors(contents, comparison) if comparison else ""
        asked = planned(contents, comparison) if comparison else ""
        beside += decisions(contents)
        pairs = each_pair(contents, comparison) if comparison else ""
        along = "" if effects else grid_axes(contents)
        middle = [asked, effects, beside, grid_rows(contents), pairs, columns, along, grid_steps(contents)]
    else:
        middle = [confirmation(contents), decisions(contents), *search_sections(contents)]
    end = [part(contents) for part in SHARED]
    parts = [opening(contents, comparison), *middle, *end]
    return page.page(contents.study.title or contents.study.name, parts, reload_s=reload_s)


FILE_NAME = "index.html"
STAGES: dict[str, tuple[Stage, ...]] = {"grid": ("grid",), "search": ("search", "confirm", "path")}
LEGEND = "Click a name to open its report, a heading to sort; type to filter."
ASIDE = re.compile(r" \([^()]*\)")
"""criterion and seeds in an answer, which stand in the report"""


def study_folders(store: Path) -> list[Path]:
    """Return the folders of a store that hold a study, by name."""
    return sorted(path for path in store.glob("*/") if ledger_path(path).is_file())


def changed_at(study_dir: Path) -> float:
    """Return when a ledger or its write-ahead log was last written (Unix seconds)."""
    ledger = ledger_path(study_dir)
    beside = ledger.with_name(f"{ledger.name}-wal")
    return max(path.stat().st_mtime for path in (ledger, beside) if path.is_file())


def refresh_report(study_dir: Path, beside: Path) -> dict[str, object]:
    """Return a study's line, and write its report if it is missing or outdated.

    Its link leads from the folder `beside`; its answer is the first sentence of the report's, without its asides.
    """
    changed, path = changed_at(study_dir), report_path(study_dir)
    with Reader(study_dir) as reader:
        contents, comparison = read_contents(reader), read_comparison(reader)
    if not path.is_file() or path.stat().st_mtime < changed:
        page.write(path, render(contents, comparison))
        os.utime(path, (changed, changed))  # so that later writes to the ledger are newer
    progress = [stage_progress(contents, stage) for stage in STAGES[contents.study.kind]]
    ended, planned = sum(one.num_ended for one in progress), sum(one.num_planned for one in progress)
    failed = int((contents.current["status"] == "failed").sum())
    state = "begun" if len(contents.attempts) else "not begun"
    if ended >= planned > 0:
        state = f"ended, {failed} failed" if failed else "complete"
    link = quote(Path(os.path.relpath(path, beside)).as_posix())
    return {
        "study": page.CellLink(study_dir.name, link),
        "question": contents.study.question,
        "state": state if holder(study_dir) is None else "running",
        "answer": ASIDE.sub("", answer(contents, comparison).text).partition(". ")[0].rstrip("."),
        "ended": f"{ended} of {planned}",
        "failed": str(failed),
        "device time": show_duration(device_time(contents)),
        "changed (UTC)": datetime.fromtimestamp(changed, UTC).strftime("%Y-%m-%d %H:%M"),
        "kind": contents.study.kind,
    }


def write_index(store: Path, out: Path | None = None) -> Path:
    """Write the index of a store (`index.html`), and each report missing or outdated."""
    path = store / FILE_NAME if out is None else out
    rows, problems = {}, {}
    for folder in study_folders(store):
        try:
            rows[folder.name] = refresh_report(folder, path.parent)
        except InputError as problem:
            problems[folder] = str(problem)
    others = [folder for folder in sorted(store.glob("[!.]*/")) if not ledger_path(folder).is_file()]
    lost = "Its ledger is missing; `rse-study run` of this study goes on from"
    backups = {folder: folder / BACKUP for folder in others if (folder / BACKUP).is_file()}
    problems |= {folder: f"{lost} {backup}." for folder, backup in backups.items()}
    unrelated = [folder.name for folder in others if folder not in problems]
    return page.write(path, render_index(rows, problems, unrelated))


def render_index(
    rows: Mapping[str, dict[str, object]], problems: Mapping[Path, str], unrelated: Sequence[str] = ()
) -> str:
    """Return the index as HTML; `unrelated` folders hold no study."""
    heading = f"<h1>{counted(len(rows) + len(problems), 'study').replace('studys', 'studies')}</h1>"
    note = f"These folders hold no study: {', '.join(unrelated)}." if unrelated else ""
    if not rows and not problems:
        return page.page("Studies", [heading, page.paragraph(f"None has run here yet. {note}".strip())])
    anchors = [f"study-{page.anchor_name(name)}-{number}" for number, name in enumerate(rows)]
    frame = pd.DataFrame(rows.values(), dtype=object)
    table = page.table(frame, (), "index", "studies", anchors)
    meant = page.folded("What device time includes", page.paragraph(INCLUDED))
    parts = [page.section("Studies", page.paragraph(LEGEND), table, page.paragraph(note), meant)]
    if problems:
        lines = [(folder.name, text) for folder, text in problems.items()]
        unreadable = pd.DataFrame(lines, columns=["study", "why"], dtype=object)
        parts.append(page.section("Cannot be read", page.table(unreadable, (), "plain", "unreadable")))
    return page.page("Studies", [heading, *parts], STYLE)


STYLE = """
table.index th, table.index td { text-align: left; vertical-align: top; }
table.index td:nth-child(2), table.index td:nth-child(4) { white-space: normal; min-width: 15rem; }
@media (max-width: 40rem) {
  table.index td:nth-child(2), table.index td:nth-child(4) { min-width: 9rem; overflow-wrap: anywhere; }
}
"""
