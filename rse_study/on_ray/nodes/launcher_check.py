"""A launcher's file, read by Ray's own schema and code: each catches other faults."""

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import ray

from rse_study.errors import InputError, first_line
from rse_study.on_ray.nodes.private_ray import check_by_launcher
from rse_study.registry import did_you_mean

SCHEMA = Path(ray.__file__).parent / "autoscaler" / "ray-schema.json"


def check_launcher_file(content: dict[str, Any], *, where: str) -> Iterator[InputError]:
    """Yield what Ray would refuse in a launcher's file; `where` names the spec."""
    problems = list(_against_schema(content, where))
    yield from problems
    if problems:
        return
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            check_by_launcher(content)
    except (Exception, SystemExit) as error:  # Ray's own checks may even abort the process
        lines = [line for line in said.getvalue().splitlines() if line.strip()]
        reason = lines[-1].strip() if isinstance(error, SystemExit) and lines else first_line(error)
        yield InputError(reason, where=where, rule="Ray's launcher refuses the file")


def _against_schema(content: dict[str, Any], where: str) -> Iterator[InputError]:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    if content.get("provider", {}).get("type") == "local":
        # Ray moves it elsewhere before it reads its own schema.
        content = {key: value for key, value in content.items() if key != "min_workers"}
    for error in jsonschema.Draft7Validator(schema).iter_errors(content):
        path = ".".join(str(part) for part in error.absolute_path)
        if error.validator == "additionalProperties":
            options = error.schema.get("properties", {})
            for name in set(error.instance) - set(options):
                at = f"{path}.{name}" if path else name
                remedy = did_you_mean(name, options)
                yield InputError(at, where=where, rule="no such field of Ray's launcher", remedy=remedy)
            continue
        yield InputError(path or "the file", where=where, rule=first_line(Exception(error.message)))
