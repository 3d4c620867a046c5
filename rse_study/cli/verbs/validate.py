"""The body of `validate`: every problem at once, or what the study is."""

from collections.abc import Iterable, Iterator, Sequence

from rse_study.cli.arguments.paper_table import problems_of_table
from rse_study.cli.arguments.study import study_file
from rse_study.cli.terminal.next_step import command, suggest, with_overrides
from rse_study.cli.terminal.screen import announce
from rse_study.data.location import data_dir
from rse_study.errors import InputErrors
from rse_study.study.checking.data_check import check_data, notes_on_data
from rse_study.study.checking.validation import CheckedStudy, read_study

MOST_ROWS = 12  # named on the screen


def validate_study(study: str, overrides: Sequence[str]) -> None:
    """Print what the study is; raise InputErrors with all that is wrong with it."""
    path = study_file(study)
    checked = read_study(path, overrides)
    table = checked.study.paper.table if checked.study.paper else ""
    problems = [*problems_of_table(table, where=str(path)), *check_data(checked, data_dir())]
    if problems:
        raise InputErrors(problems)
    for warning in checked.warnings:
        announce(f"warning: {warning}")
    for note in notes_on_data(checked, data_dir()):
        announce(f"note: {note}")
    for line in summary_of(checked):
        announce(line)
    suggest(command("plan", study, *with_overrides(overrides)))


def summary_of(checked: CheckedStudy) -> Iterator[str]:
    """Describe in a few lines what is run, and what is made of it."""
    study = checked.study
    size = _grid(checked) if checked.rows else _search(checked)
    at_most = "at most " if not checked.rows and len(study.seeds) > 1 else ""
    yield f"{study.name}: valid. {size}: {at_most}{_count(checked.num_cells, 'cell')}"
    if study.early_stopping is not None and checked.rungs:
        yield f"stopped early at steps {_join(checked.rungs)}, unless {study.early_stopping.condition}"
        yield from study.early_stopping.exceptions(checked.rungs)
    if study.confirm is not None:
        baseline = " and the base" if study.confirm.baseline == "base" else ""
        best = _count(study.confirm.num_best, "best trial")
        best += f" of each of {len(study.tuned)} values of {study.tune_each}" if study.tuned else ""
        yield f"confirmed: {best}{baseline}, with seeds {_join(study.confirm.seeds)}"
    if study.evaluations:
        yield f"evaluations: {_join(study.evaluations)}"


def _grid(checked: CheckedStudy) -> str:
    over = f" over {_join(axis.name for axis in checked.space.axes)}" if checked.space.axes else ""
    named = [row.label for row in checked.rows if row.label]
    shown = [*named[:MOST_ROWS], "..."] if len(named) > MOST_ROWS else named
    return (
        f"{_count(len(checked.rows), 'row')}{over}{f', {_join(shown)}' if named else ''}, {_seeds(checked)}"
    )


def _search(checked: CheckedStudy) -> str:
    axes = checked.space.axes
    raced = f", {_seeds(checked)} raced" if len(checked.study.seeds) > 1 else ""
    everywhere = (
        f"{_count(checked.study.num_trials, 'trial')} over {_join(a.name for a in axes if not a.parent)}"
    )
    by_condition: dict[str, list[str]] = {}
    for axis in axes:
        for parent, values in axis.domain.when.items():
            by_condition.setdefault(f"{parent} = {' or '.join(map(str, values))}", []).append(axis.name)
    conditional = (f"where {when}: {_join(names)}" for when, names in by_condition.items())
    return "; ".join([f"{everywhere}{raced}", *conditional])


def _seeds(checked: CheckedStudy) -> str:
    return f"seed{'s' * (len(checked.study.seeds) > 1)} {_join(checked.study.seeds)}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _join(words: Iterable[object]) -> str:
    return ", ".join(str(word) for word in words)
