"""Published files, turned into the form that the readers read.

Each conversion is the one by which the catalogue's own file was made, so that its checksum holds for what is written.
"""

import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any

from rse_study.results.archive import read_tar

NLI_LABELS = ("entailment", "neutral", "contradiction", "-")  # -1 on the hub: no majority


def documents(archive: bytes, folder: str) -> bytes:
    """Make JSON Lines of the texts in neg/ and pos/ of a folder of a tar archive."""
    rows: list[tuple[int, str, str]] = []
    for member, content in read_tar(io.BufferedReader(io.BytesIO(archive))):
        name = PurePosixPath(member.name)
        if name.match(f"*/{folder}/*/*") and name.parent.name in ("neg", "pos") and member.isreg():
            text = b"".join(content).decode("latin-1").strip()
            rows.append((int(name.parent.name == "pos"), name.stem, text))
    return _lines({"id": stem, "label": label, "text": text} for label, stem, text in sorted(rows))


def _confusables(content: bytes) -> bytes:
    """Make a table in JSON of Unicode's: ASCII letter or digit -> other characters."""
    alike: dict[str, set[str]] = defaultdict(set)
    for line in content.decode("utf-8-sig").split("\n"):
        columns = [column.strip() for column in line.partition("#")[0].split(";")]
        if len(columns) > 1 and not any(" " in column for column in columns[:2]):
            source, target = (chr(int(column, 16)) for column in columns[:2])
            if target.isascii() and target.isalnum() and not source.isascii():
                alike[target].add(source)
    return json.dumps({target: sorted(alike[target]) for target in sorted(alike)}, indent=0).encode()


def _no_next_line(content: bytes) -> bytes:
    """Replace U+0085 by a blank, since some readers of lines end one there."""
    return content.decode("utf-8").replace("\u0085", " ").encode()


def _no_parses(content: bytes) -> bytes:
    """Drop the parse trees of JSON Lines in SNLI's form."""
    rows = [json.loads(line) for line in content.decode("utf-8").split("\n") if line.strip()]
    return _lines({key: value for key, value in row.items() if not key.endswith("_parse")} for row in rows)


def _squad(content: bytes) -> bytes:
    """Make SQuAD's JSON of a Parquet file of the hub, whose rows are questions."""
    articles = [
        {
            "title": title,
            "paragraphs": [
                {"context": context, "qas": [_question(row) for row in rows]}
                for context, rows in groupby(of_title, key=itemgetter("context"))
            ],
        }
        for title, of_title in groupby(_rows(content), key=itemgetter("title"))
    ]
    return json.dumps({"data": articles, "version": "1.1"}).encode()


def _question(row: dict[str, Any]) -> dict[str, Any]:
    starts, texts = row["answers"]["answer_start"], row["answers"]["text"]
    answers = [{"answer_start": start, "text": text} for start, text in zip(starts, texts, strict=True)]
    return {"answers": answers, "question": row["question"], "id": row["id"]}


_PREMISE, _HYPOTHESIS = itemgetter("premise"), itemgetter("hypothesis")
_JSON_LINES: dict[str, dict[str, Callable[[dict[str, Any]], object]]] = {
    "nli": {  # SNLI's and MNLI's keys
        "gold_label": lambda row: NLI_LABELS[row["label"]],
        "sentence1": _PREMISE,
        "sentence2": _HYPOTHESIS,
    },
    "anli": {
        "uid": itemgetter("uid"),
        "context": _PREMISE,
        "hypothesis": _HYPOTHESIS,
        "label": lambda row: NLI_LABELS[row["label"]][0],
    },
    # nli_fever's keys; on the hub its claims are premises.
    "fever": {"query": _PREMISE, "context": _HYPOTHESIS, "label": itemgetter("fever_gold_label")},
    "reviews": {"label": itemgetter("label"), "text": itemgetter("text")},
}
"""Keys of JSON Lines, and what each is of a row of the hub's Parquet file."""


def _renamed(keys: dict[str, Callable[[dict[str, Any]], object]], content: bytes) -> bytes:
    return _lines({key: value(row) for key, value in keys.items()} for row in _rows(content))


CONVERSIONS: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "confusables": _confusables,
    "no_next_line": _no_next_line,
    "no_parses": _no_parses,
    **{name: partial(_renamed, keys) for name, keys in _JSON_LINES.items()},
    "squad": _squad,
}
"""Conversions of one file; `documents` takes an archive."""


def _rows(content: bytes) -> list[dict[str, Any]]:
    # pyarrow takes a second to import, so import it on first use.
    import pyarrow.parquet

    return pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
