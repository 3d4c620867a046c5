"""Tune's own record of a run, with what readers of a ResultGrid look for."""

import math
from typing import Any

from ray.tune.logger import JsonLoggerCallback

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
