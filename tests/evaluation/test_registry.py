import pytest

from rse_study.data.builtin import graded_pairs
from rse_study.errors import InputError, MissingFile
from rse_study.evaluation import TRANSFER_PRESETS, known_evaluations, read_evaluation
from rse_study.evaluation.transfer import PRESETS
from tests.cases import cases


@cases("name", [name for name in known_evaluations() if not name.startswith("builtin/")])
def test_what_is_known_and_not_here_is_a_missing_file(tmp_path, name):
    with pytest.raises(MissingFile):
        read_evaluation(name, tmp_path)


def test_similarity_is_asked_of_test_splits_and_transfer_by_preset():
    named = [name.split("/") for name in known_evaluations()]
    assert sum(second == "test" for _, second in named) == 8
    assert sum(second in ("fast", "full") for _, second in named) == 14
    assert tuple(PRESETS) == TRANSFER_PRESETS


def test_what_is_not_known_is_refused_with_a_near_name_and_generated_pairs_need_no_file(tmp_path):
    with pytest.raises(InputError, match=r"no such evaluation 'STSB/test'.*Did you mean 'STS-B/test'\?"):
        read_evaluation("STSB/test", tmp_path)
    found = read_evaluation("builtin/test", tmp_path)
    assert found.fingerprint == graded_pairs("test").fingerprint
    assert (found.name, found.num_sentences) == ("builtin/test", 2 * len(graded_pairs("test")))


@cases("name", ["STS-B/test", "STS12/test", "TREC/fast", "MRPC/full", "STS-B/geometry"])
def test_real_ones_bear_the_name_a_study_calls_them_by(name, data_dir):
    found = read_evaluation(name, data_dir)
    assert found.name == name
    assert all(measure.metric.startswith(f"{name}/") for measure in found.measures)
