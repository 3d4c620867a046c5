"""A manifest is read strictly: what a schema does not know is refused, with its path and a hint."""

import copy
import gzip
import json

import pytest

from rse_study.errors import InputError
from rse_study.yaml12 import parse_yaml
from tests.cases import cases
from tests.cluster.golden_files import rendered
from tests.cluster.renderers.kuberay_schema import SCHEMA, needs_schema
from tests.cluster.renderers.strict_schema import check_manifest, read_schema

SMALL = {
    "type": "object",
    "required": ["kind"],
    "properties": {
        "kind": {"type": "string", "enum": ["RayJob"]},
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer", "minimum": 0},
                "name": {"type": "string", "maxLength": 4},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "items": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"cpu": {"type": "string"}}},
                },
                "amount": {"x-kubernetes-int-or-string": True, "pattern": r"^\d+[MG]i$"},
                "anything": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {},
                },
            },
        },
    },
}


def said_of(spec, schema=SMALL):
    manifest = {"kind": "RayJob", "spec": spec}
    return [str(problem).removeprefix("file: ") for problem in check_manifest(manifest, schema, where="file")]


@cases(
    ("spec", "said"),
    [
        (
            {"replica": 1},
            "spec.replica: no such field: Kubernetes would drop it without a word. Did you mean 'replicas'?",
        ),
        ({"replicas": "1"}, "spec.replicas = '1': must be of type integer"),
        ({"replicas": True}, "spec.replicas = True: must be of type integer"),
        ({"replicas": -1}, "spec.replicas = -1: must be >= 0"),
        ({"name": "longer"}, "spec.name = 'longer': must have at most 4 characters"),
        ({"labels": {"a": 1}}, "spec.labels.a = 1: must be of type string"),
        ({"items": [{"cpu": "1"}, {"cp": "1"}]}, "spec.items.1.cp: no such field"),
        ({"amount": "5Zi"}, "spec.amount = '5Zi': is no quantity"),
        ({"amount": True}, "spec.amount = True: must be a number or a text"),
    ],
)
def test_a_field_that_is_wrong_is_said_with_its_path(spec, said):
    (problem,) = said_of(spec)
    assert problem.startswith(said)


@cases(
    "spec",
    [
        {},
        {"replicas": 2},
        {"labels": {"any": "thing"}},
        {"anything": {"x": 1}},
        {"amount": 5},
        {"amount": "5Gi"},
    ],
)
def test_what_a_schema_allows_is_no_problem(spec):
    assert said_of(spec) == []


def test_what_is_required_and_what_is_an_option_is_said():
    assert [str(problem) for problem in check_manifest({}, SMALL, where="f")] == ["f: kind: is required"]
    (problem,) = check_manifest({"kind": "RayJobs", "metadata": {"name": "a"}}, SMALL, where="f")
    assert str(problem) == "f: kind = 'RayJobs': must be one of RayJob. Did you mean 'RayJob'?"


def test_metadata_is_read_strictly_too():
    (problem,) = check_manifest({"kind": "RayJob", "metadata": {"label": {}}}, SMALL, where="f")
    assert str(problem) == "f: metadata.label: no such field. Did you mean 'labels'?"


@pytest.mark.parametrize("wrap", [False, True])
def test_a_schema_is_read_from_json_and_from_a_whole_definition(tmp_path, wrap):
    content = (
        {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": SMALL}}]}} if wrap else SMALL
    )
    (tmp_path / "schema.json.gz").write_bytes(gzip.compress(json.dumps(content).encode()))
    (tmp_path / "schema.json").write_text(json.dumps(content))
    assert read_schema(tmp_path / "schema.json.gz") == read_schema(tmp_path / "schema.json") == SMALL


def test_a_file_without_a_schema_is_refused(tmp_path):
    (tmp_path / "other.yaml").write_text("kind: Pod\n")
    with pytest.raises(InputError, match=r"no schema of RayJob v1. kubectl get crd"):
        read_schema(tmp_path / "other.yaml")
    with pytest.raises(InputError, match="cannot be read"):
        read_schema(tmp_path / "absent.json")


@needs_schema
@pytest.mark.parametrize("variant", ["kuberay", "kuberay-volume"])
def test_the_rendered_rayjob_is_known_to_kuberay(variant):
    manifest = parse_yaml(rendered(variant)[1].text, where="")
    assert [str(problem) for problem in check_manifest(manifest, read_schema(SCHEMA), where="")] == []


@needs_schema
@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("spec.shutdownAfterJobFinish", True, "Did you mean 'shutdownAfterJobFinishes'?"),
        (
            "spec.rayClusterSpec.headGroupSpec.template.spec.containers.0.resource",
            {},
            "Did you mean 'resources'?",
        ),
        (
            "spec.rayClusterSpec.workerGroupSpecs.0.template.spec.tolerations.0.efect",
            "x",
            "Did you mean 'effect'?",
        ),
        ("spec.rayClusterSpec.workerGroupSpecs.0.maxReplicas", "4", "must be of type integer"),
        ("spec.rayClusterSpec.headGroupSpec.rayStartParams.num-cpus", 0, "must be of type string"),
        ("spec.rayClusterSpec.authOptions.mode", "tokens", "must be one of disabled, token"),
        (
            "spec.rayClusterSpec.headGroupSpec.template.spec.containers.0.resources.limits.memory",
            "8 GB",
            "quantity",
        ),
    ],
)
def test_a_typo_anywhere_in_a_rayjob_is_refused(path, value, said):
    manifest = copy.deepcopy(parse_yaml(rendered("kuberay")[1].text, where=""))
    owner, *keys = manifest, *path.split(".")
    for key in keys[:-1]:
        owner = owner[int(key) if key.isdigit() else key]
    owner[keys[-1]] = value
    (problem,) = check_manifest(manifest, read_schema(SCHEMA), where="rayjob.yaml")
    assert str(problem).startswith(f"rayjob.yaml: {path}")
    assert said in str(problem)
