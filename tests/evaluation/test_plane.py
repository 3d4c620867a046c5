import re
from itertools import chain

import numpy as np
import pytest

from rse_study.data.labelled import StsPairs
from rse_study.evaluation import IN_THE_PLANE, read_evaluation
from rse_study.evaluation.invariance import KINDS, NUM_VERSIONS, SentencePlane
from tests.evaluation.contract import all_one, by_letters, check_registered, rows_of

TEXTS = ["a red cat", "a green dog", "the blue bird", "an old fish"]
VERSIONS = [
    ["a red kat", "a rid kat"],
    ["a greed dog", "a green dig"],
    ["the blue bard", "a bulb"],
    ["an odd fish"] * 2,
]
VERSIONS = [(each * NUM_VERSIONS)[:NUM_VERSIONS] for each in VERSIONS]
PAIRS = [(text, version) for text, each in zip(TEXTS, VERSIONS, strict=True) for version in each]
PLANE = SentencePlane(StsPairs("toy", "test", *map(list, zip(*PAIRS, strict=True)), np.zeros(len(PAIRS))))


def test_it_is_an_evaluation_like_any_other_and_of_one_vector_nothing_is_placed():
    check_registered(PLANE)
    assert set(rows_of(PLANE, all_one)) == {f"closeness {kind}" for kind in KINDS}


def test_closeness_is_the_mean_cosine_of_pairs_minus_that_of_others():
    """The adversarial version is the one furthest from its own sentence, whichever is first."""
    units = {text: v / np.linalg.norm(v) for text in {*TEXTS, *chain(*VERSIONS)} for v in by_letters([text])}
    furthest = [min(each, key=lambda v: units[v] @ units[t]) for t, each in zip(TEXTS, VERSIONS, strict=True)]
    assert furthest != [each[0] for each in VERSIONS]
    rows = rows_of(PLANE, by_letters)
    for kind, chosen in zip(KINDS, ([each[0] for each in VERSIONS], furthest), strict=True):
        cosines = np.array([[units[a] @ units[b] for b in chosen] for a in TEXTS])
        others = cosines[~np.eye(len(TEXTS), dtype=bool)]
        assert rows[f"closeness {kind}"].value == pytest.approx(
            100 * (np.diag(cosines).mean() - others.mean())
        )


def test_every_sentence_and_version_has_a_place_and_the_same_one_again():
    rows = rows_of(PLANE, by_letters)
    places = {name: row.value for name, row in rows.items() if re.match("[xy] ", name)}
    ends = [f"{n}{kind}" for n in range(len(TEXTS)) for kind in ("", *(f" {one}" for one in KINDS))]
    assert set(places) == {f"{axis} {end}" for axis in "xy" for end in ends}
    assert np.isfinite(list(places.values())).all()
    assert len({*places.values()}) > len(ends)
    assert [row.value for row in rows_of(PLANE, by_letters).values()] == [row.value for row in rows.values()]


def test_real_sentences_have_eight_versions_of_which_the_first_has_a_synonym(data_dir):
    found = read_evaluation(IN_THE_PLANE, data_dir)
    texts, versions = found.pairs.first[::NUM_VERSIONS], found.pairs.second[::NUM_VERSIONS]
    assert (found.name, len(texts), len({*texts})) == (IN_THE_PLANE, 30, 30)
    assert found.pairs.first == [text for text in texts for _ in range(NUM_VERSIONS)]
    assert all(version != text for text, version in zip(texts, versions, strict=True))
