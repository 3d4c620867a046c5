"""Encoders of a user's own as baselines: what a study may say of them, what identifies them, and their vectors."""

import gzip
import json
import logging
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules

from rse_study.data import builtin
from rse_study.errors import InputError, InputErrors
from rse_study.evaluation.sts import Similarity
from rse_study.results.records import BASELINES, OWN_BASELINE
from rse_study.results.study_record import StudyRecord
from rse_study.study import baselines
from rse_study.study.baselines import can_measure, measure_baseline, measure_baseline_once
from rse_study.study.checking.data_check import check_data
from rse_study.study.checking.validation import check_content
from rse_study.study.definition.own_baselines import OwnBaseline, OwnClass, WordVectors
from tests.cases import cases
from tests.training.world import World

TEXTS = ["The old cat's hat", "a dog", "They don't sleep.", "xyzzy"]
CLASSES = """
import numpy as np
class Lengths:
    def __call__(self, texts):
        return np.array([[len(text), text.count("a"), 1.0] for text in texts])
class Silent: pass
"""
KINDS = {
    "float64": (lambda texts: np.ones((len(texts), 3)), ""),
    "half a tensor": (lambda texts: torch.ones(len(texts), 3, dtype=torch.bfloat16, requires_grad=True), ""),
    "lists": (lambda texts: [[1, 2]] * len(texts), ""),
    "another number": (lambda texts: np.ones((3, 4)), r"returns an array \[3, 4\] for 4 texts"),
    "one vector": (lambda texts: np.ones(len(texts)), r"returns an array \[4\] for 4 texts"),
    "nothing": (lambda texts: None, "1 values not finite"),
    "NaN": (lambda texts: np.full((len(texts), 2), np.nan), "8 values not finite"),
    "words": (lambda texts: texts, "fails .ValueError: could not convert"),
    "ragged": (lambda texts: [[1.0] * len(text) for text in texts], "fails .ValueError"),
    "an error": (lambda texts: 1 / 0, "fails .ZeroDivisionError: division by zero"),
    "an exit": (lambda texts: sys.exit("no"), "fails .SystemExit: no"),
}


@cases("kind", KINDS)
def test_a_class_gives_an_array_of_vectors_or_is_refused_by_name(kind, monkeypatch):
    called, said = KINDS[kind]
    own = OwnClass("tests.study.test_own_baselines:Called", "")
    monkeypatch.setattr(own, "_made", called)
    if not said:
        assert own(TEXTS).shape[0] == len(TEXTS)
        return
    with pytest.raises(InputError, match=said) as caught:
        own(TEXTS)
    assert "test_own_baselines:Called" in str(caught.value)


class Called:
    def __call__(self, texts): ...


def test_vectors_of_another_length_in_a_later_call_are_refused(monkeypatch):
    own = OwnClass("tests.study.test_own_baselines:Called", "")
    monkeypatch.setattr(own, "_made", lambda texts: np.ones((len(texts), len(texts))))
    own(TEXTS)
    with pytest.raises(InputError, match=r"returns an array \[2, 2\] for 2 texts"):
        own(TEXTS[:2])


GLOVE = "the 1 0\nold 0 1\ncat 2 2\n's 4 0\n. . . 9 9\nthe 5 5\na\u00a0b 7 7\nn't 0 4 \ndo 1 1\n"


@cases("header", ["", "9 2\n"])
@cases("packed", [False, True])
def test_a_text_has_the_mean_of_its_known_words(header, packed, tmp_path, caplog):
    path = tmp_path / f"vectors.txt{'.gz' if packed else ''}"
    text = f"{header}{GLOVE}".encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    with caplog.at_level(logging.WARNING):
        found = WordVectors(path)(TEXTS)
    known = {"the": (1, 0), "old": (0, 1), "cat": (2, 2), "'s": (4, 0), "do": (1, 1), "n't": (0, 4)}
    words = [["the", "old", "cat", "'s"], [], ["do", "n't"], []]
    expected = [np.mean([known[word] for word in own], axis=0) if own else (0, 0) for own in words]
    np.testing.assert_allclose(found, expected)
    assert "2 of 4 texts have no known word, and a zero vector" in caplog.text


def test_of_a_file_words_that_were_met_alone_are_kept(tmp_path):
    (tmp_path / "v.txt").write_text(GLOVE, encoding="utf-8")
    vectors = WordVectors(tmp_path / "v.txt")
    first = vectors(["old cat"])
    assert {word for word, vector in vectors._known.items() if vector is not None} == {"old", "cat"}
    np.testing.assert_array_equal(vectors(["cat old", "the"])[0], first[0])


