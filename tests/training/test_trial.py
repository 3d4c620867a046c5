"""Settings of a trial that do not go together are refused, each with its reason and a remedy."""

from typing import Any, ClassVar, Literal

import pytest
from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.methods.method import ContrastiveMethod
from rse_study.training.session_setup import require_equal_shares
from rse_study.training.trial import Trial
from tests.cases import cases
from tests.training.world import SIMCSE

NEW_MASKS = "passes that share their dropout masks, and a recorded step draws new ones each time"
UNRECORDABLE: dict[str, tuple[dict[str, Any], str]] = {
    "chunks": (
        {"chunk_size": 8},
        "chunk_size computes each chunk twice with one state of dropout. Set chunk_size: 0",
    ),
    "fp16": (
        {"precision": "fp16"},
        "the scaler of fp16 looks at every step's gradients. Set precision: bf16",
    ),
    "fixed": (
        {"method": {"inner_dropout": "fixed"}},
        f"inner_dropout: fixed has {NEW_MASKS}",
    ),
    "shared first": (
        {"method": {"outer_dropout": "shared_first"}},
        f"outer_dropout: shared_first has {NEW_MASKS}",
    ),
    "last": (
        {"method": {"token_level": {"write_back": "last"}}},
        "write_back: last looks for the last occurrence of each token",
    ),
    "mean_padding": (
        {"method": {"rtd": {"reduction": "mean_padding"}}},
        "rtd.reduction: mean_padding lets transformers look for padding",
    ),
    "ratio": (
        {"method": {"name": "v_adv_cse", "ratio_every": 10}},
        "ratio_every measures at some steps only. Set ratio_every: 0",
    ),
    "L2P-CSR": (
        {"method": {"name": "l2p_csr"}},
        "its ascent and its last pass share their dropout masks, and a recorded step draws new ones "
        "each time",
    ),
}


@cases("name", UNRECORDABLE)
def test_what_cannot_be_recorded_is_refused_with_its_reason(name: str) -> None:
    settings, reason = UNRECORDABLE[name]
    assert Trial.model_validate(settings).graphed is False
    with pytest.raises(ValidationError) as refused:
        Trial.model_validate({"graphed": True, **settings})
    (problem,) = refused.value.errors()
    name = settings.get("method", {}).get("name", "robust_sent_embed")
    remedy = ", or graphed: false" if ". Set " in reason else ". Set graphed: false"
    said = f"graphed: a step of {name} cannot be recorded: {reason}{remedy}"
    assert problem["msg"].removeprefix("Value error, ") == said


RECORDABLE: dict[str, dict[str, Any]] = {
    "default": {},
    "fixed, without an inner loop": {"method": {**SIMCSE, "inner_dropout": "fixed"}},
    "shared first, without an adversarial view": {"method": {**SIMCSE, "outer_dropout": "shared_first"}},
    "last, without an inner loop": {"method": {**SIMCSE, "token_level": {"write_back": "last"}}},
    "last, without V": {"method": {"token_level": {"presence": "absent", "write_back": "last"}}},
    "mean_padding, without RTD": {"method": {"lambda2": 0, "rtd": {"reduction": "mean_padding"}}},
    "V-advCSE": {"method": {"name": "v_adv_cse"}},
    "ConSERT": {"method": {"name": "consert"}},
    "DCL": {"method": {"name": "dcl"}},
    "tf32": {"precision": "tf32"},
    "bf16, compiled": {"precision": "bf16", "compiled": True},
    "float64": {"precision": "float64"},
}


@cases("name", RECORDABLE)
def test_a_setting_that_does_not_act_is_not_refused(name: str) -> None:
    assert Trial.model_validate({"graphed": True, **RECORDABLE[name]}).graphed


class Quiet(ContrastiveMethod):
    """A method of one's own that says nothing about recordings."""

    semantics: ClassVar[int] = 1
    name: Literal["quiet"] = "quiet"


def test_a_method_of_ones_own_says_itself_whether_its_step_can_be_recorded() -> None:
    said = "it does not say whether its step is a function of tensors, with draws by Batch.drawn alone"
    assert Quiet().unrecordable == said


def test_graphed_false_changes_no_identity_and_true_does() -> None:
    plain, graphed = Trial().identity(), Trial(graphed=True).identity()
    assert Trial(graphed=False).identity() == plain
    assert "graphed" not in plain
    assert graphed == plain | {"graphed": True}


def test_a_recorded_step_has_one_worker() -> None:
    plain, graphed = Trial(batch_size=8), Trial(batch_size=8, graphed=True)
    require_equal_shares(plain, 2)
    require_equal_shares(graphed, 1)
    with pytest.raises(InputError) as refused:
        require_equal_shares(graphed, 2)
    assert str(refused.value) == (
        "trial: graphed: true with 2 workers: records the steps of one worker. Use one worker, or graphed: false"
    )
