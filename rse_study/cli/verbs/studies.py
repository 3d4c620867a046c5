"""The body of `studies`: what there is to run, and what has run."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from analysis.phrases import counted
from rse_study.cli.terminal.cell_names import describe_counts
from rse_study.cli.terminal.next_step import command, suggest
from rse_study.cli.terminal.screen import announce
from rse_study.errors import InputError
from rse_study.study.definition.reading import read_extended
from rse_study.study.definition.shipped import shipped_studies, shipped_trials


def list_studies(store: Path) -> None:
    """Print what there is to run, and what has run in the store."""
    for line in lines_of(store):
        announce(line)
    suggest(command("plan", "STUDY"), command("init", "my-study"))


def lines_of(store: Path) -> Iterator[str]:
    """Yield lines for each shipped study and trial, and each study in the store."""
    for path in shipped_studies():
        content = read_extended(path)
        yield f"{path.stem}: {content['question']}"
        yield f"    {size_of(content)}, {path}"
    yield ""
    yield "trials, for `rse-study train`:"
    for path in shipped_trials():
        content = read_extended(path)
        budget = f"{content['budget']['amount']} {content['budget']['unit']}"
        yield f"{path.stem}: encoder {content['encoder']['name']}, {budget}"
        yield f"    {path}"
    ledgers = sorted(store.glob("*/ledger.sqlite"))
    if ledgers:
        yield ""
        yield f"in {store}, for `rse-study status`, `report` and others:"
        yield from (f"{ledger.parent.name}: {_counts(ledger.parent)}" for ledger in ledgers)


def size_of(content: dict[str, Any]) -> str:
    """Return how large a study is, from its file."""
    num_evaluations = _num_evaluations(content.get("evaluations") or ())
    evaluations = f", {counted(num_evaluations, 'evaluation')}" if num_evaluations else ""
    return f"{_cells(content)}{evaluations}"


def _num_evaluations(written: Sequence[str]) -> int:
    """Count the evaluations a study asks for, a pattern as all that match it."""
    if not written:
        return 0
    # With it come all evaluations by name: only where a study asks for some.
    from rse_study.downstream.registry import expand_evaluations

    return len(expand_evaluations(written))


def _cells(content: dict[str, Any]) -> str:
    grid = content.get("grid")
    if grid is None:
        return f"{content['num_trials']} trials" if "num_trials" in content else "a search"
    axes, seeds = grid.get("axes", {}), content.get("seeds", [0])
    num_rows = len(grid.get("rows", {})) + (math.prod(map(_num_values, axes.values())) if axes else 0)
    return f"{counted(num_rows, 'row')} x {counted(len(seeds), 'seed')}"


def _num_values(axis: Any) -> int:
    if isinstance(axis, dict) and "int" in axis:
        low, high = axis["int"]
        return int(high) - int(low) + 1
    return len(axis["choice"] if isinstance(axis, dict) else axis)


def _counts(study_dir: Path) -> str:
    from rse_study.results.files.lock import holder
    from rse_study.results.reader import Reader
    from rse_study.search.state import SearchState

    try:
        with Reader(study_dir) as reader:
            return describe_counts(SearchState.read(reader).counts, holder(study_dir) is not None)
    except InputError as problem:
        return str(problem)
