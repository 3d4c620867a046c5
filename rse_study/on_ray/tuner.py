"""Ray Tune around a queue of cells: starts trials and reports their progress."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ray import tune

from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.workers.payload import CellPayload


def run(
    searcher: CellSearcher,
    trainable: Callable[[dict[str, Any]], None],
    callbacks: Sequence[tune.Callback],
    folder: Path,
    reservation: tune.PlacementGroupFactory,
) -> None:
    """Run trials until the searcher has no more and the last one has ended."""
    # A new experiment each time: resuming is replaying the ledger, never Tune's restore (which unpickles).
    name = f"tune-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    tune.Tuner(
        tune.with_resources(trainable, reservation),
        tune_config=tune.TuneConfig(
            search_alg=searcher,
            num_samples=-1,  # the searcher says when it is over: a lost cell is a trial more
            reuse_actors=True,  # cells of one process share its imports, which cost more than a small cell
            trial_dirname_creator=_folder_name,
            trial_name_creator=lambda trial: f"trial-{trial.trial_id}",
        ),
        run_config=tune.RunConfig(
            name=name,
            storage_path=str(folder),
            verbose=0,
            callbacks=list(callbacks),
            failure_config=tune.FailureConfig(max_failures=0),
        ),
    ).fit()


def _folder_name(trial: Any) -> str:
    return f"{CellPayload.from_config(trial.config).number:04d}-{trial.trial_id}"
