"""Follows the cluster between two steps of Tune."""

import time
from collections.abc import Callable
from typing import Any

from ray.tune import Callback

from rse_study.on_ray.nodes.elastic import ElasticSize
from rse_study.on_ray.nodes.lost_cells import Losses
from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.workers.coordinator import Coordinator

PERIOD_SECONDS = 1.0


class ClusterCallback(Callback):
    """Leaves Tune where Ray or the storage is gone, and follows the nodes."""

    def __init__(
        self,
        check: Callable[[], None],
        size: ElasticSize,
        losses: Losses,
        searcher: CellSearcher,
        coordinator: Coordinator,
    ) -> None:
        self._check, self._size, self._losses = check, size, losses
        self._searcher, self._coordinator = searcher, coordinator
        self._checked = 0.0

    def on_step_begin(self, iteration: int, trials: list[Any], **info: Any) -> None:
        """Follow the cluster before each step."""
        self.follow()

    def follow(self) -> None:
        """Raise where the run cannot go on; once a second follow the nodes."""
        self._check()
        if time.monotonic() - self._checked < PERIOD_SECONDS:
            return
        self._checked = time.monotonic()
        self._coordinator.refresh()
        gone = self._size.follow(self._searcher.num_wanted, self._searcher.num_running)
        self._losses.report(gone)

    def __getstate__(self) -> dict[str, Any]:
        return {}
