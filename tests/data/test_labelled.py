import numpy as np
import pytest

from rse_study.data.labelled import Labelled


def _pairs() -> Labelled:
    return Labelled("toy", "test", [("a", "b"), ("c", ""), ("a", "b")], np.array([0, 1, 1]), ("no", "yes"))


def test_the_fingerprint_knows_text_label_and_class() -> None:
    whole = _pairs()
    assert whole.fingerprint == _pairs().fingerprint
    others = [
        Labelled("toy", "test", [("a", "b"), ("c", "d"), ("a", "b")], whole.labels, whole.classes),
        Labelled("toy", "test", whole.texts, np.array([0, 1, 0]), whole.classes),
        Labelled("toy", "test", whole.texts, whole.labels, ("yes", "no")),
        Labelled("toy", "dev", whole.texts, whole.labels, whole.classes),
    ]
    assert len({one.fingerprint for one in [whole, *others]}) == 5


def test_taking_keeps_texts_and_labels_together_and_singles_and_pairs_do_not_mix() -> None:
    taken = _pairs().take(np.array([2, 1]))
    assert taken.texts == [("a", "b"), ("c", "")]
    assert taken.labels.tolist() == [1, 1]
    with pytest.raises(AssertionError):
        Labelled("toy", "test", [("a",), ("b", "c")], np.array([0, 1]), ("no", "yes"))
