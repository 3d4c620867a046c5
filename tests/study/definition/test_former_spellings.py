"""Files keep what they said before a word changed: the same study, the same identities."""

import json

import pytest
from jsonschema import Draft7Validator

from rse_study.errors import InputError
from rse_study.methods import RobustSentEmbed
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.schema import json_schema
from rse_study.training.trial import Trial
from tests.cases import cases

ABSENT, NONE = ({"method": {"token_level": {"presence": word}}} for word in ("absent", "none"))


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def study(tmp_path, extra, overrides=()):
    path = write(
        tmp_path / "a.yaml",
        f"name: a\nquestion: b\nbase: {{}}\nsearch: {{rho: {{float: [0, 1]}}}}\n{extra}\n",
    )
    return read_study(path, overrides).study


def test_a_budget_is_an_allowance_and_both_at_once_are_refused(tmp_path):
    told = study(tmp_path, "budget: {steps_per_cell: 2, price_per_hour: 3}")
    assert told == study(tmp_path, "allowance: {steps_per_cell: 2, price_per_hour: 3}")
    assert told.allowance.price_per_hour == 3
    assert not {"budget", "allowance"} & told.resolved().keys()
    with pytest.raises(
        InputError, match=r"a\.yaml: budget: is the former name of allowance, and both are given"
    ):
        study(tmp_path, "budget: {price_per_hour: 2}\nallowance: {price_per_hour: 3}")
    with pytest.raises(InputError, match="both are given"):
        Study.model_validate({"budget": {}, "allowance": {}})


def test_no_eta_has_the_identity_and_is_stored_as_it_always_was():
    assert Trial.model_validate(ABSENT) == Trial.model_validate(NONE)
    assert Trial.model_validate(ABSENT).identity()["method"]["token_level"]["presence"] == "none"
    assert RobustSentEmbed().identity()["token_level"]["presence"] == "present"
    stored = Trial.model_validate(ABSENT).model_dump(mode="json")
    assert stored["method"]["token_level"]["presence"] == "none"
    assert Trial.model_validate(json.loads(json.dumps(stored))) == Trial.model_validate(ABSENT)


def test_a_pattern_stands_for_the_evaluations_it_matches_and_one_of_none_is_refused(tmp_path):
    expected = ("builtin/test", "SUBJ/fast", "SUBJ/full")
    assert study(tmp_path, "evaluations: [builtin/test, SUBJ/*]").evaluations == expected
    with pytest.raises(
        InputError, match=r"evaluations: 'SUBY/\*' matches no evaluation\. Did you mean 'SUBJ/\*'\?"
    ):
        study(tmp_path, "evaluations: [SUBY/*]")


@cases(
    "content",
    [
        {"budget": {"price_per_hour": 1}},
        {"allowance": {"price_per_hour": 1}},
        {"evaluations": ["attack-mr/*"]},
        {"base": ABSENT},
        {"base": NONE},
    ],
    ids=str,
)
def test_the_schema_knows_every_spelling(content):
    assert Draft7Validator(json_schema()).is_valid({"extends": "x.yaml", **content})
