"""Tables of a user's own: pairs with a score, and texts with a label.

CSV, TSV, JSON Lines or Parquet; all but Parquet plain or gzip. Columns go by name, others are left alone. CSV and TSV
of pairs may lack a header if they have three columns. Texts such as `null` and `NA` are texts.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.labelled import Labelled, StsPairs, Text
from rse_study.data.labelled_sets import labelled, malformed, text_of, values_of
from rse_study.data.text_files import MAX_LINES, number_of, read_own_lines
from rse_study.errors import first_line

ENDING = r"\.(csv|tsv|jsonl|parquet)(\.gz)?$"
PAIR = ("sentence1", "sentence2", "score")
LARGEST = 1_000_000  # score
_LAYOUT = "commas separate cells, and one with a comma stands in quotes; in .tsv, tabs do, and none stands in quotes"
_QUOTED = re.compile(r'"([^"]|"")*"')  # as tables are quoted; other quotation marks are text


def read_pairs(path: Path, name: str, split: str, columns: Sequence[str] = PAIR) -> StsPairs:
    """Read pairs of sentences with a score on any scale; InputError names the row."""
    rows = _examples(path, columns, _score_of)
    first, second = ([text[side] for text, _ in rows] for side in (0, 1))
    return StsPairs(name, split, first, second, np.array([score for _, score in rows], np.float64))


def read_labelled_texts(path: Path, name: str, columns: Sequence[str]) -> Labelled:
    """Read texts with any labels as the one split of a set; InputError names the row."""
    rows = _examples(path, columns, _label_of)
    classes = sorted({label for _, label in rows})
    places = {label: place for place, label in enumerate(classes)}
    return labelled(name, "all", ((text, places[label]) for text, label in rows), (*classes,), str(path))


def _examples(
    path: Path, columns: Sequence[str], value_of: Callable[[Any, str], Any]
) -> list[tuple[Text, Any]]:
    """Return the texts of each row and the value in its last column, which must differ."""
    rows = [(text_of(*texts, where=at), value_of(last, at)) for at, (*texts, last) in _rows(path, columns)]
    if len({value for _, value in rows}) < 2:
        raise malformed(f"fewer than two values of {columns[-1]}", str(path), "nothing could be measured")
    return rows


def _score_of(found: object, where: str) -> float:
    score = number_of(str(found))
    if not abs(score) <= LARGEST:
        raise malformed(f"score {found!r:.80}", where, f"it must be a number in digits, at most {LARGEST:,}")
    return score


def _label_of(found: object, where: str) -> str:
    label = str(found).strip()
    if not isinstance(found, str | int | float) or found != found or not label:
        raise malformed(f"label {found!r:.80}", where, "it must be a text or a number")
    return label


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    """Yield file:line of each row, and its cells of these columns."""
    readers = {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl, ".parquet": _parquet}
    names, read = list[str](), readers[Path(path.name.removesuffix(".gz")).suffix]
    for where, cells in read(path, columns):
        if not names:
            names = [cell if cell in columns else cell.lower() for cell in map(str.strip, cells)]
            lost = [one for one in columns if not names.count(one) == columns.count(one) == 1]
            if not lost:
                continue
            if columns != PAIR or len(cells) != len(PAIR) or not np.isfinite(number_of(cells[-1])):
                rule = f"the header must have {', '.join(columns)} (an evaluation lists others in `columns`); {_LAYOUT}"
                raise malformed(f"no column {lost[0]!r}, or two of them", where, rule)
            names = [*columns]
        if len(cells) != len(names):
            raise malformed(f"cells: {len(cells)}, not {len(names)}", where, _LAYOUT)
        yield where, [cells[names.index(column)] for column in columns]


def _csv(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    number, rows = 1, csv.reader((f"{line}\n" for line in read_own_lines(path)), strict=True)
    try:
        for cells in rows:
            if any(map(str.strip, cells)):
                yield f"{path}:{number}", cells
            number = rows.line_num + 1
    except csv.Error as error:
        raise malformed(f"is no row ({error})", f"{path}:{number}", _LAYOUT) from None


def _tsv(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    for number, line in enumerate(read_own_lines(path), start=1):
        cells, where = line.split("\t"), f"{path}:{number}"
        if any(_QUOTED.fullmatch(cell.strip()) for cell in cells):
            raise malformed("a cell in quotes", where, _LAYOUT)
        if line.strip():
            yield where, [*cells]


def _jsonl(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    yield str(path), [*columns]
    for number, line in enumerate(read_own_lines(path), start=1):
        if line.strip():
            yield (where := f"{path}:{number}"), values_of(line, columns, where)


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    from pyarrow import ArrowException, parquet  # half a second, which other files do without

    try:
        file = parquet.ParquetFile(path)
        if file.metadata.num_rows > MAX_LINES:
            raise malformed(f"{file.metadata.num_rows:,} rows", str(path), f"at most {MAX_LINES:,}")
        names = [name for name in file.schema_arrow.names if name in columns]
        cells = [column.to_pylist() for column in file.read(columns=names).columns]
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise malformed(f"cannot be read ({first_line(error)})", str(path), "it should be Parquet") from None
    yield str(path), names
    yield from ((f"{path}, row {number}", [*row]) for number, row in enumerate(zip(*cells, strict=True), 1))
