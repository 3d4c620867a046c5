"""Experiment trackers to which a study's ledger is copied.

To add one, write a class that implements `tracker.Tracker`, and add a line here.
"""

from collections.abc import Callable

from rse_study.registry import Registry
from rse_study.trackers.mlflow import MlflowTracker
from rse_study.trackers.tensorboard import TensorboardTracker
from rse_study.trackers.tracker import Tracker
from rse_study.trackers.wandb import WandbTracker

TRACKERS: Registry[Callable[[str], Tracker]] = Registry(
    "tracker", {"mlflow": MlflowTracker, "tensorboard": TensorboardTracker, "wandb": WandbTracker}
)
"""Names for `rse-study track --to`; each is made from its destination, "" for the default."""
