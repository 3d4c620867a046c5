"""Experiment trackers to which a study's ledger is copied."""

from collections.abc import Callable

from rse_study.registry import Registry
from rse_study.trackers.mlflow import MlflowTracker
from rse_study.trackers.tensorboard import TensorboardTracker
from rse_study.trackers.tracker import Tracker
from rse_study.trackers.wandb import WandbTracker

TRACKERS: Registry[Callable[[str], Tracker]] = Registry(
    "tracker", {"mlflow": MlflowTracker, "tensorboard": TensorboardTracker, "wandb": WandbTracker}
)
"""Trackers of `rse-study track --to`; an empty destination means the default."""
