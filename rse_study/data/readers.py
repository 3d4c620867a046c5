"""Readers of pairs: STS12-16, STS-B, SICK-R, and the pairs of a dev set.

Published files are tab separated, nothing is quoted, plain or gzip. Layout below the data folder, `variant` being
`orig` (as published) or `senteval` (tokenised, lower-cased; what `data fetch` gets of STS12-16, decision 0041):

    sts/STS12/<variant>/STS.input.<subset>.txt   sentence TAB sentence [TAB ...]
    sts/STS12/<variant>/STS.gs.<subset>.txt      one gold score a line, empty where there is none (STS13-16 alike)
    sts/STSBenchmark/<variant>/sts-<split>.csv   genre, file, year, id, score, sentence, sentence [, ...]
    sts/SICK/SICK_{train,trial,test_annotated}.txt   header; id, sentence, sentence, score, entailment
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from rse_study.data import SUBSETS, builtin
from rse_study.data.labelled import StsPairs, Variant
from rse_study.data.own_tables import read_pairs
from rse_study.data.text_files import find_file, find_set_file, number_of, read_lines
from rse_study.errors import InputError, MissingFile
from rse_study.registry import Registry

VARIANTS: tuple[Variant, ...] = ("orig", "senteval")
SICK_FILES: dict[str, tuple[str, ...]] = {
    "train": ("train",),
    "trial": ("trial",),
    "test": ("test_annotated",),
    "all": ("train", "trial", "test_annotated"),
}
DEV_SPLITS = {"STS-B": "dev", "SICK-R": "trial"}
"""The split of each task that may select; STS12 to STS16 have none."""
_STS_B_SPLITS = ("train", "dev", "test")
TableRows = list[tuple[str, str, float]]


def read_sts(name: str, split: str, data_dir: Path, variants: tuple[Variant, ...] = VARIANTS) -> StsPairs:
    """Read one split of a task from the first variant that is complete."""
    read, missing = _READERS.get(name), list[MissingFile]()
    for variant in variants:
        try:
            return replace(read(name, split, data_dir, variant), variant=variant)
        except MissingFile as error:
            missing.append(error)
    raise max(missing, key=lambda error: bool(error.part))


def sts_splits(name: str) -> tuple[str, ...]:
    """Return the names of a task's splits."""
    return {"STS-B": _STS_B_SPLITS, "SICK-R": tuple(SICK_FILES)}.get(name, ("test",))


def _read_year(name: str, split: str, data_dir: Path, variant: Variant) -> StsPairs:
    _check_split(name, split)
    rows: TableRows = []
    subsets: dict[str, slice] = {}
    for subset, (inputs, golds) in _find_subsets(name, f"sts/{name}/{variant}", data_dir).items():
        start = len(rows)
        rows.extend(_read_subset(inputs, golds))
        subsets[subset] = slice(start, len(rows))
    return _pairs(name, split, rows, subsets)


def _find_subsets(name: str, below: str, data_dir: Path) -> dict[str, tuple[Path, Path]]:
    """Return (sentences, gold) of each subset; raise MissingFile for missing parts."""
    found: dict[str, tuple[Path, Path]] = {}
    missing: dict[str, MissingFile] = {}
    for subset in SUBSETS[name]:
        try:
            inputs, golds = (
                find_set_file(f"{below}/STS.{kind}.{subset}.txt", data_dir) for kind in ("input", "gs")
            )
            found[subset] = inputs, golds
        except MissingFile as error:
            missing[subset] = error
    if missing:
        first = next(iter(missing.values()))
        first.part = ", ".join(missing) if found else ""
        raise first
    return found


def _read_subset(inputs: Path, golds: Path) -> TableRows:
    sentences, scores = list(read_lines(inputs)), list(read_lines(golds))
    if len(sentences) != len(scores):
        what = f"{len(scores)} gold lines for {len(sentences)} pairs in {inputs.name}"
        raise InputError(
            what, where=str(golds), rule="both files hold a line for each pair", remedy="Fetch them again"
        )
    rows: TableRows = []
    for number, (line, score) in enumerate(zip(sentences, scores, strict=True), start=1):
        if score.strip():
            first, second = _columns(line, (0, 1), inputs, number)
            rows.append((first, second, _number(score, golds, number)))
    return rows


def _read_sts_b(name: str, split: str, data_dir: Path, variant: Variant) -> StsPairs:
    _check_split(name, split)
    path = find_set_file(f"sts/STSBenchmark/{variant}/sts-{split}.csv", data_dir)
    return _pairs(name, split, _read_table(path, columns=(5, 6, 4)))


def _read_sick(name: str, split: str, data_dir: Path, variant: Variant) -> StsPairs:
    """Read SICK-R, whose texts are the same in both variants."""
    _check_split(name, split)
    paths = [find_set_file(f"sts/SICK/SICK_{part}.txt", data_dir) for part in SICK_FILES[split]]
    return _pairs(name, split, [row for path in paths for row in _read_table(path, (1, 2, 3), num_header=1)])


def _read_table(path: Path, columns: tuple[int, int, int], num_header: int = 0) -> TableRows:
    rows: TableRows = []
    for number, line in enumerate(read_lines(path), start=1):
        if number > num_header and line.strip():
            first, second, score = _columns(line, columns, path, number)
            rows.append((first, second, _number(score, path, number)))
    return rows


def _pairs(name: str, split: str, rows: TableRows, subsets: dict[str, slice] | None = None) -> StsPairs:
    if not rows:
        raise InputError("holds no pairs", where=f"{name} {split}", remedy="Fetch it again")
    first, second, gold = (list(column) for column in zip(*rows, strict=True))
    return StsPairs(name, split, first, second, np.array(gold, np.float64), subsets or {})


def _columns(line: str, wanted: tuple[int, ...], path: Path, number: int) -> list[str]:
    found = [column.strip() for column in line.split("\t")]
    chosen = [found[column] for column in wanted if column < len(found)]
    if len(chosen) < len(wanted) or not all(chosen):
        rule = f"at least {max(wanted) + 1} columns, tab separated; no sentence is empty"
        raise InputError(
            f"{len(found)} column(s)", where=f"{path}:{number}", rule=rule, remedy="Fetch it again"
        )
    return chosen


def _number(text: str, path: Path, number: int) -> float:
    value = number_of(text)
    if not 0 <= value <= 5:
        rule, remedy = "it must be a number from 0 to 5", "Fetch the file again, or correct the line"
        raise InputError(f"gold score {text!r}", where=f"{path}:{number}", rule=rule, remedy=remedy)
    return value


def _check_split(name: str, split: str) -> None:
    Registry("split of " + name, dict.fromkeys(sts_splits(name))).get(split)


_READERS: Registry[Callable[[str, str, Path, Variant], StsPairs]] = Registry(
    "STS task", {**dict.fromkeys(SUBSETS, _read_year), "STS-B": _read_sts_b, "SICK-R": _read_sick}
)


def read_dev(name: str, *folders: Path) -> StsPairs:
    """Read the pairs of one dev set.

    A file is looked for in `folders`, the last of which holds the data. Raises InputError, with file and line.
    """
    if name == "builtin":
        return builtin.graded_pairs("dev")
    if name in DEV_SPLITS:
        return read_sts(name, DEV_SPLITS[name], folders[-1])
    return read_pairs(find_file(name, *folders), Path(name).name, "dev")
