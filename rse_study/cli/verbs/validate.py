"""The body of `validate`: every problem at once, or what the study is."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer

from analysis.formats import counted
from rse_study.cli import parameters
from rse_study.cli.arguments import problems_of_table, study_file
from rse_study.cli.terminal.errors import BAD_INPUT, OK
from rse_study.cli.terminal.screen import announce, command, json_of, suggest, with_overrides
from rse_study.cluster.job import yaml_text
from rse_study.data import data_dir
from rse_study.errors import InputError, InputErrors, refuse
from rse_study.results.settings import UntilDecided
from rse_study.study.checking.data_check import check_data, notes_on_data
from rse_study.study.checking.validation import CheckedStudy, read_study, readable_part
from rse_study.study.definition.rows import design_text
from rse_study.study.pending import pending_in
from rse_study.study.planning.footprint import missing_gpu

MOST_ROWS = 12  # named on the screen


def validate_study(
    study: parameters.StudyArgument,
    overrides: parameters.Overrides = None,
    show: Annotated[
        bool, typer.Option("--show", help="Print the whole study as YAML, with every default.")
    ] = False,
    as_json: parameters.AsJson = False,
) -> int | None:
    """Check a study and its data, and report every problem at once.

    Checks every row of the grid, or every edge of the space. Exit code 2, with a line for each problem.
    """
    overrides = overrides or []
    if as_json:
        return validate_as_json(study, overrides)
    checked = _checked(study, overrides)
    if show:
        print(yaml_text(_in_full(checked)), end="")
        return None
    announce(*(f"warning: {warning}" for warning in checked.warnings))
    announce(*(f"note: {note}" for note in _notes(checked)), *summary_of(checked))
    suggest(command("plan", study, *with_overrides(overrides)))
    return None


def validate_as_json(study: str, overrides: Sequence[str]) -> int:
    """Print a study or its problems as JSON; exit code 2 if there are any."""
    try:
        checked = _checked(study, overrides)
    except InputError as error:
        keys = ("what", "where", "rule", "remedy")
        said = [{key: getattr(one, key) for key in keys} for one in error.problems]
        print(json_of({"is_valid": False, "problems": said, "study": None}))
        return BAD_INPUT
    content = {
        "is_valid": True,
        "problems": [],
        "study": _in_full(checked),
        "num_cells": checked.num_cells,
        "summary": list(summary_of(checked)),
        "warnings": checked.warnings,
        "notes": _notes(checked),
    }
    print(json_of(content))
    return OK


def _checked(study: str, overrides: Sequence[str]) -> CheckedStudy:
    path = study_file(study)
    try:
        checked = read_study(path, overrides)
    except InputErrors as error:
        readable = readable_part(path, overrides)
        if readable is None:
            raise
        checked, partial = readable
        defaults = [".".join(dropped) for dropped in partial.dropped]
        defaults += [] if checked.study.grid or checked.study.search else ["kind"]
        said = [*defaults, *(problem.what for problem in error.problems)]
        of_data = (one for one in _problems(checked) if not one.what.startswith(tuple(said)))
        raise InputErrors([*error.problems, *of_data]) from None
    refuse(_problems(checked))
    return checked


def _problems(checked: CheckedStudy) -> list[InputError]:
    """Return what is wrong with the paper's table, with data, and with a study of this name that has run here."""
    table, problems = checked.study.paper.table if checked.study.paper else "", []
    try:
        pending_in(parameters.DEFAULT_STORE / checked.study.name, checked)
    except InputError as error:
        problems = error.problems
    return [*problems, *problems_of_table(table, where=checked.where), *check_data(checked, data_dir())]


def _notes(checked: CheckedStudy) -> list[str]:
    pending = pending_in(parameters.DEFAULT_STORE / checked.study.name, checked)
    revision = [str(pending.refusal)] if pending and pending.reasons else []
    no_gpu = missing_gpu(checked)
    return [*revision, *([str(no_gpu)] if no_gpu else []), *notes_on_data(checked, data_dir())]


def _in_full(checked: CheckedStudy) -> dict[str, Any]:
    """Return the study as it would be frozen, and where it runs, which is no part of the question."""
    where_it_runs = checked.study.model_dump(mode="json", include={"resources", "allowance", "storage"})
    return {**checked.study.resolved(), **where_it_runs}


def summary_of(checked: CheckedStudy) -> Iterator[str]:
    """Describe in a few lines what is run, and what is made of it."""
    study = checked.study
    size = _grid(checked) if checked.rows else _search(checked)
    at_most = "at most " if study.gives_seeds_until_decided else ""
    yield f"{study.name}: valid. {size}: {at_most}{counted(checked.num_cells, 'cell')}"
    if study.early_stopping is not None and checked.rungs:
        yield f"stopped early at steps {_join(checked.rungs)}, unless {study.early_stopping.condition}"
        yield from study.early_stopping.exceptions(checked.rungs)
    if study.grid is not None and study.grid.factorial:
        yield design_text(study.grid)
    if study.confirm is not None:
        baseline = " and the base" if study.confirm.baseline == "base" else ""
        best = counted(study.confirm.num_best, "best trial")
        best += f" of each of {len(study.tuned)} values of {study.tune_each}" if study.tuned else ""
        yield f"confirmed: {best}{baseline}, with {_seeds(study.confirm.seeds)}"
    if study.evaluations:
        yield f"evaluations: {_join(study.evaluation_names)}"


def _grid(checked: CheckedStudy) -> str:
    over = f" over {_join(axis.name for axis in checked.space.axes)}" if checked.space.axes else ""
    named = [row.label for row in checked.rows if row.label]
    shown = [*named[:MOST_ROWS], "..."] if len(named) > MOST_ROWS else named
    between = "; " if any("," in name for name in shown) else ", "
    rows, seeds = counted(len(checked.rows), "row"), _seeds(checked.study.seeds)
    return f"{rows}{over}{f' ({between.join(shown)})' if named else ''}, {seeds}"


def _search(checked: CheckedStudy) -> str:
    axes = checked.space.axes
    everywhere = (
        f"{counted(checked.study.num_trials, 'trial')} over {_join(a.name for a in axes if not a.parent)}"
    )
    by_condition: dict[str, list[str]] = {}
    for axis in axes:
        for parent, values in axis.domain.when.items():
            by_condition.setdefault(f"{parent} = {' or '.join(map(str, values))}", []).append(axis.name)
    conditional = (f"if {when}: {_join(names)}" for when, names in by_condition.items())
    return "; ".join([everywhere, *conditional])


def _seeds(seeds: Sequence[int] | UntilDecided) -> str:
    if isinstance(seeds, UntilDecided):
        return f"{seeds.range_text} seeds each, until decided"
    return f"seed{'s' * (len(seeds) > 1)} {_join(seeds)}"


def _join(words: Iterable[object]) -> str:
    return ", ".join(str(word) for word in words)
