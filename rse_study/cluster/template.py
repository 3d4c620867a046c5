"""Templates filled in: the files for Slurm, KubeRay, Ray's launcher or bash."""

import base64
import json
import re
import shlex
from pathlib import Path
from typing import Any

from rse_study.cluster.job import Job, yaml_text
from rse_study.cluster.spec import STUDY_FILE, ClusterSpec, Machine
from rse_study.cluster.wheel import as_tar
from rse_study.errors import InputError, InputErrors
from rse_study.registry import did_you_mean
from rse_study.yaml12 import parse_yaml

FILES = {"slurm": "job.sbatch", "kuberay": "rayjob.yaml", "launcher": "cluster.yaml", "local": "cluster.sh"}
"""name of the rendered template"""
CONFIG_MAP = "configmap.yaml"
CODE_FILE = "code.tar.xz"
MOST_BYTES = 1_048_576  # limit of a ConfigMap
VARIABLE = re.compile(r"@\{([^{}\n]*)\}")
UNSAFE = re.compile(r"""['"\\$`]""")
RULE = "a template takes no quotes, $, \\ or control characters"


def render(spec: ClusterSpec, job: Job) -> dict[str, str]:
    """Return the files for Slurm, Kubernetes, Ray's launcher, or a shell, by name."""
    text = filled_template(spec, job)
    files = {FILES[spec.kind]: text}
    return {CONFIG_MAP: config_map(spec, job, text)} | files if spec.kind == "kuberay" else files


def metadata_of(spec: ClusterSpec, text: str) -> dict[str, Any]:
    """Return name and namespace of a RayJob."""
    manifest = parse_yaml(text, where=spec.template)
    metadata = manifest.get("metadata")
    if manifest.get("kind") != "RayJob" or not isinstance(metadata, dict) or not metadata.get("name"):
        rule, remedy = "a RayJob with metadata.name is expected", "Begin with a copy of kuberay.rayjob.yaml"
        raise InputError("is no RayJob", where=spec.template, rule=rule, remedy=remedy)
    return {"name": metadata["name"], "namespace": str(metadata.get("namespace") or "default")}


def config_map(spec: ClusterSpec, job: Job, ray_job: str) -> str:
    """Return the ConfigMap with study and code, or raise InputError if too large."""
    lines = ray_job.splitlines()
    has_code = any("PYTHONPATH" in line for line in lines if not line.lstrip().startswith("#"))
    own = {name: path.read_bytes() for name, path in job.files.items()}
    code = as_tar({**(job.wheel.files if has_code else {}), STUDY_FILE: job.study_yaml.encode(), **own})
    if len(code) > MOST_BYTES:
        what = f"study and code have {len(code):,} bytes"
        rule = f"a ConfigMap holds at most {MOST_BYTES:,} bytes"
        remedy = "Put this version into the image, and PYTHONPATH out of the template: then it is not sent"
        raise InputError(what, where=job.study, rule=rule, remedy=remedy)
    labels = {"labels": {"app.kubernetes.io/managed-by": "rse-study"}}
    content = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata_of(spec, ray_job) | labels}
    return yaml_text(content | {"binaryData": {CODE_FILE: base64.b64encode(code).decode()}})


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
    texts = {name: _text(value) for name, value in _plain(spec, job).items()}
    problems = [
        InputError(f"{name} = {value!r}", where=spec.name, rule=RULE, remedy="Write it without them")
        for name, value in texts.items()
        if UNSAFE.search(value) or not value.isprintable()
    ]
    if problems:
        raise InputErrors(problems)
    for name, group in spec.workers.items():
        texts[f"workers.{name}.labels_json"] = json.dumps(group.labels)
    return texts | {"options": shlex.join(job.options), "nodes": node_types(spec)}


def _plain(spec: ClusterSpec, job: Job) -> dict[str, Any]:
    """Return the values of job and spec that stand in quotes, by their paths."""
    limits, groups = spec.limits, {f"workers.{name}": group for name, group in spec.workers.items()}
    plain: dict[str, Any] = {
        "id": job.submission_id,
        "study": job.study,
        "wheel": job.wheel.name,
        "limits.minutes": max(1, round(limits.hours * 60)),
        "limits.seconds": round(limits.hours * 3600),
        "limits.idle_seconds": round(limits.idle_minutes * 60),
        "max_nodes": sum(group.max_nodes for group in groups.values()),
        **{key: getattr(spec, key) for key in ("name", "folder", "storage", "store")},
    }
    for at, part in {"limits": limits, "head": spec.head, **groups}.items():
        plain |= {f"{at}.{key}": value for key, value in part}
        if isinstance(part, Machine):
            plain[f"{at}.memory_mib"] = round(part.memory_gib * 1024)
    for at, group in groups.items():
        plain[f"{at}.labels"] = ",".join(f"{name}={label}" for name, label in group.labels.items())
    return plain


def node_types(spec: ClusterSpec) -> str:
    """Return the nodes that may join as JSON; neither Ray nor a queue announces them."""
    nodes = []
    for name, group in spec.workers.items():
        resources = {"CPU": group.cpus, **({"GPU": group.gpus} if group.gpus else {})}
        labels = {"labels": group.labels} if group.labels else {}
        nodes.append({"name": name, "resources": resources, **labels, "max": group.max_nodes})
    return json.dumps(nodes)


def _text(value: Any) -> str:
    """Return a value as a template has it: 24.0 as 24."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
