"""Strict validation of a manifest by the schema of its kind.

Kubernetes silently drops unknown fields. Here they are refused, with their path and a suggestion. Rules outside the
schema (in CEL, or an operator's webhooks) are not checked.
"""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.registry import did_you_mean
from rse_study.yaml12 import parse_yaml

Schema = dict[str, Any]
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
METADATA = ("name", "generateName", "namespace", "labels", "annotations", "finalizers", "ownerReferences")


def read_schema(path: Path) -> Schema:
    """Read a schema, or a CustomResourceDefinition, from JSON or YAML, plain or gzip."""
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = content.decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", where=str(path), remedy="Check the path") from None
    read = json.loads(text) if text.lstrip().startswith("{") else parse_yaml(text, where=str(path))
    versions = read.get("spec", {}).get("versions", ()) if "properties" not in read else ()
    schemas = [version["schema"]["openAPIV3Schema"] for version in versions if version.get("name") == "v1"]
    schema = next(iter(schemas), read)
    if "properties" not in schema:
        remedy = "kubectl get crd rayjobs.ray.io -o json > FILE"
        raise InputError("no schema of RayJob v1", where=str(path), remedy=remedy)
    return schema


def check_manifest(manifest: Any, schema: Schema, *, where: str) -> Iterator[InputError]:
    """Yield everything in a manifest that its schema (openAPIV3Schema) does not allow."""
    for path, rule, remedy in _problems(manifest, schema, ""):
        yield InputError(path or "the manifest", where=where, rule=rule, remedy=remedy)
    for key in manifest.get("metadata", {}):
        if key not in METADATA:
            remedy = did_you_mean(key, METADATA)
            yield InputError(f"metadata.{key}", where=where, rule="no such field", remedy=remedy)


Finding = tuple[str, str, str]


def _problems(value: Any, schema: Schema, path: str) -> Iterator[Finding]:
    if schema.get("x-kubernetes-int-or-string"):
        if isinstance(value, bool) or not isinstance(value, int | str):
            yield f"{path} = {value!r}", "must be a number or a text", ""
        elif isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{path} = {value!r}", "is no quantity", "For example: 500m, 2, 8Gi"
        return
    kind = schema.get("type")
    if kind in TYPES and not _is(value, kind):
        yield f"{path} = {value!r}", f"must be of type {kind}", ""
        return
    if isinstance(value, dict):
        yield from _in_object(value, schema, path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _problems(item, schema.get("items", {}), f"{path}.{index}")
    else:
        yield from _in_scalar(value, schema, path)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool) and kind != "boolean":
        return False
    return isinstance(value, TYPES[kind])


def _in_object(value: dict[str, Any], schema: Schema, path: str) -> Iterator[Finding]:
    properties = schema.get("properties")
    others = schema.get("additionalProperties")
    for name in schema.get("required", ()):
        if name not in value:
            yield _at(path, name), "is required", ""
    for name, item in value.items():
        if properties is not None and name in properties:
            yield from _problems(item, properties[name], _at(path, name))
        elif isinstance(others, dict):
            yield from _problems(item, others, _at(path, name))
        elif properties is not None and not others and not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield (
                _at(path, name),
                "no such field: Kubernetes would drop it without a word",
                did_you_mean(name, properties),
            )


def _in_scalar(value: Any, schema: Schema, path: str) -> Iterator[Finding]:
    options = schema.get("enum")
    if options is not None and value not in options:
        yield (
            f"{path} = {value!r}",
            f"must be one of {', '.join(map(str, options))}",
            did_you_mean(str(value), options),
        )
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{path} = {value!r}", f"must be >= {schema['minimum']}", ""
    if "maximum" in schema and value > schema["maximum"]:
        yield f"{path} = {value!r}", f"must be <= {schema['maximum']}", ""
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        yield f"{path} = {value!r}", f"must match {schema['pattern']}", ""
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        yield f"{path} = {value!r}", f"must have at most {schema['maxLength']} characters", ""


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
