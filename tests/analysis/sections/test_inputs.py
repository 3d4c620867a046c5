from hypothesis import given
from hypothesis import strategies as st

from analysis.sections.inputs import marked
from rse_study.evaluation.attacks import AttackedText

# Word characters, what may stand inside a word and not before it, blanks, punctuation, other scripts, markup.
LETTERS = st.text("ab '-_*@`.,<&\"\n\u00e9\u05d0\u05d1\u0627\u4e2d\U0001f600\U0001d495", max_size=24)
NEW = st.sampled_from(["x", "x y", "ca t", "<b>", "\U0001f600", "\u05d0"])


@st.composite
def changes(draw):
    """A text as attacks see it, one part or two, and the same with other words at some places."""
    attacked = AttackedText.of(tuple(draw(st.lists(LETTERS, min_size=1, max_size=2))))
    for position in range(len(attacked)):
        if draw(st.booleans()):
            attacked = attacked.replaced(position, draw(NEW))
    return attacked


@given(changes())
def test_the_pieces_are_the_text_and_the_marked_ones_are_the_words_that_attacks_count(attacked):
    before, after = marked(attacked.original, attacked.text, attacked.changed)
    assert ["".join(pieces) for pieces in before] == list(attacked.original)
    assert ["".join(pieces) for pieces in after] == list(attacked.text)
    assert [len(pieces) for pieces in after] == [len(pieces) for pieces in before]
    own = [attacked.original[side][start:end] for side, start, end in attacked.spans]
    assert [word for pieces in before for word in pieces[1::2]] == [own[place] for place in attacked.changed]


WORDS = st.sampled_from(["good", "film", "n't", "\u05d8\u05d5\u05d1", "\U0001d495op"])


@given(st.lists(WORDS, min_size=1, max_size=9), st.data())
def test_new_words_are_marked_where_they_stand(words, draws):
    text = " , ".join(words)
    attacked = AttackedText.of((text, "the, same"))
    for position in draws.draw(st.sets(st.integers(0, len(attacked) - 1))):
        attacked = attacked.replaced(position, f"new{position} x")
    _, after = marked(attacked.original, attacked.text, attacked.changed)
    expected = [f"new{place} x" for place in attacked.changed]
    assert [word for pieces in after for word in pieces[1::2]] == expected


def test_texts_that_are_no_change_of_each_other_are_not_marked():
    expected = ([["a ", "good", " film"]], [["another text"]])
    assert marked(("a good film",), ("another text",), (1,)) == expected
    assert marked(("a good film",), ("a good film",), ()) == ([["a good film"]], [["a good film"]])
    assert marked(("a good film",), ("a good film!",), ()) == ([["a good film"]], [["a good film!"]])
    assert marked(("a good film",), ("a bad film",), (7,)) == ([["a good film"]], [["a bad film"]])
