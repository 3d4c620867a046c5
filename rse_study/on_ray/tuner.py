"""Ray Tune around the agenda: it starts trials and hears how they go; decisions and memory stay with us."""

from datetime import UTC, datetime
from pathlib import Path

from ray import tune

from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.trainable import run_trial


def run(searcher: CellSearcher, num_trials: int, folder: Path, resources: dict[str, float]) -> None:
    """Run up to `num_trials` trials of the searcher; returns when the last one has ended."""
    # A new experiment each time: resuming is replaying the ledger, never Tune's restore (which unpickles).
    name = f"tune-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    tune.Tuner(
        tune.with_resources(run_trial, resources),
        tune_config=tune.TuneConfig(
            search_alg=searcher,
            num_samples=num_trials,
            trial_dirname_creator=lambda trial: f"{trial.config['number']:04d}-{trial.trial_id}",
            trial_name_creator=lambda trial: f"trial-{trial.trial_id}",
        ),
        run_config=tune.RunConfig(
            name=name,
            storage_path=str(folder),
            verbose=0,
            failure_config=tune.FailureConfig(max_failures=0),
        ),
    ).fit()
