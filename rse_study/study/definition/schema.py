"""JSON schema of a study file for editors, described by the classes' docstrings."""

import inspect
import json
from typing import Any

from rse_study.downstream import all_evaluations
from rse_study.methods import METHODS
from rse_study.methods.presets import PRESETS
from rse_study.study.definition.config import FORMER_KEYS, Study
from rse_study.study.definition.domains import KINDS
from rse_study.study.definition.parts import METRICS

FRACTION = {"type": "string", "pattern": r"^[-+.0-9eE]+/[-+.0-9eE]+$"}
PATTERN = {"type": "string", "pattern": r"[*?\[]", "description": "all evaluations that match: attack-mr/*"}
OF_MTEB = {"type": "string", "pattern": r"^mteb/[^/]+(/eng)?$", "description": "a task of MTEB by its name"}
OWN = {
    "type": "string",
    "pattern": r"^[^/:]+:[^/:]+/[^/]+$",
    "description": "one by class: module:Class/preset",
}
NULL = {"type": "null"}  # removes a setting of the extended file
DATA = ("default", "enum", "const")  # values, not schemas
WORDS = ("description", "default")  # stay beside `anyOf`, where editors look for them


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 7) of a study file."""
    schema = Study.model_json_schema()
    definitions = {name: _adapted(below, name) for name, below in schema.pop("$defs").items()}
    # A corpus' source may be `builtin`, a path or a list of paths.
    definitions["Corpus"]["properties"]["source"]["anyOf"][:0] = [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
    ]
    for name in PRESETS:
        method = definitions[METHODS[PRESETS.get(name).method].__name__]["properties"]
        preset = method.setdefault("preset", {"description": "settings of the method, by name", "enum": []})
        preset["enum"].append(name)
    definitions["Objective"]["properties"]["metric"]["anyOf"][0]["enum"] = list(METRICS)
    whole = _adapted(schema, "Study")
    names, *files = whole["properties"]["evaluations"]["anyOf"][0]["items"]["anyOf"]
    whole["properties"]["evaluations"]["anyOf"][0]["items"] = {
        "anyOf": [names | {"enum": list(all_evaluations())}, PATTERN, OWN, OF_MTEB, *files]
    }
    former = {
        old: {**whole["properties"][new], "description": f"the former name of {new}"}
        for old, new in FORMER_KEYS.items()
    }
    one = {"type": "string", "description": "a study file this one lies over; relative to it"}
    extends = {"anyOf": [one, {"type": "array", "items": one}], "description": "one, or several in order"}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **whole,
        "properties": {"extends": extends, **whole["properties"], **former},
        "if": {"not": {"required": ["extends"]}},
        "then": {"required": schema["required"]},
        "$defs": definitions,
    }


def _adapted(node: Any, owner: str = "") -> Any:
    """Adapt pydantic's schema of the class `owner`: fractions, null, and the keys of draft 7."""
    if not isinstance(node, dict):
        return [_adapted(part) for part in node] if isinstance(node, list) else node
    kept = {key: value for key, value in node.items() if key not in ("title", "discriminator", "properties")}
    found = {key: value if key in DATA else _adapted(value) for key, value in kept.items()}
    if "description" in found:
        found["description"] = inspect.cleandoc(found["description"])
    if "properties" in node:
        found["properties"] = {name: _nullable(_adapted(below)) for name, below in node["properties"].items()}
    if isinstance(found.get("additionalProperties"), dict):
        found["additionalProperties"] = _nullable(found["additionalProperties"])
    if owner.lower() not in KINDS:  # an axis is replaced as a whole, so its required keys stay required
        found.pop("required", None)
    if "prefixItems" in found:
        found["items"] = found.pop("prefixItems")[0]
    if "oneOf" in found:
        found["anyOf"] = found.pop("oneOf")
    return _either(found, FRACTION) if found.get("type") == "number" else found


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return schema if NULL in schema.get("anyOf", ()) else _either(schema, NULL)


def _either(schema: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    words = {key: schema[key] for key in WORDS if key in schema}
    rest = {key: value for key, value in schema.items() if key not in WORDS}
    options = rest["anyOf"] if set(rest) == {"anyOf"} else [rest]
    return {**words, "anyOf": [*options, other]}


if __name__ == "__main__":
    print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
