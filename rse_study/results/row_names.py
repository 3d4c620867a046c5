"""Names of rows and cells for people."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import nan
from typing import TYPE_CHECKING, Any

from rse_study.results.records import BASE, BASELINES, CellRecord
from rse_study.results.study_record import StudyRecord
from rse_study.spec import show_setting as _shown

if TYPE_CHECKING:
    import pandas as pd

Proposal = Mapping[str, Any]
LabelledTrial = tuple[int, str, Proposal]
BY = "by"
"""the key of a contrast that names an axis, at each of whose values it is taken"""
WrittenContrast = Mapping[str, float | str]


def row_name(label: str, proposal: Proposal) -> str:
    """Return a row's label, or else its values by axis name.

    >>> row_name("", {"optimizer.lr": 1e-3, "norm": "l2"})
    'optimizer.lr = 0.001, norm = l2'
    """
    return label or ", ".join(f"{axis} = {_shown(value)}" for axis, value in proposal.items())


def names_of_rows(rows: Sequence[LabelledTrial], retired: Iterable[int] = ()) -> list[str]:
    """Return a unique name for each row, none of them a baseline's.

    A combination of values with the name of a labelled row gets its trial number: "rho = 0.5 (trial 3)".
    """
    names = [row_name(label, proposal) or f"trial {trial}" for trial, label, proposal in rows]
    owners: dict[str, dict[int, bool]] = {}  # by name: trials, and whether the name is their label
    for name, (trial, label, _) in zip(names, rows, strict=True):
        if trial not in set(retired):
            owners.setdefault(name, {})[trial] = bool(label)

    def is_shared(name: str, label: str) -> bool:
        mine = owners.get(name, {})
        return sum(mine.values()) > 1 if label else len(mine) > 1

    return [
        f"{name} (trial {trial})" if is_shared(name, label) or name in BASELINES.values() else name
        for name, (trial, label, _) in zip(names, rows, strict=True)
    ]


def names_of_cells(study: StudyRecord, cells: "pd.DataFrame") -> list[str]:
    """Return the row name of each cell of `Reader.cells`, shared by a trial's seeds."""
    columns = (cells[name] for name in ("trial", "label", "proposal", "retired"))
    return _names(study, list(zip(*columns, strict=True)))


def names_of_records(study: StudyRecord, cells: Sequence[CellRecord]) -> list[str]:
    """Return the row name of each cell, as `names_of_cells` does."""
    return _names(study, [(one.trial, one.label, one.proposal, one.retired) for one in cells])


def _names(study: StudyRecord, cells: Sequence[tuple[int, str, Proposal, bool]]) -> list[str]:
    rows = [
        (trial, label, in_order_of_file(study, proposal) if study.kind == "grid" else {})
        for trial, label, proposal, _ in cells
    ]
    current = {trial for trial, _, _, is_retired in cells if not is_retired}
    return names_of_rows(rows, {trial for trial, _, _ in rows if trial not in current})


def in_order_of_file(study: StudyRecord, proposal: Proposal) -> dict[str, Any]:
    """Return a trial's values in the axis order of the file; the ledger sorts them."""
    return {axis.name: proposal[axis.name] for axis in study.axes if axis.name in proposal} | dict(proposal)


def find_row(
    study: StudyRecord, wanted: str, rows: Mapping[str, Proposal], numbers: Mapping[str, int]
) -> str | None:
    """Return the name of the one row that is meant; None if none or several match.

    `wanted` is a row's name, or values in any order, by name or symbol: "xi=1e-3"; in a search also "trial 0".
    """
    if wanted in rows:
        return wanted
    if study.kind == "search":
        given = re.fullmatch(r"\s*trial\s*=?\s*(\d+)\s*", wanted)
        return next((name for name in rows if given and numbers.get(name) == int(given[1])), None)
    axes = {axis.name: axis.name for axis in study.axes}
    axes |= {heading: axis.name for axis, heading in zip(study.axes, study.headings, strict=True)}
    return find_combination(wanted, axes, rows)


def row_finder(study: StudyRecord, cells: "pd.DataFrame") -> Callable[[str], str | None]:
    """Return what gives the name of the row of `Reader.cells` that `find_row` finds."""
    names = names_of_cells(study, cells)
    columns = zip(names, cells["label"], cells["proposal"], strict=True)
    rows = {name: {} if label else values for name, label, values in columns}
    numbers = dict(zip(names, cells["trial"], strict=True))
    return lambda wanted: find_row(study, wanted, rows, numbers)


