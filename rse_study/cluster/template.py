"""Variables of templates: files of Slurm, KubeRay, Ray's launcher or bash."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rse_study.cluster.job import Job
from rse_study.cluster.spec import ClusterSpec
from rse_study.errors import InputError, InputErrors
from rse_study.registry import did_you_mean

VARIABLE = re.compile(r"@\{([^{}\n]*)\}")
UNSAFE = re.compile(r"""['"\\$`]""")
RULE = "a template takes no quotes, $, \\ or control characters"


def read_template(spec: ClusterSpec) -> str:
    """Return the text of a cluster's template."""
    try:
        return Path(spec.template).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError("template cannot be read", where=spec.template, rule=str(error)) from None


def filled_template(spec: ClusterSpec, job: Job) -> str:
    """Return the template with its variables filled in; InputErrors for unknown ones."""
    text, values = read_template(spec), values_of(spec, job)
    problems = []
    for match in VARIABLE.finditer(text):
        if match[1] not in values:
            where = f"{spec.template}:{text.count(chr(10), 0, match.start()) + 1}"
            rule, remedy = "the spec and the job have no such value", did_you_mean(match[1], values)
            problems.append(InputError(match[0], where=where, rule=rule, remedy=remedy))
    if problems:
        raise InputErrors(problems)
    return VARIABLE.sub(lambda match: values[match[1]], text)


def values_of(spec: ClusterSpec, job: Job) -> dict[str, str]:
    """Return the variables by name.

    Raises InputErrors for values that could end a quoted word of a shell or of YAML.
    """
    limits, groups = spec.limits, spec.workers
    plain = {
        "id": job.submission_id,
        "study": job.study,
        "wheel": job.wheel.name,
        "limits.minutes": max(1, round(limits.hours * 60)),
        "limits.seconds": round(limits.hours * 3600),
        "limits.idle_seconds": round(limits.idle_minutes * 60),
        "max_nodes": sum(group.max_nodes for group in groups.values()),
        **dict(_flat("", spec.model_dump(exclude={"template", "shared"}))),
    }
    texts = {name: _text(value) for name, value in plain.items()}
    problems = [
        InputError(f"{name} = {value!r}", where=spec.name, rule=RULE, remedy="Write it without them")
        for name, value in texts.items()
        if UNSAFE.search(value) or not value.isprintable()
    ]
    if problems:
        raise InputErrors(problems)
    labels = {f"workers.{name}.labels_json": json.dumps(group.labels) for name, group in groups.items()}
    return texts | labels | {"options": shlex.join(job.options), "nodes": node_types(spec)}


def _flat(at: str, content: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the values of a spec by their paths."""
    for key, value in content.items():
        if key == "labels":
            yield f"{at}{key}", ",".join(f"{name}={label}" for name, label in value.items())
        elif isinstance(value, Mapping):
            yield from _flat(f"{at}{key}.", dict(value))
        else:
            yield f"{at}{key}", value
        if key == "memory_gib":
            yield f"{at}memory_mib", round(value * 1024)


def node_types(spec: ClusterSpec) -> str:
    """Return the nodes that may join as JSON; neither Ray nor a queue announces them."""
    nodes = [
        {
            "name": name,
            "resources": {"CPU": group.cpus, **({"GPU": group.gpus} if group.gpus else {})},
            **({"labels": group.labels} if group.labels else {}),
            "max": group.max_nodes,
        }
        for name, group in spec.workers.items()
    ]
    return json.dumps(nodes)


def _text(value: Any) -> str:
    """Return a value as a template has it: 24.0 as 24."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
