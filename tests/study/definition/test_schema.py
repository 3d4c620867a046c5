import json
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

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
