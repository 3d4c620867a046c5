"""What `check` does: set a grid beside its baseline and the paper's claims.

It reads the comparison, prints it, writes its tables, and says by its exit code how it ended.
"""

from pathlib import Path

from analysis.columns_table import column_remarks, wide_table
from analysis.comparison import Comparison, read_comparison
from analysis.comparison_table import claims_table, remarks, rows_table
from analysis.paper.layout import write_layouts
from rse_study.cli.arguments import study_folder
from rse_study.cli.errors import CONTRADICTED, INCOMPLETE, OK
from rse_study.cli.paper_table import problems_of_table
from rse_study.cli.writable import require_folder
from rse_study.errors import InputError
from rse_study.results.citation import citation
from rse_study.results.reader import Reader


def check_study(study: str, store: Path, out: Path | None) -> int:
    """Print how a grid compares, and return the exit code.

    Parameters
    ----------
    study
        What the user wrote: its name, folder or YAML file.
    store
        Folder that holds the studies' folders.
    out
        Folder for the table as CSV and LaTeX, or None.

    Raises
    ------
    InputError
        Where the study is a search: it has no rows to compare.
    """
    if out:
        require_folder(out, where="--out")
    study_dir = study_folder(study, store)
    with Reader(study_dir) as reader:
        comparison, cited = read_comparison(reader), citation(reader)
    if comparison is None:
        rule, remedy = "check compares the rows of a grid", "See its confirmed trials: rse-study report"
        raise InputError("is a search", where=str(study_dir), rule=rule, remedy=remedy)
    for problem in problems_of_table(comparison.table, where=str(study_dir)):
        raise problem
    for line in lines_of(comparison):
        print(line)
    for path in write_layouts(comparison, out, cited) if out else ():
        print(path)
    return code_of(comparison)


def lines_of(comparison: Comparison) -> list[str]:
    """Return the comparison as a terminal shows it."""
    lines = [f"{comparison.name}: {comparison.label}", rows_table(comparison).to_string(index=False), ""]
    lines += _columns(comparison)
    for judged in claims_table(comparison).itertuples():
        lines += [f"{judged.verdict}: {judged.claim} ({judged.source})"]
        lines += [f"    {judged.difference}"] if judged.difference else []
    return [*lines, *remarks(comparison)]


def _columns(comparison: Comparison) -> list[str]:
    if not comparison.columns:
        return []
    has_numbers = any(cell.column.printed for cell in comparison.columns)
    heading = f"{comparison.table}: ours" + (" (the paper's)" if has_numbers else "")
    table = wide_table(comparison.columns).to_string(index=False)
    return [heading, table, *column_remarks(comparison.columns, comparison.table), ""]


def code_of(comparison: Comparison) -> int:
    """Return the exit code: a contradiction wins over what is still open.

    A claim that the study does not ask about decides nothing.
    """
    verdicts = {judged.verdict for judged in comparison.judged} - {"not asked"}
    if "contradicted" in verdicts:
        return CONTRADICTED
    awaited = any(cell.is_open for cell in comparison.columns)
    is_open = not comparison.is_complete or awaited or verdicts & {"undecided", "incomplete"}
    return INCOMPLETE if is_open else OK