MALFORMED = {
    "empty": ("", "v.txt:1: is no word with 1 numbers"),
    "a word alone": ("the\n", "v.txt:1"),
    "a header of other vectors": ("2 3\nthe 1 2\n", "v.txt:2"),
    "too few numbers": ("the 1 2\nof 1\n", "v.txt:2"),
    "no number": ("the 1 2\nof 1 x\n", "v.txt:2"),
    "NaN": ("the 1 2\nof 1 nan\n", "v.txt:2"),
    "a line without anything": ("the 1 2\n\nof 1 2\n", "v.txt:2"),
    "Latin 1": ("the 1 2\nof 1 2\n\xe9 1 2\n", "byte 1 is not UTF-8"),
}


@cases("kind", MALFORMED)
def test_a_malformed_line_is_refused_with_its_number(kind, tmp_path):
    text, said = MALFORMED[kind]
    (tmp_path / "v.txt").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        WordVectors(tmp_path / "v.txt")(["the of"])
    assert said in f"{caught.value.where}: {caught.value.what}: {caught.value}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"), builtin.corpus(0, 60)).materials(dropout=0.0)


@pytest.fixture
def folder(tmp_path, made):
    """Beside the study: an encoder with modules that ours has not, word vectors, and classes."""
    transformer = modules.Transformer(made.base)
    width = transformer.get_embedding_dimension()
    layers = [modules.Pooling(width, "mean"), modules.Dense(width, 8), modules.Normalize()]
    SentenceTransformer(modules=[transformer, *layers], device="cpu").save(str(tmp_path / "dense"))
    (tmp_path / "glove.txt").write_text(GLOVE, encoding="utf-8")
    (tmp_path / "own_classes.py").write_text(CLASSES, encoding="utf-8")
    yield tmp_path
    sys.modules.pop("own_classes", None)


ENCODER, BY_CLASS, VECTORS = {"encoder": "dense"}, {"class": "own_classes:Lengths"}, {"vectors": "glove.txt"}


def own_of(settings):
    return OwnBaseline.model_validate(settings)


def test_an_encoder_is_sentence_transformers_whole_with_its_prompt(folder, made):
    own = own_of({**ENCODER, "prompt": "query: "})
    found = own.embed(own.materials(made, folder), "cpu")(TEXTS)
    theirs = SentenceTransformer(str(folder / "dense"), device="cpu")
    np.testing.assert_allclose(found, theirs.encode(TEXTS, prompt="query: "), atol=1e-6)
    assert np.abs(found - theirs.encode(TEXTS)).max() > 1e-3


def edit_pooling(folder):
    path = folder / "dense" / "1_Pooling" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pooling_mode": "cls"}), encoding="utf-8")


CHANGES = {
    "a module's settings": (ENCODER, edit_pooling, {}),
    "a prompt": (ENCODER, lambda folder: None, {"prompt": "query: "}),
    "word vectors": (VECTORS, lambda folder: (folder / "glove.txt").write_text("the 1 2\n"), {}),
    "a class": (BY_CLASS, lambda folder: (folder / "own_classes.py").write_text(f"{CLASSES}\n#"), {}),
}


@cases("change", CHANGES)
def test_an_encoder_is_identified_by_its_content(change, folder, made):
    settings, edit, more = CHANGES[change]
    first, again = (own_of(settings).materials(made, folder).fingerprints["base"] for _ in range(2))
    edit(folder)
    sys.modules.pop("own_classes", None)
    now = own_of({**settings, **more}).materials(made, folder).fingerprints["base"]
    assert first == again != now


def test_a_worker_makes_the_class_from_its_source_alone(folder, made):
    own = own_of(BY_CLASS)
    materials = own.materials(made, folder)
    del sys.modules["own_classes"]
    (folder / "own_classes.py").unlink()
    np.testing.assert_array_equal(own.embed(materials, "cpu")(["banana"]), [[6, 3, 1]])


def test_scores_are_shared_by_all_studies_whatever_the_name(folder, made, monkeypatch):
    own, asked = own_of(VECTORS), [Similarity(made.dev)]
    materials = replace(own.materials(made, folder), corpus=folder / "corpus")
    heard = []
    measure = lambda *given, **more: heard.append(given) or measure_baseline(*given, **more)  # noqa: E731
    monkeypatch.setattr(baselines, "measure_baseline", measure)
    first, other = (measure_baseline_once(f"{name}:1234", own, materials, asked) for name in ("GloVe", "a:b"))
    assert [row.subject for row in first] == ["GloVe:1234"] * 3
    assert [row.subject for row in other] == ["a:b:1234"] * 3
    assert [row.value for row in other] == [row.value for row in first]
    assert len(heard) == 1


