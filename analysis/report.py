"""The report of a study: one self-contained HTML file made from its ledger."""

from pathlib import Path

from analysis import page
from analysis.comparison import Comparison, read_comparison
from analysis.contents import Contents, read_contents
from analysis.sections.account import cells, cost, failures, how_it_ran, provenance, revisions
from analysis.sections.compared import compared, decisions, each_pair, factors, items
from analysis.sections.course import course, diagnostics
from analysis.sections.opening import opening
from analysis.sections.paper import paper_figure, paper_table
from analysis.sections.results import confirmation, grid_axes, grid_rows, grid_steps
from analysis.sections.search import search_sections
from rse_study.results.reader import Reader

SHARED = (items, paper_figure, course, diagnostics, cells, cost, how_it_ran, failures, revisions, provenance)
"""Sections at the end of every report."""


def report_path(study_dir: Path) -> Path:
    """Return the default path of a study's report."""
    return study_dir / "report.html"


def write_report(study_dir: Path, out: Path | None = None, reload_s: int = 0) -> Path:
    """Write a study's report, which reloads itself every `reload_s` seconds if not 0."""
    with Reader(study_dir) as reader:
        html = render(read_contents(reader), read_comparison(reader), reload_s)
    return page.write(report_path(study_dir) if out is None else out, html)


def render(contents: Contents, comparison: Comparison | None = None, reload_s: int = 0) -> str:
    """Return the report as HTML, which depends on the ledger alone."""
    if contents.study.kind == "grid":
        beside = compared(contents, comparison) if comparison else ""
        columns = paper_table(comparison) if comparison else ""
        effects = factors(contents, comparison) if comparison else ""
        beside += decisions(contents)
        pairs = each_pair(contents, comparison) if comparison else ""
        along = "" if effects else grid_axes(contents)
        middle = [effects, beside, grid_rows(contents), pairs, columns, along, grid_steps(contents)]
    else:
        middle = [confirmation(contents), decisions(contents), *search_sections(contents)]
    end = [part(contents) for part in SHARED]
    parts = [opening(contents, comparison), *middle, *end]
    return page.page(contents.study.title or contents.study.name, parts, reload_s=reload_s)
