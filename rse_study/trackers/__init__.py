"""Programs in which users follow experiments: a study's ledger is copied there.

Another one takes a file with a class that fills `tracker.Tracker`, and a line here.
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
"""By the name that `rse-study track --to` takes; each is made from where its content goes, "" for the usual place."""