def test_fine_tuned_tasks_are_not_its():
    class FineTuned(Similarity):
        def score_weights(self, weights, embed, subject): ...

    assert can_measure("start", FineTuned(builtin.graded_pairs("test")))
    assert not can_measure("GloVe:1234", FineTuned(builtin.graded_pairs("test")))


STUDY = {
    "name": "own",
    "question": "Is it better than others?",
    "base": {
        "encoder": {"name": "tiny", "pooling": "mean"},
        "budget": {"unit": "steps", "amount": 1},
        "selection": {"dev": "builtin", "every": 1},
    },
    "grid": {"rows": {"as it is": {}}},
    "seeds": [0],
}


def checked(folder, given):
    return check_content({**STUDY, "baselines": given}, where=str(folder / "own.yaml"))


@cases(
    ("given", "names"),
    [
        ({"GloVe": VECTORS}, ["token_overlap", "untrained", "start", "GloVe"]),
        (["start", {"GloVe": VECTORS}, "cls"], ["start", "GloVe", "cls"]),
        ({"cls": {}, "start": None, "x": BY_CLASS}, ["token_overlap", "untrained", "start", "cls", "x"]),
        ({}, ["token_overlap", "untrained", "start"]),
        ([{"cls": {}}, {"a = <b>b</b> & c": VECTORS, "d": VECTORS}], ["cls", "a = <b>b</b> & c", "d"]),
    ],
)
def test_a_list_or_a_mapping_names_them(given, names, folder):
    study = checked(folder, given).study
    found = [name for one in study.baselines for name in ([one] if isinstance(one, str) else one)]
    assert found == names
    again = {"baselines": study.resolved()["baselines"]}
    assert [*study.own_baselines] == [name for name in names if name not in BASELINES]
    assert json.loads(json.dumps(again)) == again


REFUSED = [
    ({"start": ENCODER}, "is listed twice"),
    ({"cls": ENCODER}, "no name of a row or shipped baseline"),
    ({"before training": ENCODER}, "no name of a row or shipped baseline"),
    ({"as it is": ENCODER}, "no name of a row or shipped baseline"),
    ({"base": ENCODER}, "no name of a row or shipped baseline"),
    ({"trial 3": ENCODER}, "no name of a row or shipped baseline"),
    ({" E5": ENCODER}, "without a blank at an end"),
    ({"E\n5": ENCODER}, "must be 1 to 64 characters"),
    ({"E5": {}}, "must have one of `encoder`, `class` and `vectors`"),
    ({"E5": ENCODER | VECTORS}, "must have one of `encoder`, `class` and `vectors`"),
    ({"GloVe": VECTORS | {"prompt": "query: "}}, "`prompt` is an encoder's"),
    ({"E5": {"encodr": "dense"}}, "no such field of OwnBaseline. Did you mean 'encoder'?"),
    ({"E5": "dense"}, "must be a mapping. Write its fields"),
    ({"x": {"class": "own_classes"}}, "must be module:Class"),
    (["strat"], "Did you mean 'start'?"),
    ([{}], "must have at least 1 item"),
    ({"E5": {"encoder": "tiny"}}, "is no model of sentence-transformers"),
    ({"E5": {"encoder": "./dens"}}, "no such folder"),
    ({"E5": {"encoder": "dense/1_Pooling"}}, "it has no modules.json"),
    ({"x": {"class": "own_clases:X"}}, "cannot be imported"),
    ({"x": {"class": "own_classes:Length"}}, "Did you mean 'Lengths'?"),
    ({"x": {"class": "own_classes:Silent"}}, "is no subclass of collections.abc.Callable"),
    ({"GloVe": {"vectors": "glov.txt"}}, "Did you mean 'glove.txt'?"),
    ({"GloVe": {"vectors": "own_classes.py"}}, "own_classes.py:1"),
]


@cases(("given", "said"), REFUSED)
def test_what_cannot_be_measured_is_refused_by_name(given, said, folder):
    try:
        problems = check_data(checked(folder, given), folder)
    except InputErrors as errors:
        problems = errors.problems
    assert said in "; ".join(map(str, problems))
    assert all("baselines" in problem.what for problem in problems)


def test_what_is_there_is_not_refused(folder):
    given = {"E5": {**ENCODER, "prompt": ""}, "x": BY_CLASS, "GloVe": VECTORS}
    assert check_data(checked(folder, given), folder) == []


def test_labels_are_those_of_the_record_and_shipped_ones_stay_as_they_are():
    record = StudyRecord(name="own", objective={"metric": "dev"}, fingerprints={"STS-B/test": "1" * 64})
    assert record.baselines == BASELINES
    more = record.model_copy(update={"fingerprints": {f"{OWN_BASELINE}a:b": "2" * 64} | record.fingerprints})
    assert more.baselines == BASELINES | {f"a:b:{'2' * 16}": "a:b"}
