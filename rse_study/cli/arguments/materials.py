"""Materials and evaluations from this machine's folders of data and cache."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from rse_study.activity import ActivityCallback
from rse_study.data import cache_dir, data_dir
from rse_study.downstream import Settings, read_evaluation
from rse_study.evaluation.evaluations import Evaluation
from rse_study.results.archive import ASSETS

if TYPE_CHECKING:
    from rse_study.training.materials import Materials
    from rse_study.training.trial import Trial


def materials_of(
    callback: ActivityCallback, beside: Path, trial: "Trial", study_dir: Path | None = None
) -> "Materials":
    """Return what a trial is trained on.

    Its corpus may lie in `beside`, weights that came with its study's archive in `study_dir`.
    """
    from rse_study.assets import prepare  # imports torch, which a plan does without
    from rse_study.assets.store import came_with_archive

    for weights in (study_dir / ASSETS).glob("*") if study_dir else ():
        place = came_with_archive(cache_dir() / "assets", weights.stem)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(weights, place)
    return prepare(trial, cache_dir(), data_dir(), callback, beside)


def evaluation_of(settings: Settings, name: str) -> Evaluation:
    """Read an evaluation with its data."""
    return read_evaluation(name, data_dir(), settings)