def find_cells_row(study: StudyRecord, wanted: str, cells: "pd.DataFrame") -> str | None:
    """Return the name of the row of `Reader.cells` that is meant."""
    return row_finder(study, cells)(wanted)


def own_baseline(study: StudyRecord, cells: "pd.DataFrame") -> str:
    """Return the row compared with the others: a grid's baseline, a search's base."""
    if study.kind != "grid":
        return BASE
    written = study.settings.grid.baseline
    return (find_cells_row(study, written, cells) or written) if written else ""


def find_combination(wanted: str, axes: Mapping[str, str], rows: Mapping[str, Proposal]) -> str | None:
    """Return the row with the values in `wanted`, "xi=1e-3, norm=l2", or None."""
    pairs = [[part.strip() for part in pair.split("=", 1)] for pair in wanted.split(",")]
    if any(len(pair) < 2 or pair[0] not in axes for pair in pairs):
        return None
    values = {axes[axis]: text for axis, text in pairs}
    for agrees in (_is_equal, _looks_equal):  # the exact value first: two rows may look alike
        matching = [name for name, proposal in rows.items() if _agree(values, proposal, agrees)]
        if len(matching) == 1:
            return matching[0]
    return None


def _agree(values: Mapping[str, str], proposal: Proposal, agrees: Callable[[str, Any], bool]) -> bool:
    return values.keys() == proposal.keys() and all(agrees(text, proposal[a]) for a, text in values.items())


def _is_equal(text: str, value: Any) -> bool:
    number = number_of(text)
    return text == str(value) if number is None else isinstance(value, int | float) and number == value


def _looks_equal(text: str, value: Any) -> bool:
    number = number_of(text)
    return text == _shown(value) if number is None else _shown(number) == _shown(value)


def number_of(text: str) -> float | None:
    """Return the number that a text is, perhaps a fraction; None if it is none."""
    try:
        return float(Fraction(text.replace(" ", "")))
    except (ValueError, ZeroDivisionError):
        return None


def name_of(stage: str, trial: int, seed: int, name: str, *, shows_seeds: bool = False) -> str:
    """Return a cell's name, with its stage where that is not the first one.

    A trial below 0 is none: a base, or a point of the path, called `name`.

    >>> name_of("grid", 0, 0, "SimCSE")
    'row SimCSE seed 0'
    >>> name_of("search", 3, 0, "")
    'trial 3'
    >>> name_of("search", 3, 6, "", shows_seeds=True)
    'trial 3 seed 6'
    >>> name_of("confirm", 3, 1, "")
    'trial 3 seed 1 (confirm)'
    >>> name_of("path", -2, 1, "base with alpha")
    'base with alpha seed 1 (path)'
    """
    if stage == "grid":
        return f"row {name} seed {seed}"
    if stage in ("confirm", "path"):
        return f"{name if trial < 0 else f'trial {trial}'} seed {seed} ({stage})"
    return f"trial {trial} seed {seed}" if shows_seeds else f"trial {trial}"


def names_by_identity(study: StudyRecord, cells: Sequence[CellRecord]) -> dict[str, str]:
    """Return the names of cells, by identity."""
    rows = names_of_records(study, cells)
    shows_seeds = bool(study.search_seeds)
    return {
        one.identity: name_of(one.stage, one.trial, one.seed, name, shows_seeds=shows_seeds)
        for one, name in zip(cells, rows, strict=True)
    }


def contrasts_of(
    name: str, written: WrittenContrast, labels: Collection[str], axes: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield a written contrast by name, for each value of its axis `by`.

    With `by: beta`, `gradient` is the row "beta = 0.002, ascent = gradient", and so on; a row with a name is itself.
    """
    weights = weights_of(written)
    axis = written.get(BY)
    if axis is None:
        yield name, weights
        return
    for value in axes.get(str(axis), ()):
        rows = {
            row if row in labels else _row_at(row, str(axis), value, axes): weight
            for row, weight in weights.items()
        }
        yield f"{name}, {row_name('', {str(axis): value})}", rows


def weights_of(written: WrittenContrast) -> dict[str, float]:
    """Return the weights by row, numbers or fractions; NaN for what is neither."""
    numbers = {row: number_of(str(weight)) for row, weight in written.items() if row != BY}
    return {row: nan if number is None else number for row, number in numbers.items()}


def _row_at(row: str, axis: str, value: Any, axes: Collection[str]) -> str:
    """Return a row's name at a value; of a single other axis, its value alone is written."""
    if "=" in row or len(axes) != 2:
        return f"{axis} = {value}, {row}"
    return row_name("", {name: value if name == axis else row for name in axes})
