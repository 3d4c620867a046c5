"""Rendering of a job's files: the template, and a ConfigMap on Kubernetes."""

import base64
from typing import Any

from rse_study.cluster.job import STUDY_FILE, Job, RenderedFile
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.template import filled_template
from rse_study.cluster.wheel import as_tar, files_in
from rse_study.cluster.yaml_text import yaml_text
from rse_study.errors import InputError
from rse_study.yaml12 import parse_yaml

FILES = {
    "slurm": "job.sbatch",
    "kuberay": "rayjob.yaml",
    "launcher": "cluster.yaml",
    "local": "cluster.sh",
}
"""name of the rendered template"""
CONFIG_MAP = "configmap.yaml"
CODE_FILE = "code.tar.xz"
MOST_BYTES = 1_048_576  # limit of a ConfigMap


def render(spec: ClusterSpec, job: Job) -> tuple[RenderedFile, ...]:
    """Return the files for Slurm, Kubernetes, Ray's launcher, or a shell."""
    text = filled_template(spec, job)
    file = RenderedFile(FILES[spec.kind], text)
    if spec.kind != "kuberay":
        return (file,)
    has_code = any("PYTHONPATH" in line for line in text.splitlines() if not line.lstrip().startswith("#"))
    content = config_map(job, metadata_of(text, where=spec.template), has_code=has_code)
    return (RenderedFile(CONFIG_MAP, yaml_text(content)), file)


def metadata_of(text: str, *, where: str) -> dict[str, Any]:
    """Return name and namespace of a RayJob."""
    manifest = parse_yaml(text, where=where)
    metadata = manifest.get("metadata")
    if manifest.get("kind") != "RayJob" or not isinstance(metadata, dict) or not metadata.get("name"):
        rule, remedy = "a RayJob with metadata.name is expected", "Begin with a copy of kuberay.rayjob.yaml"
        raise InputError("is no RayJob", where=where, rule=rule, remedy=remedy)
    return {"name": metadata["name"], "namespace": str(metadata.get("namespace") or "default")}


def config_map(job: Job, metadata: dict[str, Any], *, has_code: bool) -> dict[str, Any]:
    """Return the ConfigMap with study and code, or raise InputError if too large."""
    code = as_tar((files_in(job.wheel) if has_code else {}) | _contents(job))
    if len(code) > MOST_BYTES:
        rule = f"a ConfigMap holds at most {MOST_BYTES:,} bytes"
        remedy = "Put this version into the image, and PYTHONPATH out of the template: then it is not sent"
        raise InputError(
            f"study and code have {len(code):,} bytes", where=job.study, rule=rule, remedy=remedy
        )
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata | {"labels": {"app.kubernetes.io/managed-by": "rse-study"}},
        "binaryData": {CODE_FILE: base64.b64encode(code).decode()},
    }


def _contents(job: Job) -> dict[str, bytes]:
    """Return the contents of the study's file and of the files beside it, those in folders too."""
    every = {name: path for name, path in job.files.items() if path.is_file()}
    for name, folder in job.files.items():
        every |= {f"{name}/{one.relative_to(folder)}": one for one in folder.rglob("*") if one.is_file()}
    return {STUDY_FILE: job.study_yaml.encode(), **{name: path.read_bytes() for name, path in every.items()}}
