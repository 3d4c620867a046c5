"""Ray Tune around a queue of cells: starts trials, looks after them, records them."""

import math
import os
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ray
from ray import tune
from ray.tune.logger import JsonLoggerCallback
from ray.tune.schedulers import FIFOScheduler
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rse_study.cluster.node_capacity import share_of
from rse_study.cluster.spec import DRIVER_RESOURCE
from rse_study.on_ray.nodes.elastic import ElasticSize, Losses
from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.workers.coordinator import Coordinator
from rse_study.study.definition.parts import Resources

PERIOD_SECONDS = 1.0


class LiveTrials(FIFOScheduler):
    """Starts trials in their order, without looking at ended ones.

    Its base class looks at all of them in each step of Tune.
    """

    def choose_trial_to_run(self, tune_controller: Any) -> Any:
        waiting = [one for one in tune_controller.get_live_trials() if one.status == one.PENDING]
        return min(waiting, key=lambda one: str(one.trial_id), default=None)


class ClusterCallback(tune.Callback):
    """Leaves Tune where the run cannot go on, follows the nodes, ends silent cells."""

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
        self.follow()

    def follow(self) -> None:
        """Raise where the run cannot go on; once a second follow nodes and watch cells."""
        self._check()
        if time.monotonic() - self._checked < PERIOD_SECONDS:
            return
        self._checked = time.monotonic()
        self._coordinator.refresh()
        gone = self._size.follow(self._searcher.num_wanted, self._searcher.num_running)
        self._losses.report(gone)
        for trial_id, cell in list(self._searcher.silent()):
            reason = f"was silent for {cell.resources.max_silence_s:g} s and was stopped"
            self._searcher.give_up(trial_id, reason)
            # The workers, not the trial around them: Train then sees a failed worker and cleans up after itself.
            for node, pid in self._coordinator.processes(cell.identity):
                where = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
                kill = ray.remote(_kill).options(num_cpus=0, max_retries=0, scheduling_strategy=where)
                kill.remote(pid)

    def __getstate__(self) -> dict[str, Any]:
        return {}


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)  # a stopped process dies of nothing less


def run(
    searcher: CellSearcher,
    trainable: Callable[[dict[str, Any]], None],
    callbacks: list[tune.Callback],
    folder: Path,
    resources: Resources,
) -> None:
    """Run trials until the searcher has no more and the last one has ended."""
    # A new experiment each time: resuming is replaying the ledger, never Tune's restore (which unpickles).
    name = f"tune-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    tune.Tuner(
        tune.with_resources(trainable, _reservation(resources)),
        tune_config=tune.TuneConfig(
            search_alg=searcher,
            scheduler=LiveTrials(),
            num_samples=-1,  # the searcher says when it is over: a lost cell is a trial more
            reuse_actors=True,  # cells of one process share its imports, which cost more than a small cell
            trial_dirname_creator=lambda trial: f"{trial.config['trial']:04d}-{trial.trial_id}",
            trial_name_creator=lambda trial: f"trial-{trial.trial_id}",
        ),
        run_config=tune.RunConfig(
            name=name,
            storage_path=str(folder),
            verbose=0,
            callbacks=callbacks,
            failure_config=tune.FailureConfig(max_failures=0),
        ),
    ).fit()


def _reservation(resources: Resources) -> tune.PlacementGroupFactory:
    """Return a trial's reservation: its cell's, or next to nothing on Train."""
    if resources.runs_on == "inline":
        labels: dict[str, Any] = {}
        if resources.labels:
            labels["bundle_label_selector"] = [dict(resources.labels)]
        return tune.PlacementGroupFactory([share_of(resources)], **labels)
    # Its workers have their own; on our Ray it counts against another resource, and every CPU is left to training.
    is_ours = DRIVER_RESOURCE in ray.cluster_resources()
    return tune.PlacementGroupFactory([{DRIVER_RESOURCE: 1.0} if is_ours else {"CPU": 0.1}])


SHOWN = ("dev", "objective", "loss", "t")
"""what every report holds by plain names; NaN before it was first measured"""


class TuneRecord(JsonLoggerCallback):
    """Writes reports into the trials' folders, with their scores by plain names.

    The first of all loggers: the others get the reports as it leaves them.
    """

    def __init__(self, objective: str) -> None:
        super().__init__()
        self._objective = objective

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Add the scores to a report, and write it without the trial's config."""
        metrics = result.get("metrics", {})
        known = dict.fromkeys(SHOWN, math.nan) | trial.run_metadata.last_result | result | metrics
        known["objective"] = metrics.get(self._objective, known["objective"])
        if result.get("reason"):  # it has no result, and must not be taken for the best
            known["objective"] = math.nan
        result |= {name: known[name] for name in SHOWN}
        super().log_trial_result(iteration, trial, {one: result[one] for one in result if one != "config"})

    def update_config(self, trial: Any, config: dict[str, Any]) -> None:
        """Write no files of the config, which the experiment's state holds."""

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """Keep statistics of the scores alone: Tune keeps every trial to the end.

        A trial whose process was lost has none, so that it is never the best.
        """
        run, kept = trial.run_metadata, () if failed else SHOWN
        run.metric_analysis = {name: one for name, one in run.metric_analysis.items() if name in kept}
        run.metric_n_steps = {}
        super().log_trial_end(trial, failed)
