"""Tables of a user's own: scored pairs, labelled texts, sentences with views.

CSV, TSV, JSON Lines or Parquet; all but Parquet plain or gzip. Columns go by name, others are left alone. CSV and TSV
may lack a header: pairs if they have three columns, views if none is named. Texts such as `null` and `NA` are texts.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import model_validator

from rse_study.data.hub import Table, read_columns
from rse_study.data.labelled import Labelled, StsPairs, Text
from rse_study.data.labelled_sets import labelled, malformed, text_of, values_of
from rse_study.data.text_files import MAX_LINES, find_file, number_of, read_own_lines
from rse_study.errors import InputError, first_line

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
    """Yield file:line of each row, and its cells of these columns; without any, all of CSV and TSV."""
    readers = {".csv": _csv, ".tsv": _tsv, ".jsonl": _jsonl, ".parquet": _parquet}
    names, read = list[str](), readers[Path(path.name.removesuffix(".gz")).suffix]
    for where, cells in read(path, columns):
        if columns and not names:
            names = [cell if cell in columns else cell.lower() for cell in map(str.strip, cells)]
            lost = [one for one in columns if not names.count(one) == columns.count(one) == 1]
            if not lost:
                continue
            if columns != PAIR or len(cells) != len(PAIR) or not np.isfinite(number_of(cells[-1])):
                rule = f"the header must have {', '.join(columns)} (`columns` lists others); {_LAYOUT}"
                raise malformed(f"no column {lost[0]!r}, or two of them", where, rule)
            names = [*columns]
        if columns and len(cells) != len(names):
            raise malformed(f"cells: {len(cells)}, not {len(names)}", where, _LAYOUT)
        yield where, [cells[names.index(column)] for column in columns] or cells


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


MEANT = "a sentence, its paraphrase and perhaps a hard negative"


class Rewrites(Table):
    """A table whose rows are a sentence, its paraphrase and perhaps a hard negative.

    `{file: NAME}` is TSV or CSV without a header, or with `columns` also JSON Lines or Parquet; `{dataset: NAME,
    columns: [...]}` is a folder or name on the hub. Of a repeated sentence the first row counts.
    """

    kind: Literal["views"] = "views"
    """such a table; a study may leave it out"""
    dataset: str = ""
    """folder (looked for as a text file is) or name on the hub, instead of a file"""
    file: str = ""
    """.tsv, .csv or .jsonl, each also .gz, or .parquet; looked for as a text file is"""
    columns: tuple[str, ...] = ()
    """names of the two or three columns; empty: the file has no header, and two or three"""

    @model_validator(mode="after")
    def _one_table(self) -> "Rewrites":
        num_columns = len(self.columns) or 2 * self.file.removesuffix(".gz").endswith((".csv", ".tsv"))
        is_one = bool(self.file) != bool(self.dataset) and re.search(ENDING, self.file or ".csv")
        of_dataset = self.file and (self.split, self.config, self.revision) != ("train", "", "main")
        if not is_one or num_columns not in (2, 3) or of_dataset:
            kinds = "`file` (.tsv, .csv, .jsonl, .parquet) or `dataset` (with split, config and revision)"
            raise ValueError(f"must be a {kinds}, of 2 or 3 `columns`")
        return self


def read_rows(views: Rewrites, *folders: Path) -> Iterator[Text]:
    """Yield each row's sentence, paraphrase and perhaps hard negative, stripped."""
    width, path = len(views.columns), None if views.dataset else find_file(views.file, *folders)
    for where, cells in _rows(path, views.columns) if path else read_columns(views, *folders):
        is_header = not width and all(re.fullmatch(r"\w+", cell.strip(), re.ASCII) for cell in cells)
        width = width or len(cells)
        if is_header or len(cells) != width or width not in (2, 3):
            what = "a header" if is_header else f"cells: {len(cells)}"
            raise malformed(what, where, f"all have 2, or all 3: {MEANT}; names of columns go into `columns`")
        yield text_of(*cells, where=where)


def with_views(views: Rewrites, texts: list[str], *folders: Path, is_triple: bool) -> tuple[list[str], str]:
    """Return sentences, paraphrases and hard negatives in a row, and a note."""
    found, num_repeated = dict[str, Text](), 0
    for sentence, *others in read_rows(views, *folders):
        num_repeated += sentence in found
        found.setdefault(sentence, tuple(others))
    lacking, where = [one for one in texts if one not in found], views.file or f"dataset {views.dataset}"
    if lacking:
        what = f"{len(lacking):,} of {len(texts):,} training sentences have no row, first {lacking[0]!r:.80}"
        remedy = "Add rows, or train on its first column: write `corpus: {source: ...}` as `views` is written"
        raise InputError(what, where=where, rule="every sentence needs its view", remedy=remedy)
    columns = [*zip(*(found[one] for one in texts), strict=True)]
    if is_triple and len(columns) < 2:
        raise malformed("no third column", where, "simcse_supervised takes hard negatives from it")
    note = f"{len(columns)} of each sentence ({num_repeated:,} rows of repeated ones dropped)"
    return [*texts, *(one for column in columns for one in column)], note
