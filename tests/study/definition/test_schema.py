import json
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from rse_study.errors import InputError
from rse_study.methods import RobustSentEmbed
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.fields import page
from rse_study.study.definition.parts import Resources
from rse_study.study.definition.paths import overlay
from rse_study.study.definition.schema import json_schema
from rse_study.training.trial import Trial
from rse_study.yaml12 import read_yaml
from tests.cases import cases

SHIPPED = Path(str(files("search_spaces")))
SCHEMA = SHIPPED / "study.schema.json"


@pytest.fixture(scope="module")
def validator():
    content = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft7Validator.check_schema(content)
    return Draft7Validator(content)


def test_the_shipped_schema_is_that_of_the_code():
    shipped = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert shipped == json_schema(), "run `make schema`"


def test_the_page_of_fields_is_made_from_it_and_has_every_field():
    written = (SHIPPED.parent / "docs" / "fields.md").read_text(encoding="utf-8")
    assert written == page(), "run `make methods`"
    fields = [name for part in (Study, Trial, Resources) for name in part.model_fields]
    assert [name for name in fields if f"\n| `{name}` |" not in written] == []


STUDIES = sorted(path for path in SHIPPED.rglob("*.yaml") if path.parent.name not in ("bases", "trials"))


@cases("path", STUDIES, ids=lambda path: path.stem)
def test_shipped_studies_satisfy_it_and_name_it(validator, path):
    assert [error.message for error in validator.iter_errors(read_yaml(path))] == []
    up = "../" * (len(path.relative_to(SHIPPED).parts) - 1)
    named = f"# yaml-language-server: $schema={up}{SCHEMA.name}\n"
    assert path.read_text(encoding="utf-8").startswith(named)


GOOD = [
    {"grid": {"axes": {"beta": [1e-3, "1/100"], "N": {"int": [1, 4], "into": "pgd.num_steps"}}, "rows": {}}},
    {"base": {"method": {"lambda1": "1/128"}, "corpus": {"source": ["a.txt", "b.txt"]}}},
    {"search": {"norm": {"choice": ["l1", "l2"], "into": ["pgd.ball.norm"]}}},
    {"confirm": {"seeds": [1, 2], "resources": {"workers": 2}}, "early_stopping": {"first": 10}},
    {"extends": "bases/rse_paper.yaml"},
    {"extends": ["paper/rse_table6.yaml", "bases/rse_mini.yaml"]},
    {"grid": {"rows": {"a": {}}, "baseline": "a"}, "paper": {"table": "rse-table6", "scale": "mini"}},
]


@cases("content", GOOD, ids=str)
def test_what_a_study_may_say(validator, content):
    whole = {"name": "a", "question": "b", "base": {}}
    assert [error.message for error in validator.iter_errors(overlay(whole, content))] == []


def test_a_file_that_extends_leaves_out_and_takes_away(validator):
    assert validator.is_valid({"extends": "joint.yaml", "search": None, "base": {"budget": {"amount": 3}}})
    assert validator.is_valid(
        {"extends": "x.yaml", "search": {"rho": None}, "grid": {"axes": {"rho": None}, "rows": {"a": None}}}
    )
    assert validator.is_valid({"extends": ["joint.yaml", "bases/rse_mini.yaml"], "name": "a"})
    assert not validator.is_valid({"base": {}})


BAD = [
    ({"serch": {}}, []),
    ({"base": {"metod": {}}}, ["base"]),
    ({"base": {"method": {"blend": {"rho": 1.5}}}}, ["base", "method", "blend", "rho"]),
    ({"base": {"batch_size": "many"}}, ["base", "batch_size"]),
    ({"search": {"rho": {"float": [0, 1], "log": [1, 2]}}}, ["search"]),
    ({"search": {"rho": [0, 1]}}, ["search"]),
    ({"grid": {"axes": {"rho": {"log": [1, 2]}}}}, ["grid"]),
    ({"evaluations": ["STS-B/dev"]}, ["evaluations"]),
    ({"evaluations": [{"pairs": "a.csv", "columns": ["a", "b"]}]}, ["evaluations"]),
    ({"objective": {"metric": "test"}}, ["objective", "metric"]),
    ({"seeds": [-1]}, ["seeds"]),
    ({"sampler": {"name": "tpee"}}, ["sampler", "name"]),
    ({"resources": {"gpus": True}}, ["resources", "gpus"]),
    ({"extends": ["x.yaml", 3]}, ["extends"]),
    ({"paper": {"scale": "small"}}, ["paper", "scale"]),
    ({"grid": {"baseline": ["a"]}}, ["grid", "baseline"]),
]


@cases(("content", "at"), BAD, ids=[str(content) for content, _ in BAD])
def test_what_a_study_may_not_say_is_marked_where_it_stands(validator, content, at):
    found = list(validator.iter_errors({"extends": "x.yaml", **content}))
    assert len(found) == 1
    deepest = found[0]
    while deepest.context:
        deepest = max(deepest.context, key=lambda error: len(error.absolute_path))
    assert list(deepest.absolute_path)[: len(at)] == at


# Files keep what they said before a word changed: the same study, the same identities.


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
        {
            "evaluations": [
                {"pairs": "a.csv", "columns": ["a", "b", "gold"]},
                {"labelled": "b.tsv", "name": "c"},
            ]
        },
        {"base": ABSENT},
        {"base": NONE},
    ],
    ids=str,
)
def test_the_schema_knows_every_spelling(content):
    assert Draft7Validator(json_schema()).is_valid({"extends": "x.yaml", **content})
