import numpy as np

from rse_study.data.attack_sets import read_attack_set
from rse_study.data.labelled import Labelled
from rse_study.data.labelled_sets import read_labelled
from rse_study.data.overlap import num_found, without


def _set(*texts):
    return Labelled("toy", "train", list(texts), np.arange(len(texts)) % 2, ("no", "yes"))


def test_what_is_compared_is_letters_and_digits_and_every_copy_goes():
    training = _set(("It's FINE, no. 3 !",), ("it is fine",), ("its fine no 4",), ("a naïve cliché",))
    kept, num_removed = without(training, [("it 's fine no 3",), ("a na ve clich",)])
    assert num_removed == 2
    assert kept.texts == [("it is fine",), ("its fine no 4",)]
    assert kept.labels.tolist() == [1, 0]
    assert (kept.name, kept.classes) == (training.name, training.classes)
    kept, num_removed = without(_set(("a b",), ("A-B",), ("c",)), [("ab",)])
    assert (kept.texts, num_removed) == ([("c",)], 2)


def test_every_input_attacked_in_mr_is_in_mr(data_dir):
    attacked, whole = read_attack_set("mr", data_dir), read_labelled("MR", "all", data_dir)
    assert num_found(attacked.texts, whole) == 1000
    kept, num_removed = without(whole, attacked.texts)
    assert len(kept) + num_removed == len(whole) == 10662
    assert num_removed == 1000
    assert num_found(attacked.texts, kept) == 0
    assert len(set(attacked.texts) & set(whole.texts)) == 6  # what an exact comparison would find
