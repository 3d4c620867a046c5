"""A RayJob of KubeRay, and a ConfigMap with the study and the code."""

import base64
import json
import shlex
from collections.abc import Mapping
from typing import Any

from rse_study.cluster.job import Job, RenderedFile
from rse_study.cluster.kinds.kuberay import FILES, KubeGroup, KubeHead, KuberayCluster
from rse_study.cluster.renderers.ray_start import (
    DRIVER_RESOURCES,
    OBJECT_STORE_BYTES,
    driver_variables,
    variables_of,
)
from rse_study.cluster.spec import DRIVER_RESOURCE, STUDY_FILE
from rse_study.cluster.wheel import as_tar
from rse_study.cluster.yaml_text import BlockText, yaml_text
from rse_study.errors import InputError

JOB_FILE, FILES_FILE = "rayjob.yaml", "configmap.yaml"
CODE = "/rse/code"
CODE_FILE = "code.tar.xz"
MOST_BYTES = 1_048_576  # limit of a ConfigMap
MANAGED = {"app.kubernetes.io/managed-by": "rse-study"}
KubeObject = dict[str, Any]


def render_rayjob(spec: KuberayCluster, job: Job) -> tuple[RenderedFile, ...]:
    """Return the two manifests of a job."""
    return (
        RenderedFile(FILES_FILE, yaml_text(config_map(spec, job))),
        RenderedFile(JOB_FILE, yaml_text(ray_job(spec, job))),
    )


def config_map(spec: KuberayCluster, job: Job) -> KubeObject:
    """Return the ConfigMap with study and code, or raise InputError if too large."""
    code = as_tar(job.wheel) if spec.ship_code else b""
    size = len(job.study_yaml.encode()) + len(code)
    if size > MOST_BYTES:
        rule = f"a ConfigMap holds at most {MOST_BYTES:,} bytes"
        remedy = "Put this version into the image and set ship_code: false"
        raise InputError(f"study and code have {size:,} bytes", where=spec.name, rule=rule, remedy=remedy)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(spec, job),
        "data": {STUDY_FILE: BlockText(job.study_yaml)},
        **({"binaryData": {CODE_FILE: base64.b64encode(code).decode()}} if spec.ship_code else {}),
    }


def ray_job(spec: KuberayCluster, job: Job) -> KubeObject:
    """Return the RayJob, whose cluster is created for it and deleted afterwards."""
    content = {
        "entrypoint": shlex.join(job.command),
        "jobId": job.submission_id,
        "submissionMode": spec.submission_mode,
        "entrypointResources": json.dumps({DRIVER_RESOURCE: 1}),
        "shutdownAfterJobFinishes": True,
        "ttlSecondsAfterFinished": spec.keep_seconds,
        "activeDeadlineSeconds": round(spec.limits.hours * 3600),
        "backoffLimit": spec.attempts,
        "rayClusterSpec": _cluster(spec, job),
        **({"suspend": True} if spec.queue else {}),
    }
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": _metadata(spec, job), "spec": content}


def _metadata(spec: KuberayCluster, job: Job) -> KubeObject:
    queue = {"kueue.x-k8s.io/queue-name": spec.queue} if spec.queue else {}
    return {"name": job.submission_id, "namespace": spec.namespace, "labels": MANAGED | queue}


def _cluster(spec: KuberayCluster, job: Job) -> KubeObject:
    idle = {"idleTimeoutSeconds": round(spec.limits.idle_minutes * 60)}
    return {
        "rayVersion": spec.ray_version,
        "authOptions": {"mode": "token", "secretName": spec.token_secret},
        **({} if spec.queue else {"enableInTreeAutoscaling": True, "autoscalerOptions": idle}),
        "headGroupSpec": {
            "rayStartParams": {
                "dashboard-host": "0.0.0.0",
                "num-cpus": "0",
                "num-gpus": "0",
                "object-store-memory": str(OBJECT_STORE_BYTES),
                "resources": json.dumps(DRIVER_RESOURCES),  # quoted twice: KubeRay has it in a shell command
            },
            "template": _template(spec, job, spec.head, "ray-head", {}),
        },
        "workerGroupSpecs": [_group(spec, job, name, group) for name, group in spec.workers.items()],
    }


def _group(spec: KuberayCluster, job: Job, name: str, group: KubeGroup) -> KubeObject:
    gpus = {group.gpu_resource: str(group.gpus)} if group.gpus else {}
    return {
        "groupName": name,
        "replicas": spec.fewest_nodes(group),
        "minReplicas": spec.fewest_nodes(group),
        "maxReplicas": group.max_nodes,
        **({"labels": dict(group.labels)} if group.labels else {}),
        "rayStartParams": {
            "num-cpus": str(group.cpus),
            "num-gpus": str(group.gpus),
            "object-store-memory": str(OBJECT_STORE_BYTES),
        },
        "template": _template(spec, job, group, "ray-worker", gpus),
    }


def _template(
    spec: KuberayCluster, job: Job, machine: KubeHead | KubeGroup, name: str, gpus: Mapping[str, str]
) -> KubeObject:
    amounts = {"cpu": str(machine.cpus), "memory": f"{machine.memory_mib}Mi", **gpus}
    container = {
        "name": name,
        "image": spec.image,
        "env": [{"name": key, "value": value} for key, value in _variables(spec, machine).items()],
        **({"envFrom": [{"secretRef": {"name": each}} for each in spec.secrets]} if spec.secrets else {}),
        # Limits equal requests: pods that use more than they request are evicted first.
        "resources": {"requests": amounts, "limits": amounts},
        "volumeMounts": _mounts(spec),
    }
    optional = {
        "serviceAccountName": spec.service_account,
        "imagePullSecrets": [{"name": spec.image_pull_secret}] if spec.image_pull_secret else [],
        "nodeSelector": dict(machine.node_selector),
        "tolerations": [each.model_dump(exclude_defaults=True) for each in machine.tolerations],
    }
    return {
        "spec": {
            **{key: value for key, value in optional.items() if value},
            **({"initContainers": [_unpack(spec, job)]} if spec.ship_code else {}),
            "containers": [container],
            "volumes": _volumes(spec, job),
        }
    }


def _variables(spec: KuberayCluster, machine: KubeHead | KubeGroup) -> dict[str, str]:
    code = {"PYTHONPATH": CODE} if spec.ship_code else {}
    return variables_of(spec) | code | (driver_variables(spec) if isinstance(machine, KubeHead) else {})


def _unpack(spec: KuberayCluster, job: Job) -> KubeObject:
    return {
        "name": "unpack-code",
        "image": spec.image,
        "command": ["python", "-m", "tarfile", "-e", f"{FILES}/{CODE_FILE}", CODE],
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"cpu": "1", "memory": "256Mi"},
        },
        "volumeMounts": _mounts(spec),
    }


def _mounts(spec: KuberayCluster) -> list[KubeObject]:
    code = [{"name": "code", "mountPath": CODE}] if spec.ship_code else []
    claims = [{"name": each.claim, "mountPath": each.path} for each in spec.volumes]
    return [{"name": "job", "mountPath": FILES, "readOnly": True}, *code, *claims]


def _volumes(spec: KuberayCluster, job: Job) -> list[KubeObject]:
    code = [{"name": "code", "emptyDir": {}}] if spec.ship_code else []
    claims = [
        {"name": each.claim, "persistentVolumeClaim": {"claimName": each.claim}} for each in spec.volumes
    ]
    return [{"name": "job", "configMap": {"name": job.submission_id}}, *code, *claims]
