"""Axes that belong to a choice: what a point holds, and which trial it is."""

import json

import pytest

from rse_study.data.builtin import graded_pairs
from rse_study.study.checking.validation import check_study
from rse_study.study.definition.config import Study
from rse_study.study.record import study_record

SEARCH = {
    "alpha": {"log": [1e-6, 1e-3], "when": {"kind": "paper"}},
    "kind": {
        "variants": {
            "paper": {},
            "small": {"optimizer": {"beta1": 0.8}, "rho": 0.25},
            "l2p": {"method": {"name": "l2p_csr"}},
            "v_adv": {"method": {"name": "v_adv_cse"}},
        }
    },
    "rho": {"float": [0, 1], "when": {"kind": "paper"}},
    "tau_of_two": {"float": [0.03, 0.1], "into": "temperature", "when": {"kind": ["l2p", "v_adv"]}},
    "weight": {"log": [1e-7, 1e-5], "when": {"kind": "v_adv"}},
    "xi": {"log": [1e-4, 1e-2]},
}


@pytest.fixture
def checked_of(content):
    def check(search, **changes):
        study = Study.model_validate({**content, "search": search, **changes})
        return check_study(study, where="x.yaml")

    return check


@pytest.fixture
def space(checked_of):
    return checked_of(SEARCH).space


def test_a_variant_lays_its_settings_over_the_base_and_an_axis_writes_into_them(space):
    small = space.apply({"kind": "small"})
    assert (small.optimizer.beta1, small.method.blend.rho) == (0.8, 0.25)
    # A mapping changes what it names; one that names another method replaces it.
    assert small.optimizer.lr == space.base.optimizer.lr
    assert space.apply({"kind": "l2p"}).method.name == "l2p_csr"
    assert space.apply({"kind": "paper"}) == space.base == space.apply({})
    trial = space.apply({"kind": "v_adv", "tau_of_two": 0.07, "weight": 1e-6, "xi": 1e-3})
    assert (trial.method.name, trial.method.temperature, trial.method.weight) == ("v_adv_cse", 0.07, 1e-6)
    assert trial.optimizer.lr == 1e-3
    everything = dict.fromkeys(("xi", "weight", "tau_of_two", "rho", "alpha"), 0.05)
    assert list(space.active_of({**everything, "kind": "l2p"})) == ["kind", "tau_of_two", "xi"]
    assert list(space.active_of({**everything, "kind": "paper"})) == ["alpha", "kind", "rho", "xi"]
    assert list(space.active_of({**everything, "kind": "small"})) == ["kind", "xi"]


def test_the_base_is_the_variant_that_leaves_it_as_it_is_and_none_may_be(space, checked_of):
    assert list(space.base_point) == ["alpha", "kind", "rho", "xi"]
    assert space.base_point["kind"] == "paper"
    assert space.apply(space.base_point) == space.base
    assert space.missed_by_base() == []
    others = {"variants": {name: SEARCH["kind"]["variants"][name] for name in ("small", "l2p", "v_adv")}}
    search = {name: one for name, one in SEARCH.items() if name not in ("alpha", "rho")} | {"kind": others}
    checked = checked_of(search)
    assert checked.space.base_point is None
    assert checked.space.missed_by_base() == ["kind"]
    assert any("the base lies outside" in text for text in checked.warnings)


def test_every_edge_is_a_trial_of_active_axes_and_coordinates_lead_back_to_the_proposal(space):
    edges = list(space.edges())
    for point in edges:
        space.apply(point)
        assert all(axis.is_active(point) for axis in space.axes if axis.name in point)
    assert {"kind": "v_adv", "weight": 1e-5} in edges
    assert {"kind": "l2p", "tau_of_two": 0.1, "xi": 1e-2} in edges
    for point in (
        {"kind": "v_adv", "tau_of_two": 0.07, "weight": 1e-6, "xi": 1e-3},
        {"kind": "l2p", "tau_of_two": 0.07, "xi": 1e-3},
        {"alpha": 1e-4, "kind": "paper", "rho": 0.3, "xi": 2e-3},
        {"kind": "small", "xi": 2e-3},
    ):
        assert space.coordinates(space.apply(point)) == point
    names = {space.apply(point).method.name for point in space.edges()}
    assert names == {"robust_sent_embed", "l2p_csr", "v_adv_cse"}


def test_a_choice_may_have_axes_of_its_own(checked_of):
    search = {
        "norm": {"choice": ["l1", "l2", "linf"], "into": [f"{p}.ball.norm" for p in ("pgd", "fgsm", "token_level")]},
        "small": {"float": [0.5, 1], "into": ["pgd.ball.radius", "fgsm.ball.radius"], "when": {"norm": "linf"}},
        "large": {"float": [1, 9], "into": ["pgd.ball.radius", "fgsm.ball.radius"], "when": {"norm": ["l1", "l2"]}},
    }  # fmt: skip
    space = checked_of(search).space
    assert space.base_point == {"norm": "linf", "small": 1.0}
    trial = space.apply({"norm": "l2", "large": 4.0})
    assert (trial.method.blend.pgd.ball.norm, trial.method.blend.pgd.ball.radius) == ("l2", 4.0)


def test_a_frozen_study_says_where_its_axes_belong_if_any_has_conditions(checked_of, content):
    record = study_record(checked_of(SEARCH), graded_pairs("dev"))
    axes = {axis.name: axis for axis in type(record).model_validate_json(record.model_dump_json()).axes}
    assert axes["kind"].choices == ("paper", "small", "l2p", "v_adv")
    assert axes["weight"].when == {"kind": ("v_adv",)}
    assert axes["weight"].is_active({"kind": "v_adv"})
    assert not axes["weight"].is_active({"kind": "l2p"})
    assert not axes["xi"].when
    study = Study.model_validate(content)
    record = study_record(check_study(study, where="x.yaml"), graded_pairs("dev"))
    for text in (json.dumps(study.resolved()), record.model_dump_json()):
        assert '"when"' not in text
        assert "variants" not in text
