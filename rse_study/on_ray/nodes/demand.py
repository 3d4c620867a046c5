"""A study's request to the autoscaler: room for all cells that would run now."""

import time
from typing import Any
from uuid import uuid4

from rse_study.cluster.node_capacity import share_of
from rse_study.on_ray.nodes.private_ray import autoscaler_requests
from rse_study.study.definition.resources import Resources

MAX_BUNDLES = 500  # an autoscaler packs them one by one
# A driver that was killed asks for nothing any more; a request of `ray.autoscaler.sdk` would stand for ever, and
# keep nodes that nobody uses.
EXPIRE_SECONDS, RENEW_SECONDS = 90.0, 20.0


class Demand:
    """A request to the autoscaler that is renewed, and ends with its driver.

    It uses the actor through which Ray Train requests workers, so that neither request replaces the other.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._requests: Any = None
        self._num_cells, self._asked = 0, 0.0

    def ask(self, num_cells: int) -> None:
        """Request room for this number of cells, replacing the last request."""
        is_new = num_cells != self._num_cells
        if not is_new and (num_cells == 0 or time.monotonic() - self._asked < RENEW_SECONDS):
            return
        self._num_cells, self._asked = num_cells, time.monotonic()
        if self._requests is None:
            self._requests = autoscaler_requests(f"rse-study-{uuid4().hex}")
        if num_cells == 0:
            self._requests.cancel_request()
            return
        number = min(num_cells * self._resources.workers, MAX_BUNDLES)
        self._requests.request_resources(
            resources=[share_of(self._resources)] * number,
            expire_after_s=EXPIRE_SECONDS,
            label_selectors=[dict(self._resources.labels)] * number if self._resources.labels else None,
        )
