"""GLUE (Wang et al. 2018) as read by `datasets`, from the hub or a local folder.

A local folder is one of these, below the data folder or absolute. One named like the hub's (nyu-mll/glue) is
preferred to the hub:

    <folder>/README.md with the tasks' configurations, like the hub's own copy (nyu-mll/glue)
    <folder>/<task>/   files named after the splits: train, validation, test (JSON Lines, CSV or parquet)
    <folder>/<task>/data/<split>-00000-of-00001.jsonl (or .csv, .parquet): MNLI's two validation splits need this, or
                       the README, since `datasets` takes validation_matched.jsonl for a part of `validation`
    <folder>/          the same for one task alone

<task> is cola, sst2, mrpc, stsb, qqp, mnli, qnli, rte or wnli.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.hub import load_split
from rse_study.data.labelled import Labelled, StsPairs
from rse_study.data.labelled_sets import Example, label_of, labelled, malformed, text_of
from rse_study.data.tasks import GLUE, HUB_NAME, GlueTask
from rse_study.errors import InputError, MissingFile
from rse_study.registry import Registry, did_you_mean

GLUE_LAYOUT = "<task>/{train,validation}.{jsonl,csv,parquet}"
NO_LABEL = -1  # in the test splits, whose labels GLUE does not publish
MAX_GOLD = 5.0


def read_glue(name: str, split: str, data_dir: Path, dataset: str = HUB_NAME) -> Labelled | StsPairs:
    """Read one labelled split, named `GLUE-<task>`; STS-B as pairs with gold.

    Labels may be numbers or class names; classes are always in GLUE's own order, even if a copy lists another.
    """
    task = GLUE.get(name)
    Registry(f"split of GLUE {name}", dict.fromkeys(task.splits)).get(split)
    place, config = _source_of(task, dataset, data_dir)
    table = load_split(place, split, data_dir, config=config)
    where = f"{place} {config} {split}".replace("  ", " ")
    for column in (*task.columns, "label"):
        if column not in table.column_names:
            remedy = did_you_mean(column, table.column_names)
            raise InputError(f"no column {column!r}", where=where, remedy=remedy)
    if not task.classes:
        return _pairs(f"GLUE-{name}", split, table, task, where)
    return labelled(f"GLUE-{name}", split, _examples(table, task, where), task.classes, where)


def _source_of(task: GlueTask, dataset: str, data_dir: Path) -> tuple[str, str]:
    """Return (name for `datasets`, configuration) of a local folder or the hub."""
    folder = data_dir / os.path.expanduser(dataset)
    if not folder.is_dir():
        return dataset, task.config
    there = [GLUE.get(name).config for name in GLUE if (folder / GLUE.get(name).config).is_dir()]
    if there and task.config not in there:
        rule = f"the layout is {GLUE_LAYOUT} in {folder}"
        remedy = f"Copy it there, beside {', '.join(there)}"
        raise MissingFile("no such folder", where=str(folder / task.config), rule=rule, remedy=remedy)
    if (folder / "README.md").is_file():
        return dataset, task.config
    return (f"{dataset}/{task.config}" if there else dataset), ""


def _examples(table: Any, task: GlueTask, where: str) -> Iterator[Example]:
    listed = getattr(table.features["label"], "names", None)
    known: dict[str, int | None] = {name: place for place, name in enumerate(task.classes)}
    if listed is None:  # bare numbers are GLUE's own
        known |= {str(place): place for place in range(len(task.classes))}
    for number, (*parts, label) in enumerate(_rows(table, task), start=1):
        row = f"{where}, row {number}"
        named = listed[label] if listed and isinstance(label, int) and 0 <= label < len(listed) else label
        is_labelled = label is not None and label != NO_LABEL
        text = text_of(*parts, where=row, may_be_empty=task.config == "qqp")
        yield text, label_of(named, known, row) if is_labelled else None


def _pairs(name: str, split: str, table: Any, task: GlueTask, where: str) -> StsPairs:
    first, second, gold = [], [], []
    for number, (one, other, value) in enumerate(_rows(table, task), start=1):
        row = f"{where}, row {number}"
        if not isinstance(value, int | float) or not 0 <= value <= MAX_GOLD:
            raise malformed(f"gold score {value!r}", row, f"it must be a number from 0 to {MAX_GOLD:g}")
        pair = text_of(one, other, where=row)
        first.append(pair[0])
        second.append(pair[1])
        gold.append(float(value))
    if not gold:
        raise InputError("holds no pairs", where=where, remedy="Use another split, or fetch it again")
    return StsPairs(name, split, first, second, np.array(gold))


def _rows(table: Any, task: GlueTask) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[column] for column in (*task.columns, "label")), strict=True)
