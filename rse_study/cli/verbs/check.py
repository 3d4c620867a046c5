"""The body of `check`: a grid compared with its baseline and the paper's claims."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from analysis.answer import effects_remarks, family_table, planned_notes
from analysis.columns_table import column_remarks, wide_table
from analysis.comparison import Comparison, read_comparison
from analysis.comparison_table import BETTER, COMPUTE, EXACT, HOLM, claims_table, remarks, rows_table
from analysis.paper.layout import write_layouts
from analysis.sections.compared import crossed_table, missing_text
from rse_study import open_study
from rse_study.cli import parameters
from rse_study.cli.arguments import problems_of_table, require_folder, study_folder
from rse_study.cli.terminal import screen
from rse_study.cli.terminal.errors import CONTRADICTED, INCOMPLETE, OK
from rse_study.errors import InputError
from rse_study.results.comparing.claims import ClaimVerdict
from rse_study.results.comparing.item_contrasts import crossed_frame, measured_items
from rse_study.results.export import citation
from rse_study.results.reader import Reader
from rse_study.results.row_checks import inert_sentences, row_checks

SEE_ALL = "--wide, --out DIR (CSV), or the report"
LEAST_IMPORTANT = (BETTER, "g", EXACT, HOLM, "last step", COMPUTE, "SD", "seeds", "paper")
"""columns in the order in which a narrow terminal leaves them out"""


NO_CLAIM = "No claim of a paper is checked in this study."


def check_study(
    study: parameters.RanStudyArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the table here as CSV and LaTeX, next to the paper's."),
    ] = None,
    baseline: Annotated[
        str,
        typer.Option(
            metavar="ROW", help="Compare with this row: 'SimCSE', 'norm = l1'; default: the study's."
        ),
    ] = "",
    as_json: parameters.AsJson = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
    is_wide: parameters.Wide = False,
) -> int:
    """Compare a grid with its baseline and with the paper's claims.

    Compares the rows with the baseline, and the paper's claims with the rows.

    Exit code 0 if every claim holds (at a smaller scale: the same direction), 1 if one is contradicted, 3 if the
    study is incomplete, a claim is undecided, or no claim about its rows is stored: so for every study of your own.
    """
    if out:
        require_folder(out, where="--out")
    study_dir = study_folder(study, store)
    with Reader(study_dir) as reader:
        comparison, cited = read_comparison(reader, baseline), citation(reader)
        inert = inert_sentences(row_checks(reader.ledger, reader.study(), reader.records()))
        crossed = crossed_frame(measured_items(reader, comparison.baseline) if comparison else ())
    if comparison is None:
        rule, remedy = "check compares the rows of a grid", "See its confirmed trials: rse-study report"
        raise InputError("is a search", where=str(study_dir), rule=rule, remedy=remedy)
    for problem in problems_of_table(comparison.table, where=str(study_dir)):
        raise problem
    if as_json:
        results = open_study(study_dir)
        contrasts = results.contrasts_with(baseline) if baseline else results.contrasts
        return _print_json(comparison, contrasts, inert)
    show_comparison(comparison, is_wide)
    screen.announce(*inert)
    if crossed["crossed_low"].notna().any():
        screen.print_table(crossed_table(crossed), SEE_ALL, droppable=("seeds", "items"), is_wide=is_wide)
    if missing := missing_text(crossed):
        screen.announce(missing)
    for path in write_layouts(comparison, out, cited) if out else ():
        print(path)
    code = code_of(comparison)
    screen.suggest(_next(comparison, study, store, code, is_written=out is not None))
    return code


def _print_json(comparison: Comparison, contrasts: pd.DataFrame, inert: Sequence[str]) -> int:
    """Print contrasts and claims under the names of the frames, and return the exit code."""
    code = code_of(comparison)
    content = {
        "study": comparison.name,
        "objective": comparison.label,
        "baseline": comparison.baseline,
        "is_complete": comparison.is_complete,
        "criterion": f"{comparison.criterion_text} {comparison.scores.criterion.assumption}".strip(),
        "contrasts": _records(contrasts),
        **({"planned": _records(planned)} if len(planned := comparison.planned.frame) else {}),
        "claims": claims_table(comparison).to_dict("records"),
        "inert": inert,
        "exit_code": code,
    }
    print(screen.json_of(content))
    return code


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return json.loads(frame.to_json(orient="records", double_precision=15))


def show_comparison(comparison: Comparison, is_wide: bool = False) -> None:
    """Print rows, columns, claims and remarks, of tables as much as there is room for."""
    screen.announce(f"{comparison.name}: {comparison.label}")
    if len(comparison.planned.frame):
        planned = family_table(comparison.planned)
        if len(planned):
            screen.print_table(planned, SEE_ALL, droppable=LEAST_IMPORTANT, is_wide=is_wide)
            screen.announce(comparison.scores.criterion.sentence(len(planned), "contrast"))
        screen.announce(*planned_notes(comparison.planned), "")
    screen.print_table(rows_table(comparison), SEE_ALL, droppable=LEAST_IMPORTANT, is_wide=is_wide)
    screen.announce("")
    if comparison.columns:
        has_numbers = any(cell.column.printed for cell in comparison.columns)
        screen.announce(f"{comparison.table}: ours" + (" (the paper's)" if has_numbers else ""))
        screen.print_table(wide_table(comparison.columns), SEE_ALL, is_wide=is_wide)
        screen.announce(*column_remarks(comparison.columns, comparison.table), "")
    if comparison.effects.factors:
        if len(effects := family_table(comparison.effects)):
            screen.print_table(effects, SEE_ALL, droppable=LEAST_IMPORTANT, is_wide=is_wide)
        screen.announce(*effects_remarks(comparison.effects), "")
    for judged in claims_table(comparison).itertuples():
        screen.announce(f"{judged.verdict}: {judged.claim} ({judged.source})")
        if judged.difference:
            screen.announce(f"    {judged.difference}")
    screen.announce(*remarks(comparison), *([] if _decided(comparison) else [NO_CLAIM]))


def _next(comparison: Comparison, study: str, store: Path, code: int, *, is_written: bool) -> str:
    """Run what is missing; write down what is settled."""
    where = screen.in_store(store)
    if not comparison.is_complete or any(cell.is_open for cell in comparison.columns):
        return screen.run_again(comparison.name, store)
    if comparison.scores.failed_rows:
        return f"{screen.command('status', study, *where)} (says why cells failed)"
    if comparison.scores.criterion.lost:
        return f"{screen.command('report', study, *where)} (shows the course of each cell)"
    if code == INCOMPLETE and _decided(comparison):
        return f"add seeds to its file, then {screen.run_again(comparison.name, store)}"
    if is_written or code == CONTRADICTED:
        return screen.command("report", study, *where)
    return screen.command("check", study, *where, "--out", "tables")


def code_of(comparison: Comparison) -> int:
    """Return the exit code: a contradiction wins over what is still open.

    A claim that the study does not ask about decides nothing, and without any other nothing is decided. Failed cells
    leave the claims about their rows undecided.
    """
    verdicts = _decided(comparison)
    if "contradicted" in verdicts:
        return CONTRADICTED
    awaited = any(cell.is_open for cell in comparison.columns)
    is_open = not comparison.is_complete or awaited or verdicts & {"undecided", "incomplete"}
    return INCOMPLETE if is_open or not verdicts else OK


def _decided(comparison: Comparison) -> set[ClaimVerdict]:
    """Return the verdicts on claims that the study asks about."""
    return {judged.verdict for judged in comparison.judged} - {"not asked"}
