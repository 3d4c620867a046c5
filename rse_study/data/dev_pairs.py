"""Dev pairs by name: a task's dev split, the built-in ones, or a file."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rse_study.data import builtin
from rse_study.data.pairs import StsPairs
from rse_study.data.readers import DEV_SPLITS, read_sts
from rse_study.data.text_files import find_file, read_lines
from rse_study.errors import InputError

LAYOUT = "each line is sentence TAB sentence TAB similarity"
FEWEST = 2  # different similarities


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
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split("\t")
        try:
            first, second, gold = fields[0].strip(), fields[1].strip(), float(fields[2])
        except (IndexError, ValueError):
            first, second, gold = "", "", np.nan
        if not (len(fields) == 3 and first and second and np.isfinite(gold)):
            raise InputError(
                "no pair", where=f"{path}:{number}", rule=LAYOUT, remedy="Correct or remove the line"
            )
        yield first, second, gold
