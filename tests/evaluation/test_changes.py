"""Changes of texts: all that they may do, and nothing else."""

import json
from pathlib import Path

import numpy as np
import pytest

from rse_study.data.lexicons import KEYBOARD, LOOKALIKES, synonyms_of
from rse_study.evaluation.changes import (
    CHANGES,
    ChangeResources,
    contract,
    delete,
    expand,
    homoglyph,
    in_case_of,
    in_words,
    keyboard,
    punctuation,
    repeat,
    swap,
    synonym,
)
from tests.cases import cases

NOTHING = ChangeResources(Path())  # of changes that read no table
LETTERS = ("typo_swap", "typo_delete", "typo_insert", "typo_repeat", "keyboard", "homoglyph")
DRAWN = (*LETTERS, "synonyms")
HARD = {
    "empty": "",
    "blank": " \t ",
    "one_letter": "a",
    "one_word": "wonderful",
    "emoji": "👩‍👩‍👧 🙂🙂 🏳️‍🌈",
    "marks": "?!...",
    "no_letters": "¼ ²",
    "digits": "3.14 2026",
    "arabic": "هذا فيلم رائع جدا؟",
    "hebrew": "זה סרט נהדר.",
    "chinese": "这部电影很好。",
    "accents": "Ça n’était pas très beau, élève ?",
    "tokenised": "it 's good , i do n't ca n't .",
    "capitals": "I CAN'T BELIEVE IT IS NOT BUTTER!",
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Small tables in the layout of the data; no WordNet."""
    folder = tmp_path_factory.mktemp("tables")
    made = {KEYBOARD: {"a": ["q", "s"], "o": ["9", "p"]}, LOOKALIKES: {"a": ["а"], "O": ["О"]}}
    for below, table in made.items():
        (folder / below).parent.mkdir(parents=True)
        (folder / below).write_text(json.dumps(table))
    return ChangeResources(folder)


def draws(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def outcomes(edit, word, resources, num=200) -> set[str]:
    return {edit(word, draws(seed), resources) for seed in range(num)}


def test_letter_edits_do_all_they_may_and_nothing_else(tables):
    assert outcomes(swap, "abc", tables) == {"bac", "acb"}
    assert outcomes(swap, "aab", tables) == {"aba"}  # equal letters change nothing
    assert outcomes(swap, "a'b", tables) == {"a'b"}
    assert outcomes(delete, "abc", tables) == {"bc", "ac", "ab"}
    assert outcomes(delete, "a", tables) == {"a"}
    assert outcomes(repeat, "abc", tables) == {"aabc", "abbc", "abcc"}
    assert outcomes(keyboard, "Oxo", tables) == {"9xo", "Pxo", "Ox9", "Oxp"}
    assert outcomes(keyboard, "xyz", tables) == {"xyz"}
    assert outcomes(homoglyph, "aOx", tables) == {"аOx", "aОx"}


def test_a_share_of_words_is_edited_and_what_is_between_stays():
    def mark(word, generator, resources):
        return word if word == "no" else f"<{word}>"

    text = " ".join(["yes"] * 30 + ["no"] * 10)
    for share, expected in ((0.01, 1), (0.1, 4), (0.5, 20), (1.0, 30)):
        new = in_words(mark)(text, draws(), ChangeResources(Path(), share))
        assert new.count("<") == expected
        assert new.replace("<", "").replace(">", "") == text
    one = in_words(mark)("no, no!  Yes-no (don't) 3rd", draws(), ChangeResources(Path(), 1.0))
    assert one == "no, no!  <Yes>-no (<don't>) 3<rd>"
    chosen = {in_words(mark)("a b c", draws(seed), NOTHING) for seed in range(50)}
    assert chosen == {"<a> b c", "a <b> c", "a b <c>"}


@cases(
    ("short", "long"),
    [
        ("I'm here and don't care", "I am here and do not care"),
        ("She'll say they've gone", "She will say they have gone"),
        ("It isn't, you're right", "It is not, you are right"),
        ("I CAN'T SAY WHO'S THERE", "I CANNOT SAY WHO IS THERE"),
        ("We won't shan't mustn't", "We will not shall not must not"),
        ("Don't! Won't?", "Do not! Will not?"),
    ],
)
def test_contractions_both_ways(short, long):
    assert expand(short, draws(), NOTHING) == long
    assert contract(long, draws(), NOTHING) == short


@cases(
    ("text", "expected"),
    [
        ("i do n't know , it 's late , you ca n't", "i do not know , it is late , you cannot"),
        ("I don’t, he’s in", "I do not, he is in"),
        ("it's been long and he's got it", "it's been long and he's got it"),  # has
        ("it's been, it's not", "it's been, it is not"),
        ("doeſn't, ıt's", "doeſn't, ıt's"),  # no letters of English
        ("John's cat, he'd, its, shed, wonton, this's", "John's cat, he'd, its, shed, wonton, this's"),
    ],
)
def test_expanding(text, expected):
    assert expand(text, draws(), NOTHING) == expected


@cases(
    ("text", "expected"),
    [
        ("Yes, he is. I know what it is", "Yes, he is. I know what it is"),  # ends a clause
        ("he is in, this is, can not, CANNOT", "he's in, this is, can't, CAN'T"),
        ("it is not so, I am not, they have not", "it isn't so, I'm not, they haven't"),
        ("nothing, knotted, is nothing", "nothing, knotted, is nothing"),
        ("ıt ıs not, do not ſhe is in", "ıt ıs not, don't ſhe is in"),  # no letters of English
    ],
)
def test_contracting(text, expected):
    assert contract(text, draws(), NOTHING) == expected


@cases(
    ("text", "expected"),
    [
        *(("good", "good."), ("good.", "good"), ("good ?! ", "good"), ("good . . .", "good")),
        *(("good, ", "good,."), ("جيد؟", "جيد"), ("好。", "好"), ("🙂", "🙂.")),
        *((same, same) for same in ("...", "", " \n")),
    ],
)
def test_final_punctuation(text, expected):
    assert punctuation(text, draws(), NOTHING) == expected


def test_case_follows_the_word_replaced():
    small, first, whole = "two words", "Two words", "TWO WORDS"
    found = [in_case_of(old, small) for old in ("old", "Old", "OLD", "A", "oLD", "")]
    assert found == [small, first, whole, first, small, small]


def test_synonyms_of_content_words_only(data_dir):
    resources = ChangeResources(data_dir)
    assert {"auto", "automobile"} <= outcomes(synonym, "car", resources) <= set(synonyms_of("car", data_dir))
    assert {"Auto", "Automobile"} <= outcomes(synonym, "Car", resources)
    assert outcomes(synonym, "In", resources) == {"In"}  # no indium
    assert outcomes(synonym, "zxqy", resources) == {"zxqy"}


@cases("text", HARD.values(), ids=HARD)
@cases("name", list(CHANGES))
def test_hard_texts_survive_every_change(name, text, data_dir):
    resources = ChangeResources(data_dir, share=0.5)
    new = CHANGES.get(name)(text, draws(), resources)
    assert new == CHANGES.get(name)(text, draws(), resources)
    new.encode("utf-8")
    assert bool(new.strip()) == bool(text.strip())
    if name in DRAWN and not any(c.isalpha() for c in text):
        assert new == text


def test_every_change_has_a_text_it_changes(data_dir):
    text = "I don't think he is in a wonderful film"
    for name in CHANGES:
        assert CHANGES.get(name)(text, draws(), ChangeResources(data_dir)) != text, name
