"""Presets are names for settings: written out they are nothing else."""

import pytest

from rse_study.errors import InputError
from rse_study.methods import METHODS, RobustSentEmbed
from rse_study.methods.presets import PRESETS
from rse_study.study.definition.paths import look_up
from rse_study.training.trial import Trial


def trial(**method):
    return Trial.model_validate({"method": method})


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_is_a_valid_method_and_says_what_it_sets(name):
    preset = PRESETS.get(name)
    made = trial(preset=name).method
    assert type(made) is METHODS[preset.method]
    for path, value in preset.settings.items():
        assert look_up(made, path) == value
    assert made != METHODS[preset.method]()  # a name for the defaults would be one too many


def test_simcse_is_its_settings():
    none = {"pgd": {"num_steps": 0}, "fgsm": {"num_steps": 0}}
    spelt = RobustSentEmbed(blend=none, lambda1=0, lambda2=0)
    assert trial(preset="simcse").method == spelt
    assert not spelt.has_adversary


@pytest.mark.parametrize("name", ["simcse", "robust_embed", "uscal"])
def test_they_are_themselves_over_any_base(name):
    """Masks and eta in z_adv are no part of them, whatever the base has."""
    made = trial(preset=name, masks={"num_layers": 1}).method
    assert (made.masks.phi, made.z_adv_eta) == (0.0, "without")


def test_settings_beside_a_preset_stay_and_an_equal_value_is_no_second_one():
    made = trial(preset="robust_embed", lambda1=0.5, blend={"rho": 0.25}).method
    assert (made.lambda1, made.blend.rho, made.token_level.presence) == (0.5, 0.25, "absent")
    assert trial(preset="rse_released", lambda1="1/128").method == trial(preset="rse_released").method


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ({"preset": "simsce"}, "Did you mean 'simcse'?"),
        ({"preset": "simcse", "name": "dcl"}, "a preset of robust_sent_embed"),
        ({"preset": "simcse", "blend": {"pgd": {"num_steps": 3}}}, "writes it too"),
        ({"preset": "l2p_released", "lambda1": 1}, "lambda1"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(method, words):
    with pytest.raises((InputError, ValueError), match=words.replace("?", r"\?")):
        trial(**method)
