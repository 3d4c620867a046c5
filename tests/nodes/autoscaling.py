"""A cluster of Ray's fake provider, which grows and shrinks: python -m tests.nodes.autoscaling MAX_WORKERS

Its nodes are processes of one machine. It stops every Ray that it sees before it starts: run it on a node of the
tests (`namespaces`), which sees no other.
"""

import sys
from typing import Any

from ray.cluster_utils import AutoscalingCluster

IDLE_MINUTES = 0.1
WORKER = "worker"


class FakeCloud(AutoscalingCluster):
    """Ray's own, with the settings it expects in a file that its wheel lacks."""

    def _generate_config(
        self,
        head_resources: dict[str, Any],
        worker_node_types: dict[str, Any],
        autoscaler_v2: bool = False,
        **config_kwargs: Any,
    ) -> dict[str, Any]:
        head = {"ray.head.default": {"resources": head_resources, "node_config": {}, "max_workers": 0}}
        return {
            "cluster_name": "fake-cloud",
            "max_workers": sum(kind["max_workers"] for kind in worker_node_types.values()),
            "provider": {
                "type": "fake_multinode",
                "use_node_id_as_ip": True,  # the nodes have one address
                "disable_node_updaters": True,
                "disable_launch_config_check": True,
            },
            "available_node_types": worker_node_types | head,
            "head_node_type": "ray.head.default",
            "upscaling_speed": 1.0,
            "idle_timeout_minutes": IDLE_MINUTES,
            "auth": {},
            "file_mounts": {},
            "cluster_synced_files": [],
            "file_mounts_sync_continuously": False,
            "rsync_exclude": [],
            "rsync_filter": [],
            "initialization_commands": [],
            "setup_commands": [],
            "head_setup_commands": [],
            "worker_setup_commands": [],
            "head_start_ray_commands": [],
            "worker_start_ray_commands": [],
        } | config_kwargs


def main(max_workers: str) -> None:
    """Start a head without CPUs; workers of one CPU come when somebody needs them."""
    worker = {
        "resources": {"CPU": 1, "object_store_memory": 80_000_000},
        "node_config": {},
        "min_workers": 0,
        "max_workers": int(max_workers),
    }
    head = {"CPU": 0, "object_store_memory": 100_000_000}  # it puts quotes around resources of one's own
    FakeCloud(head, {WORKER: worker}).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
