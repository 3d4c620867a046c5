"""Cells that another study of the same store has run, taken instead of run again."""

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray
import torch
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rse_study.cluster.node_capacity import Node, slots
from rse_study.errors import InputError
from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.queue import Cell
from rse_study.results.bit_equality import what_differs
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import (
    FILE_NAME,
    ITEMS_FILE,
    read_result,
    write_evaluations,
    written_rows,
)
from rse_study.results.files.schema import CHECKPOINT_FOLDER, MODEL_FOLDER, cell_folder
from rse_study.results.records import EvaluationRow
from rse_study.training.arithmetic import provenance

DRAFT = ".shared-model"
Machines = Callable[[Cell], Collection[Mapping[str, Any]]]
"""Returns the provenance that a cell would have, on each machine that might run it."""


def bring_shared_cells(
    ledger: Ledger,
    cells: Collection[Cell],
    asked: Collection[Evaluation],
    machines: Machines,
    *,
    with_models: bool,
) -> Iterator[tuple[str, str]]:
    """Copy cells that have not begun here from other studies; yield id and study.

    The queue then adopts them as any result not yet entered. Cells that cannot be read or copied run here. A
    cell comes only with its scores on exactly the evaluations in `asked`, and its model if `with_models`, and only
    if each of the `machines` that might run it promises its bits. They are asked where there is such a cell.
    """
    study = ledger.study_dir
    neighbours, record = _folders_beside(study), ledger.study()
    keeps_items = record is None or record.settings.keep_items
    planned = {record.identity for record in ledger.cells() if record.status == "planned"}
    for cell in (one for one in cells if one.identity in planned):
        here = cell_folder(study, cell.identity)
        left_behind = any((here / name).exists() for name in (FILE_NAME, CHECKPOINT_FOLDER, MODEL_FOLDER))
        for neighbour in () if left_behind else neighbours:
            with suppress(OSError):  # another's folder, or a full disk
                there = cell_folder(neighbour, cell.identity)
                if _take(there, here, cell, asked, machines, with_model=with_models):
                    if not keeps_items:
                        (here / ITEMS_FILE).unlink(missing_ok=True)
                    yield cell.identity, neighbour.name
                    break


def _folders_beside(study: Path) -> list[Path]:
    try:
        return [one for one in sorted(study.parent.iterdir()) if one.name != study.name]
    except OSError:
        return []


def _take(
    there: Path,
    here: Path,
    cell: Cell,
    asked: Collection[Evaluation],
    machines: Machines,
    *,
    with_model: bool,
) -> bool:
    """Copy a complete cell that this study would run identically, the result last."""
    if not (there / FILE_NAME).exists() or not _is_alike(there, cell, machines):
        return False
    rows = _rows_of_all(there, cell, asked)
    if rows is None or (with_model and not _copy_model(there / MODEL_FOLDER, here)):
        return False
    try:
        if (there / ITEMS_FILE).exists():
            write_whole(here / ITEMS_FILE, (there / ITEMS_FILE).read_bytes())
        if rows:
            write_evaluations(here, rows)
        write_whole(here / FILE_NAME, (there / FILE_NAME).read_bytes())
    except OSError:
        shutil.rmtree(here / MODEL_FOLDER, ignore_errors=True)  # as untouched as before
        raise
    return True


def _is_alike(folder: Path, cell: Cell, machines: Machines) -> bool:
    """Whether running this cell here would give a complete result with the same bits."""
    try:
        result = read_result(folder)
    except InputError:
        return False
    if result.identity != cell.identity or result.status != "complete":
        return False
    asked = machines(cell)
    return bool(asked) and not any(what_differs(one, result.provenance) for one in asked)


def _rows_of_all(folder: Path, cell: Cell, asked: Collection[Evaluation]) -> list[EvaluationRow] | None:
    """Return the cell's scores on all evaluations asked; None where it lacks one."""
    wanted = {(one.name, one.fingerprint) for one in asked}
    rows = written_rows(folder, cell.identity, wanted)
    return rows if {(row.evaluation, row.fingerprint) for row in rows} == wanted else None


def _copy_model(source: Path, here: Path) -> bool:
    """Copy a model; return whether it was whole throughout: its study may delete it."""
    draft, names = here / DRAFT, _names_in(source)
    shutil.rmtree(draft, ignore_errors=True)
    if not names:
        return False
    try:
        shutil.copytree(source, draft, copy_function=shutil.copyfile)
        if _names_in(source) != names or _names_in(draft) != names:
            return False
        draft.replace(here / MODEL_FOLDER)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return True


def _names_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []


ANSWER_SECONDS = 60.0


def machine_of(cell: Cell) -> dict[str, Any]:
    """Return the provenance of the cell in this process, on a GPU if it uses any."""
    device = torch.device("cuda" if cell.resources.gpus else "cpu")
    here = provenance(device, cell.resources.workers, cell.trial.precision)
    return here | {"threads": cell.resources.threads}


def machines_of(cell: Cell, nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """Ask each node that has room for it; nothing where one of them does not answer."""
    task, fitting = ray.remote(machine_of), [node for node in nodes if slots(node, cell.resources)]
    asked = [
        task.options(
            num_cpus=0,
            num_gpus=cell.resources.gpus,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node.identity, soft=False),
        ).remote(cell)
        for node in fitting
    ]
    try:
        return list(ray.get(asked, timeout=ANSWER_SECONDS))
    except ray.exceptions.RayError:
        for one in asked:
            ray.cancel(one)
        return []
