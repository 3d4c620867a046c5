"""Outcomes in a file survive whatever ends the process, and are not mixed with another attack's."""

import pytest

from rse_study.errors import InputError
from rse_study.evaluation.attacks.kept import KeptOutcomes
from rse_study.evaluation.attacks.outcome import Outcome

ASKED = {"recipe": "pwws", "seed": 0, "max_queries": 9}


def outcome(index):
    return Outcome(
        index, ("a b\u2028c",), ("a d\u2028c",), "succeeded", 1, (0.2, 0.8), (0.6, 0.4), 7, 3, (1,)
    )


@pytest.fixture
def path(tmp_path):
    kept = KeptOutcomes(tmp_path / "new" / "mr-pwws.jsonl", ASKED)
    for index in (4, 0, 2):
        kept.add(outcome(index))
    return kept.path


def test_what_was_added_is_there_again(path):
    again = KeptOutcomes(path, ASKED)
    assert again.done == {index: outcome(index) for index in (4, 0, 2)}
    again.add(outcome(1))
    assert sorted(row.index for row in KeptOutcomes(path, ASKED)) == [0, 1, 2, 4]


@pytest.mark.parametrize("num_bytes", [1, 5, 40])
def test_a_line_cut_short_is_attacked_again(path, num_bytes):
    content = path.read_bytes()
    path.write_bytes(content[:-num_bytes])
    kept = KeptOutcomes(path, ASKED)
    assert sorted(kept.done) == [0, 4]
    kept.add(outcome(2))
    assert path.read_bytes() == content


def test_another_attack_is_refused_by_what_differs(path):
    with pytest.raises(InputError, match=r"another attack \(seed differ\)"):
        KeptOutcomes(path, ASKED | {"seed": 1})


@pytest.mark.parametrize("line", ["{", "[1]", '{"index": 1}'])
def test_a_damaged_file_is_refused(path, line):
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError, match=r"damaged|holds no outcomes"):
        KeptOutcomes(path, ASKED)
    path.write_text("[1]\n")
    with pytest.raises(InputError, match="holds no outcomes"):
        KeptOutcomes(path, ASKED)


@pytest.mark.parametrize("content", ["", '{"recipe": "pw'])
def test_a_file_that_never_began_begins_anew(path, content):
    path.write_text(content)
    KeptOutcomes(path, ASKED).add(outcome(5))
    assert list(KeptOutcomes(path, ASKED).done) == [5]
