"""The rendered RayJob is known to KubeRay: its schema, read strictly, for Kubernetes drops unknown fields silently.

Rules outside the schema (in CEL, or an operator's webhooks) are not checked.
"""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from rse_study.yaml12 import parse_yaml
from tests import needs
from tests.cluster.golden_files import rendered

SCHEMA = Path(os.environ.get("RSE_STUDY_DATA") or "absent") / "kuberay" / "rayjob-v1-schema.json.gz"
METADATA = ("name", "generateName", "namespace", "labels", "annotations", "finalizers", "ownerReferences")
pytestmark = needs.skip_for("" if SCHEMA.is_file() else needs.reason_without_data(f"kuberay/{SCHEMA.name}"))


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that refuses fields which it does not name, unless it says that it keeps them."""
    changed = dict(schema)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            changed[key] = strict(schema[key])
    if "properties" in schema:
        changed["properties"] = {name: strict(one) for name, one in schema["properties"].items()}
        if not schema.get("additionalProperties") and not schema.get("x-kubernetes-preserve-unknown-fields"):
            changed["additionalProperties"] = False
    return changed


@pytest.fixture(scope="module")
def validator() -> Draft7Validator:
    schema = json.loads(gzip.decompress(SCHEMA.read_bytes()))
    schema["properties"]["metadata"] = {"type": "object", "properties": {name: {} for name in METADATA}}
    return Draft7Validator(strict(schema))


@pytest.mark.parametrize("variant", ["kuberay", "kuberay-volume"])
def test_the_rendered_rayjob_is_known_to_kuberay(variant, validator):
    manifest = parse_yaml(rendered(variant)[1].text, where="")
    assert [error.message for error in validator.iter_errors(manifest)] == []
