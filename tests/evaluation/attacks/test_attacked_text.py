"""Cutting texts into words and putting words back."""

from hypothesis import given
from hypothesis import strategies as st

from rse_study.evaluation.attacks import AttackedText, is_one_word
from tests.cases import cases
from tests.evaluation.attacks.pwws_reference import cut

ALPHABET = st.one_of(st.sampled_from(" '-_*@`.,ab\n\té×˗"), st.characters())
TEXTS = st.lists(st.text(ALPHABET, max_size=30), min_size=1, max_size=2).map(tuple)


@given(TEXTS)
def test_a_text_is_what_its_words_and_the_rest_are(text):
    attacked = AttackedText.of(text)
    assert attacked.text == text
    for position, word in enumerate(attacked.words):
        again = attacked.replaced(position, word)
        assert again.text == text
        assert again.changed == ()
        assert word[0] not in "'-_*@"
        assert not any(map(str.isspace, word))


@given(st.text(st.sampled_from(" '-_*@`.,!abcDE9\n"), max_size=40))
def test_words_are_those_of_a_character_by_character_reading(sentence):
    spans = [(span.start, span.end) for span in AttackedText.of((sentence,)).spans]
    assert spans == cut(sentence)


@cases(
    ("sentence", "words"),
    [
        ("A good-natured film... isn't it?", ["A", "good-natured", "film", "isn't", "it"]),
        ("'tis -- the dogs' @home", ["tis", "the", "dogs'", "home"]),
        ("does n't , `` 90210", ["does", "n't", "``", "90210"]),
        ("مرحبا 👍 שלום", ["مرحبا", "שלום"]),
        ("... !", []),
        ("", []),
    ],
)
def test_what_a_word_is(sentence, words):
    assert AttackedText.of((sentence,)).words == words


def test_a_deleted_word_takes_one_space_along():
    attacked = AttackedText.of(("one two, three", "four five"))
    texts = [attacked.replaced(position, "").text for position in range(5)]
    firsts = ["two, three", "one, three", "one two,", *["one two, three"] * 2]
    assert texts == list(zip(firsts, [*["four five"] * 3, " five", "four"], strict=True))
    assert AttackedText.of(("one",)).replaced(0, "").text == ("",)


def test_windows_lie_around_a_word_within_its_side_and_a_language_model_sees_punctuation():
    attacked = AttackedText.of(("a b c d e f g", "h i")).replaced(3, "DD")
    windows = [attacked.window(position, 3) for position in range(9)]
    assert windows == ["a b c", "a b c", "b c DD", "c DD e", "DD e f", "e f g", "e f g", "h i", "h i"]
    assert attacked.window(3, 100) == "a b c DD e f g"
    attacked = AttackedText.of(("skip me", "(well), isn't it?")).replaced(2, "good")
    assert attacked.pieces(3) == (["(", "good", "),", "isn't", "it", "?"], 3)
    assert attacked.pieces(2)[1] == 1


@cases(("text", "is_one"), [("Dr.", True), ("'hood", True), ("24/7", False), ("...", False)])
def test_one_word(text, is_one):
    assert is_one_word(text) == is_one
