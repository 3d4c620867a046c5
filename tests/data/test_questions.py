"""SQuAD's reader: its published layout, the copy on the hub, and what is refused."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest

from rse_study.data.download import CONVERSIONS
from rse_study.data.labelled_sets import read_squad
from rse_study.errors import InputError, MissingFile
from tests.cases import cases

CONTEXT = "The red cat sat. A blue dog ran."


def _question(question, *answers):
    marked = [{"answer_start": start, "text": text} for text, start in answers]
    return {"answers": marked, "question": question, "id": question[:4]}


def squad(*questions, context=CONTEXT):
    paragraphs = [{"context": context, "qas": list(questions)}]
    return {"data": [{"title": "Pets", "paragraphs": paragraphs}], "version": "1.1"}


def _write(folder, content, split="train"):
    path = folder / f"squad/{split}-v1.1.json.gz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress((content if isinstance(content, str) else json.dumps(content)).encode()))


def test_questions_are_read_with_all_their_answers_and_the_place_of_the_first(tmp_path):
    asked = [
        _question(" Who sat? ", ("red cat", 4), ("The red cat", 0)),
        _question("Who ran?", ("blue dog", 18)),
    ]
    _write(tmp_path, squad(*asked))
    found = read_squad("train", tmp_path)
    assert (found.name, found.split, len(found)) == ("SQuAD", "train", 2)
    assert found.texts == [("Who sat?", CONTEXT), ("Who ran?", CONTEXT)]
    assert found.answers == [("red cat", "The red cat"), ("blue dog",)]
    assert found.starts.tolist() == [4, 19]  # the file is off by one
    other = found.take(np.array([1]))
    assert (other.texts, other.answers, other.starts.tolist()) == ([found.texts[1]], [("blue dog",)], [19])
    assert other.fingerprint != found.fingerprint


@cases(
    ("context", "answer", "given", "found"),
    [
        ("1 1 1", "1", 2, 2),
        ("1 1 1", "1", 3, 2),
        ("aaa", "a", 1, 1),
        ("aaaa", "aa", 2, 2),
        ("x ab", "ab", 0, 2),
        ("ab", "ab", -2, 0),
    ],
)
def test_an_answer_is_where_it_stands_nearest_to_the_given_place(tmp_path, context, answer, given, found):
    _write(tmp_path, squad(_question("Which?", (answer, given)), context=context))
    assert read_squad("train", tmp_path).starts.tolist() == [found]


def test_the_hubs_copy_becomes_the_authors_layout(tmp_path):
    authors = squad(_question("Who sat?", ("red cat", 4)), _question("Who ran?", ("blue dog", 19)))
    more = squad(_question("What else?", ("red", 0), ("red sun", 0)), context="red sun")["data"][0]
    authors["data"][0]["paragraphs"] += more["paragraphs"]
    authors["data"].append(more | {"title": "Sun"})
    rows = [
        {
            "id": one["id"],
            "title": article["title"],
            "context": paragraph["context"],
            "question": one["question"],
            "answers": {
                name: [answer[name] for answer in one["answers"]] for name in ("text", "answer_start")
            },
        }
        for article in authors["data"]
        for paragraph in article["paragraphs"]
        for one in paragraph["qas"]
    ]
    stream = io.BytesIO()
    pd.DataFrame(rows).to_parquet(stream)
    assert json.loads(CONVERSIONS["squad"](stream.getvalue())) == authors


REFUSED = {
    "no JSON": ("{", r"train-v1.1.json.gz: Invalid JSON"),
    "no data": ({"data": []}, r"json.gz.data: .*the layout is SQuAD 1.1's"),
    "no context": ({"data": [{"paragraphs": [{"qas": []}]}]}, r"data.0.paragraphs.0.context: Field required"),
    "no answer": (squad(_question("Who?")), r"qas.0.answers: List should have at least 1 item"),
    "an empty answer": (squad(_question("Who?", ("", 0))), r"answers.0.text: String should have at least 1"),
    "an empty question": (squad(_question("", ("red", 4))), r"qas.0.question: String should have at least 1"),
    "an answer elsewhere": (
        squad(_question("Who?", ("red cat", 9))),
        r"question 'Who\?': the answer 'red cat' is not there: its context must have it at character 9",
    ),
}


@cases(("content", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_squad_is_refused(content, message, tmp_path):
    _write(tmp_path, content)
    with pytest.raises(InputError, match=message):
        read_squad("train", tmp_path)


def test_a_missing_split_says_where_it_goes(tmp_path):
    with pytest.raises(MissingFile, match=r"squad/dev-v1.1.json \(plain or .gz\) in the data folder"):
        read_squad("dev", tmp_path)
