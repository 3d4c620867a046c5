"""Dev pairs by name: a task's dev split, the built-in ones, or a file."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rse_study.data import builtin
from rse_study.data.pairs import StsPairs
from rse_study.data.readers import DEV_SPLITS, read_sts
from rse_study.data.text_files import find_file, number_of, read_own_lines
from rse_study.errors import InputError

LAYOUT = "each line is sentence TAB sentence TAB similarity (digits, at most 1,000,000), nothing in quotes"
HEADER = ("sentence1", "sentence2", "score")
LARGEST = 1_000_000  # similarity
FEWEST = 2  # different similarities
_QUOTED = re.compile(r'"([^"]|"")*"')  # as tables are quoted; other quotation marks are text


def read_dev(name: str, *folders: Path) -> StsPairs:
    """Read the pairs of one dev set.

    A file is looked for in `folders`, the last of which holds the data. Raises InputError, with file and line.
    """
    if name == "builtin":
        return builtin.graded_pairs("dev")
    if name in DEV_SPLITS:
        return read_sts(name, DEV_SPLITS[name], folders[-1])
    path = find_file(name, *folders)
    rows = list(_rows(path))
    gold = np.array([similarity for _, _, similarity in rows], np.float64)
    if len(set(gold)) < FEWEST:
        rule = "a correlation needs pairs with different similarities"
        raise InputError(f"{len(rows)} pairs", where=str(path), rule=rule, remedy=f"Add pairs: {LAYOUT}")
    return StsPairs(Path(name).name, "dev", [row[0] for row in rows], [row[1] for row in rows], gold)


def _rows(path: Path) -> Iterator[tuple[str, str, float]]:
    """Yield the pairs of a file; blank lines and a header of the usual names are none."""
    for number, line in enumerate(read_own_lines(path), start=1):
        fields = tuple(field.strip() for field in line.split("\t"))
        if not line.strip() or (number == 1 and tuple(map(str.lower, fields)) == HEADER):
            continue
        gold = number_of(fields[2]) if len(fields) == len(HEADER) and all(fields) else np.nan
        if any(map(_QUOTED.fullmatch, fields)) or not abs(gold) <= LARGEST:
            what = "a field in quotes" if any(map(_QUOTED.fullmatch, fields)) else "no pair"
            remedy = f"Correct or remove the line (a header is {' TAB '.join(HEADER)})"
            raise InputError(what, where=f"{path}:{number}", rule=LAYOUT, remedy=remedy)
        yield fields[0], fields[1], gold
