import math
from dataclasses import replace

import numpy as np
import pytest

from rse_study.data.builtin import graded_pairs
from rse_study.data.labelled import StsPairs
from rse_study.errors import InputError, MissingFile
from rse_study.evaluation.changes import CHANGES, ChangeResources
from rse_study.evaluation.invariance import NUM_TEXTS, Invariance, changed_text, changed_texts
from tests.evaluation.contract import by_letters
from tests.evaluation.contract import rows_of as rows_by_name

DEV = graded_pairs("dev")
TEXTS = ["It isn't good.", "a fine film", "", "🙂", "FINE", "you're right", "so it is not"]
LETTERS = ("typo_swap", "typo_delete", "typo_insert", "typo_repeat")
NO_TABLES = (*LETTERS, "expand", "contract", "lower_case", "punctuation")


def embed(texts: list[str]) -> np.ndarray:
    """Counts of a few letters, and one: case and order of letters do not matter."""
    return np.array([[text.lower().count(c) for c in "aeinotf."] + [1] for text in texts], float)


@pytest.fixture
def resources(tmp_path):
    return ChangeResources(tmp_path)


def invariance(texts, names, resources, seed=0):
    return Invariance("toy", "test", list(texts), changed_texts(texts, names, resources, seed))


def rows_of(names, resources, texts=TEXTS, embed=embed):
    """A row a change, without their mean."""
    rows = {row.aggregation: row for row in invariance(texts, names, resources).score(embed, "me")}
    assert rows.pop("mean").num_examples == len(texts)
    return rows


def test_similarity_is_the_mean_cosine_of_changed_texts(resources):
    row = rows_of(["expand"], resources)["expand"]
    cosines = []
    for old, new in (("It isn't good.", "It is not good."), ("you're right", "you are right")):
        a, b = embed([old])[0], embed([new])[0]
        cosines.append(sum(a * b) / math.sqrt(sum(a * a) * sum(b * b)))
    assert row.value == pytest.approx(100 * sum(cosines) / 2)
    assert (row.num_examples, row.num_skipped, row.degenerate, row.seed) == (2, 5, False, 0)


def test_a_change_the_encoder_does_not_see_moves_nothing_and_is_no_collapse(resources):
    rows = rows_of(["lower_case", "upper_case"], resources)
    assert rows["lower_case"].value == pytest.approx(100)
    assert not rows["lower_case"].degenerate
    assert rows["lower_case"].num_examples == 2
    assert rows["upper_case"].num_examples == 4  # nothing to do for "", the emoji and FINE
    row = rows_of(["lower_case"], resources, ["FINE"])["lower_case"]
    assert row.value == pytest.approx(100)
    assert not row.degenerate


def test_draws_hang_on_seed_change_and_text_alone(resources):
    whole = {(name, text): changed_text(text, name, resources, 0) for name in NO_TABLES for text in TEXTS}
    backwards = {(n, t): changed_text(t, n, resources, 0) for n in NO_TABLES[::-1] for t in TEXTS[::-1]}
    assert whole == backwards
    together = {name: row.value for name, row in rows_of(NO_TABLES, resources).items()}
    alone = {name: rows_of([name], resources)[name].value for name in NO_TABLES[::-1]}
    assert together == pytest.approx(alone, abs=1e-12)
    long = "a considerably longer sentence of many different words"
    assert len({changed_text(long, "typo_swap", resources, seed) for seed in range(10)}) > 3
    assert len({changed_text(long, name, resources, 0) for name in LETTERS}) == 4


@pytest.mark.parametrize("number", [1.0, math.nan, 0.0])
def test_collapsed_embeddings_are_said_to_be(number, resources):
    rows = rows_of(["typo_swap"], resources, embed=lambda texts: np.full((len(texts), 3), number))
    assert rows["typo_swap"].degenerate and math.isnan(rows["typo_swap"].value)


def test_unknown_changes_and_missing_tables_are_named(resources):
    with pytest.raises(InputError, match=r"no such change of text 'typo_swop'. Did you mean 'typo_swap'"):
        changed_texts(TEXTS, ["typo_swop"], resources, 0)
    for name in ("keyboard", "homoglyph", "synonyms"):
        with pytest.raises(MissingFile):
            changed_texts(TEXTS, [name], resources, 0)


@pytest.fixture
def small(data_dir) -> Invariance:
    pairs = StsPairs("toy", "dev", [*DEV.first[:8], DEV.first[0]], DEV.second[:9], DEV.gold[:9])
    return Invariance.of(pairs, data_dir)


def test_invariance_gives_a_row_a_change_and_their_mean(small, data_dir):
    rows = rows_by_name(small, by_letters)
    texts = DEV.first[:8]  # each once
    assert list(rows) == [*CHANGES, "mean"]
    for row in rows.values():
        assert row.num_examples + row.num_skipped == len(texts)
        assert math.isnan(row.value) == (row.num_examples == 0)
    known = [row.value for name, row in rows.items() if name != "mean" and not math.isnan(row.value)]
    assert rows["mean"].value == pytest.approx(sum(known) / len(known))
    assert 0 < rows["mean"].value < 100 and all(0 < value <= 100 + 1e-10 for value in known)
    assert (rows["mean"].num_examples, small.num_sentences) == (8, 8 * (1 + len(CHANGES)))


def test_invariance_is_fingerprinted_by_its_sentences_and_what_they_become(small, data_dir, resources):
    other = StsPairs("toy", "dev", DEV.first[:8], DEV.first[:8], DEV.gold[:8])
    assert Invariance.of(other, data_dir).fingerprint == small.fingerprint
    otherwise = replace(small, changed=small.changed | {"swap": small.texts})
    assert otherwise.fingerprint != small.fingerprint
    fewer = StsPairs("toy", "dev", DEV.first[:7], DEV.first[:7], DEV.gold[:7])
    assert Invariance.of(fewer, data_dir).fingerprint != small.fingerprint
    many = StsPairs("toy", "dev", [f"text {i}" for i in range(600)], ["x"] * 600, np.zeros(600))
    assert Invariance.of(many, data_dir).num_sentences == NUM_TEXTS * (1 + len(CHANGES))
    asked = [([name], seed) for name in LETTERS for seed in (0, 1)]
    prints = {invariance(TEXTS, names, resources, seed).fingerprint for names, seed in asked}
    assert len(prints) == len(asked)
