"""The schema of what `--json` prints, which every test that asks for JSON holds."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "output.schema.json").read_text(encoding="utf-8"))


def require_schema(arguments, content):
    """Fail where the output of a command is not what the schema says of it."""
    verb = " ".join(arguments[: 2 if arguments[0] in ("data", "cluster") else 1])
    wanted = {"$ref": f"#/$defs/{verb}", "$defs": SCHEMA["$defs"]}
    problems = [
        f"{one.json_path}: {one.message}" for one in Draft202012Validator(wanted).iter_errors(content)
    ]
    assert not problems, problems
