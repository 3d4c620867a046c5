"""Generate docs/fields.md from the schema of a study's file (`make methods`)."""

import json
from collections.abc import Iterator
from math import inf
from typing import Any

from rse_study.methods import METHODS
from rse_study.perturbations import PERTURBATIONS
from rse_study.study.definition.schema import FRACTION, PATTERN, json_schema

ELSEWHERE = {PERTURBATIONS.get(name).__name__ for name in PERTURBATIONS}
ELSEWHERE |= {METHODS[name].__name__ for name in METHODS} | {"Ball", "Blend", "ReplacedTokenDetection"}
"""in methods.md"""
BOUNDS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
HEAD = """# Fields of a study

Every field that a study's file may have, with its default (made from the schema by `make methods`). A trial's fields
stand below `base`, and axes and rows name them by their path, `optimizer.lr`, or by any end of it that is unique. Those
of `base.method` are in [methods](methods.md). `null` removes what an extended file set. Search this page, or let your
editor complete them: `search_spaces/study.schema.json`."""
TABLE = "| field | values and default | meaning |\n|---|---|---|\n"


def page() -> str:
    """Return the whole page, the study first, and then its parts as they come."""
    schema = json_schema()
    parts, names = [HEAD], ["Study"]
    for name in names:
        part = schema if name == "Study" else schema["$defs"][name]
        rows = "\n".join(_row(field, one) for field, one in part.get("properties", {}).items())
        title = "The file" if name == "Study" else name
        parts += [f"## {title}", part.get("description", ""), TABLE + rows if rows else ""]
        names += [one for one in dict.fromkeys(_parts_of(part)) if one not in names]  # extends the loop
    return "\n\n".join(filter(None, parts)) + "\n"


def _parts_of(node: Any) -> Iterator[str]:
    """Yield the classes that a schema names, but those of other pages."""
    for key, below in node.items() if isinstance(node, dict) else enumerate(node):
        if key == "$ref" and (name := below.rpartition("/")[2]) not in ELSEWHERE:
            yield name
        elif isinstance(below, dict | list) and key not in ("default", "enum"):
            yield from _parts_of(below)


def _row(field: str, schema: dict[str, Any]) -> str:
    default, values = schema.get("default"), _values(schema)
    if default not in (None, "", {}, []) and not isinstance(default, dict):
        values = f"{values}; `{_plain(default)}`"
    meaning = " ".join(schema.get("description", "").split())
    return f"| `{field}` | {values} | {meaning} |"


def _values(schema: dict[str, Any]) -> str:
    """Return what a field may hold, in words; "" for null, and for a number's text."""
    if "anyOf" in schema:
        return ", ".join(dict.fromkeys(filter(None, map(_values, schema["anyOf"]))))
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return "[see there](methods.md)" if name in ELSEWHERE else f"[{name}](#{name.lower()})"
    kind = schema.get("type", "")
    if "const" in schema or "enum" in schema:
        found = schema.get("enum", [schema.get("const")])
        return ", ".join(f"`{_plain(one)}`" for one in found) if len(found) <= 12 else "names in the schema"
    if kind in ("null", "") or schema in (FRACTION, PATTERN):
        return ""
    if kind == "array":
        return f"list of {_values(schema.get('items', {})) or 'values'}"
    bounds = " ".join(
        f"{sign} {schema[key]:g}" for key, sign in BOUNDS.items() if abs(schema.get(key, inf)) < 1e15
    )
    return f"{ {'string': 'text', 'object': 'mapping'}.get(kind, kind) } {bounds}".strip()


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


if __name__ == "__main__":
    print(page(), end="")
