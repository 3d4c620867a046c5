"""The nodes of a cluster that are alive, as its head lists them."""

from typing import Any

from ray._raylet import GcsClient  # type: ignore[attr-defined]

CALL_SECONDS = 5.0
"""for one question to the head"""
ALIVE = 0  # Ray's GcsNodeInfo.GcsNodeState


def alive_nodes(client: GcsClient) -> dict[str, Any]:
    """Return the head's entry of every live node, by id; RayError if it is silent."""
    found = client.get_all_node_info(timeout=CALL_SECONDS)
    return {identity.hex(): one for identity, one in found.items() if one.state == ALIVE}
