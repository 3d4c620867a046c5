"""Experiment trackers to which a study's ledger is copied."""

from collections.abc import Callable

from rse_study.named_class import construct, import_class, is_class_path, require_members
from rse_study.registry import Registry
from rse_study.trackers.mlflow import MlflowTracker
from rse_study.trackers.tensorboard import TensorboardTracker
from rse_study.trackers.tracker import Tracker
from rse_study.trackers.wandb import WandbTracker

TRACKERS: Registry[Callable[[str], Tracker]] = Registry(
    "tracker", {"mlflow": MlflowTracker, "tensorboard": TensorboardTracker, "wandb": WandbTracker}
)
"""Trackers of `rse-study track --to`; an empty destination means the default."""


def make_tracker(to: str, target: str) -> Tracker:
    """Return a tracker by name, or by `module:Class`."""
    if not is_class_path(to):
        return TRACKERS.get(to, where="--to")(target)
    what = f"--to {to}"
    tracker: Tracker = construct(import_class(to, what=what), target, settings={}, named=to, what=what)
    require_members(tracker, Tracker, what=what)
    return tracker
