"""How a vocabulary marks words."""

from rse_study.data.tokenised import marks_beginnings
from tests.cases import cases


@cases(
    ("tokens", "is_marked"),
    [
        (["[PAD]", "the", "##re", "##s", "\u2581"], False),  # WordPiece has what others mark words by
        (["<s>", "\u0120the", "\u0120a", "re", "##"], True),
        (["<s>", "\u2581the", "\u2581a", "re"], True),
        (["[PAD]", "the", "a"], False),  # whole words
    ],
)
def test_a_vocabulary_shows_how_it_marks_words(tokens, is_marked):
    assert marks_beginnings(tokens) == is_marked
