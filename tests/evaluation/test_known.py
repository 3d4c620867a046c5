import pytest

from rse_study.data.builtin import graded_pairs
from rse_study.data.evaluations import known_evaluations, read_pairs
from rse_study.errors import InputError, MissingFile


def test_generated_test_pairs_need_no_file(tmp_path):
    pairs = read_pairs("builtin/test", tmp_path)
    assert pairs.fingerprint == graded_pairs("test").fingerprint
    assert pairs.split == "test"


@pytest.mark.parametrize("name", [name for name in known_evaluations() if name != "builtin/test"])
def test_what_is_known_and_not_here_is_a_missing_file(tmp_path, name):
    with pytest.raises(MissingFile):
        read_pairs(name, tmp_path)


def test_an_evaluation_is_a_test_split():
    assert len(known_evaluations()) == 8
    assert all(name.endswith("/test") for name in known_evaluations())


def test_what_is_not_known_is_refused_with_a_near_name(tmp_path):
    with pytest.raises(InputError, match=r"no such evaluation 'STSB/test'.*Did you mean 'STS-B/test'\?"):
        read_pairs("STSB/test", tmp_path)
