"""YAML for Ray's launcher (`ray up`): an on-demand head and workers that scale."""

from typing import Any

from rse_study.cluster.job import Job, RenderedFile
from rse_study.cluster.kinds.clouds import AwsCluster, AzureCluster, CloudCluster, CloudGroup
from rse_study.cluster.kinds.onprem import OnpremCluster
from rse_study.cluster.renderers.instances import provider_of, virtual_machine
from rse_study.cluster.renderers.ray_start import driver_variables, head_options, variables_of, worker_options
from rse_study.cluster.renderers.shell import assignments
from rse_study.cluster.spec import DRIVER_RESOURCE, NUM_DRIVERS, LauncherCluster
from rse_study.cluster.yaml_text import yaml_text

FILE_NAME = "cluster.yaml"
FILES = "/tmp/rse-study"
TOKEN = "~/.ray/auth_token"
AUTOSCALER = "--autoscaling-config=~/ray_bootstrap_config.yaml"
PORT = 6379


def render_onprem(spec: OnpremCluster, job: Job) -> tuple[RenderedFile, ...]:
    """Return the launcher's file for own machines; `ray start` sets their resources."""
    (group,) = spec.workers.values()
    size = {"min_workers": group.min_nodes, "max_workers": group.max_nodes}
    provider = {"type": "local", "head_ip": spec.head.host, "worker_ips": list(group.hosts)}
    return _file(spec, job, size, provider, {}, head_options(), worker_options(group, group.cpus))


def render_cloud(spec: CloudCluster, job: Job) -> tuple[RenderedFile, ...]:
    """Return the launcher's file for machines in a cloud."""
    head = {
        "node_config": virtual_machine(spec, spec.head, is_spot=False),
        "resources": {"CPU": 0, "GPU": 0, DRIVER_RESOURCE: NUM_DRIVERS},
        "min_workers": 0,
        "max_workers": 0,
    }
    types = {"head": head, **{name: _node_type(spec, group) for name, group in spec.workers.items()}}
    size = {"max_workers": sum(group.max_nodes for group in spec.workers.values())}
    nodes = {"head_node_type": "head", "available_node_types": types}
    return _file(spec, job, size, provider_of(spec), nodes, [], [])


def _node_type(spec: CloudCluster, group: CloudGroup) -> dict[str, Any]:
    return {
        "node_config": virtual_machine(spec, group, is_spot=group.spot),
        "resources": {"CPU": group.cpus, **({"GPU": group.gpus} if group.gpus else {})},
        **({"labels": dict(group.labels)} if group.labels else {}),
        "min_workers": group.min_nodes,
        "max_workers": group.max_nodes,
    }


def _file(
    spec: LauncherCluster,
    job: Job,
    size: dict[str, int],
    provider: dict[str, Any],
    nodes: dict[str, Any],
    of_head: list[str],
    of_worker: list[str],
) -> tuple[RenderedFile, ...]:
    auth = {"ssh_user": spec.ssh_user, **({"ssh_private_key": spec.ssh_key} if spec.ssh_key else {})}
    if isinstance(spec, AzureCluster) and spec.ssh_key:  # both or neither: without them Ray creates a pair
        auth["ssh_public_key"] = spec.ssh_public_key
    wheel = f"{FILES}/{job.wheel.name}"
    install = [f"python -m pip install --quiet {wheel}"] if spec.install else []
    container = {"image": spec.container, "container_name": "rse_study"}
    where = ["--head", f"--port={PORT}", "--dashboard-host=127.0.0.1", AUTOSCALER]
    content = {
        "cluster_name": spec.name,
        **size,
        "idle_timeout_minutes": spec.limits.idle_minutes,
        "provider": provider,
        "auth": auth,
        **({"docker": container} if spec.container else {}),
        "file_mounts": {TOKEN: spec.token, wheel: job.wheel.name},
        "setup_commands": [
            f"chmod 600 {TOKEN}",
            *(_activated(spec, line) for line in [*spec.setup, *install]),
        ],
        **nodes,
        "head_start_ray_commands": _start(spec, driver_variables(spec), [*where, *of_head]),
        "worker_start_ray_commands": _start(spec, {}, [f"--address=$RAY_HEAD_IP:{PORT}", *of_worker]),
    }
    return (RenderedFile(FILE_NAME, yaml_text(content)),)


def _start(spec: LauncherCluster, more: dict[str, str], options: list[str]) -> list[str]:
    told = " ".join(option for option in dict.fromkeys(options) if option != "--block")
    start = f"env {assignments(variables_of(spec) | more)} ray start {told}"
    return [*_time_limit(spec), _activated(spec, "ray stop"), f"ulimit -n 65536; {_activated(spec, start)}"]


def _activated(spec: LauncherCluster, command: str) -> str:
    """Prefix the activation, because every command has its own shell."""
    return " && ".join([*spec.environment.activate, command])


def _time_limit(spec: LauncherCluster) -> list[str]:
    """Shut the machine down: without a head nobody else does (Google has a limit, Azure still bills)."""
    if not isinstance(spec, AwsCluster) or spec.container:
        return []
    return [f"sudo shutdown -P +{round(spec.limits.hours * 60)}"]
