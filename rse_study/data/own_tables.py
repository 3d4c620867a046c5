"""Tables of a user's own: pairs with a score, and texts with a label.

CSV (a cell with a comma or a quotation mark stands in quotes), TSV (nothing does), JSON Lines or Parquet; all but
Parquet plain or gzip. Columns go by name, others are left alone. Pairs in CSV and TSV may lack a header if they have
three columns; a text such as `null` or `NA` is one.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.labelled import Labelled, StsPairs
from rse_study.data.labelled_sets import labelled, malformed, text_of, values_of
from rse_study.data.text_files import MAX_LINES, number_of, read_own_lines
from rse_study.errors import InputError, first_line
from rse_study.registry import did_you_mean

ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
IS_TABLE = r"\.(csv|tsv|jsonl|parquet)(\.gz)?$"
PAIR = ("sentence1", "sentence2", "score")
LABELLED_TEXT = ("text", "label")
LARGEST = 1_000_000  # score
FEWEST = 2  # different scores, or labels
Row = tuple[str, list[Any]]
"""file:line, and the cells"""
_QUOTED = re.compile(r'"([^"]|"")*"')  # as tables are quoted; other quotation marks are text
_LAYOUT = {
    ".csv": "commas separate the cells, and a cell with a comma or a quotation mark stands in quotes",
    ".tsv": "tabs separate the cells, and nothing stands in quotes",
}


def ending_of(name: str) -> str:
    """Return the ending of a file's name, without .gz."""
    return Path(name.lower().removesuffix(".gz")).suffix


def read_pairs(path: Path, name: str, split: str, columns: Sequence[str] = PAIR) -> StsPairs:
    """Read pairs of sentences with a score on any scale; InputError names the row."""
    texts, gold = list[tuple[str, ...]](), list[float]()
    for where, (*sentences, score) in _rows(path, columns):
        gold.append(number_of(str(score)))
        if not abs(gold[-1]) <= LARGEST:
            rule = f"a score is a number in digits, at most {LARGEST:,}"
            raise malformed(f"{columns[-1]} {score!r:.80}", where, rule)
        texts.append(text_of(*sentences, where=where))
    if len(set(gold)) < FEWEST:
        rule, remedy = "a correlation needs pairs with different scores", "Add pairs"
        raise InputError(f"{len(gold)} pairs", where=str(path), rule=rule, remedy=remedy)
    return StsPairs(name, split, [one for one, _ in texts], [other for _, other in texts], np.array(gold))


def read_labelled_texts(path: Path, name: str, columns: Sequence[str] = LABELLED_TEXT) -> Labelled:
    """Read texts with any labels as the one split of a set; InputError names the row."""
    rows = [
        (text_of(text, where=where), _label_of(label, where)) for where, (text, label) in _rows(path, columns)
    ]
    classes = {label: place for place, label in enumerate(sorted({label for _, label in rows}))}
    if len(classes) < FEWEST:
        what, rule = (
            f"{len(rows)} texts with {len(classes)} label(s)",
            "a classifier needs two labels or more",
        )
        raise InputError(what, where=str(path), rule=rule, remedy="Add texts with other labels")
    return labelled(name, "all", ((text, classes[label]) for text, label in rows), (*classes,), str(path))


def _label_of(label: object, where: str) -> str:
    if not isinstance(label, str | int | float) or label != label or not str(label).strip():
        raise malformed(f"label {label!r:.80}", where, "a label is a text or a number")
    return str(label).strip()


def _rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """Yield the cells of these columns, row by row."""
    ending = ending_of(path.name)
    if ending == ".parquet":
        yield from _of_parquet(path, columns)
    elif ending == ".jsonl":
        lines = enumerate(read_own_lines(path), start=1)
        places = ((f"{path}:{number}", line) for number, line in lines if line.strip())
        yield from ((where, values_of(line, columns, where)) for where, line in places)
    else:
        yield from _of_cells(_csv(path) if ending == ".csv" else _tsv(path), columns, _LAYOUT[ending])


def _of_cells(rows: Iterator[Row], columns: Sequence[str], layout: str) -> Iterator[Row]:
    """Find the columns by the header, or by their order if the first row is a pair."""
    names = list[str]()
    for where, cells in rows:
        if not names:
            names = [cell if cell in columns else cell.lower() for cell in map(str.strip, cells)]
            is_pair = tuple(columns) == PAIR and len(cells) == len(PAIR) and np.isfinite(number_of(cells[-1]))
            if not is_pair:
                _require_columns(columns, names, where, layout)
                continue
            names = [*columns]
        if len(cells) != len(names):
            what = f"{len(cells)} cell(s), where the first row has {len(names)}"
            raise malformed(what, where, layout)
        yield where, [cells[names.index(column)] for column in columns]


def _require_columns(columns: Sequence[str], names: Sequence[str], where: str, layout: str) -> None:
    for column in columns:
        if names.count(column) != 1:
            what = f"{'two columns' if column in names else 'no column'} {column!r:.80}"
            rule = f"the first row names the columns {', '.join(columns)}, in any order; {layout}"
            rule += " (without a header, it is a pair and its score)" if tuple(columns) == PAIR else ""
            remedy = f"Rename them, or name others by `columns`. {did_you_mean(column, names)}"[:300]
            raise InputError(what, where=where, rule=rule, remedy=remedy)


def _csv(path: Path) -> Iterator[Row]:
    reader = csv.reader((f"{line}\n" for line in read_own_lines(path)), strict=True)
    while True:
        where = f"{path}:{reader.line_num + 1}"
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise malformed(f"is no row ({error})", where, _LAYOUT[".csv"]) from None
        if cells is None:
            return
        if any(map(str.strip, cells)):
            yield where, cells


def _tsv(path: Path) -> Iterator[Row]:
    for number, line in enumerate(read_own_lines(path), start=1):
        cells, where = line.split("\t"), f"{path}:{number}"
        if any(_QUOTED.fullmatch(cell.strip()) for cell in cells):
            raise malformed("a cell in quotes", where, _LAYOUT[".tsv"])
        if line.strip():
            yield where, [*cells]


def _of_parquet(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    from pyarrow import ArrowException, parquet  # half a second, for the files of a few

    try:
        file = parquet.ParquetFile(path)
        _require_columns(columns, file.schema_arrow.names, str(path), "it is Parquet")
        if file.metadata.num_rows > MAX_LINES:
            rule, remedy = f"at most {MAX_LINES:,}", "Take fewer rows"
            raise InputError(f"{file.metadata.num_rows:,} rows", where=str(path), rule=rule, remedy=remedy)
        table = file.read(columns=[*columns]).to_pydict()
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        what, rule = (
            f"cannot be read ({first_line(error)})",
            "a file that ends in .parquet is Parquet, in UTF-8",
        )
        raise InputError(what, where=str(path), rule=rule, remedy="Write the file again") from None
    for number, cells in enumerate(zip(*(table[column] for column in columns), strict=True), start=1):
        yield f"{path}, row {number}", [*cells]
