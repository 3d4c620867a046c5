"""A study platform for robust sentence embeddings.

`open_study` is the entry point of notebooks and scripts. Importing the package imports nothing else.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import optuna

    import rse_study.frames.study_results


def open_study(name: "str | Path", store: "str | Path" = "") -> "rse_study.frames.study_results.StudyResults":
    """Open a study that has run, by its name, its folder or its archive.

    The result has tidy frames: cells, metrics, evaluations, contrasts, importance, attempts. `store` is the folder with
    the studies' folders; by default that of the commands.

    Raises
    ------
    rse_study.errors.InputError
        if there is no such study; the message lists those there are.

    Examples
    --------
    After `rse-study run quickstart`::

        study = open_study("quickstart")
        study.contrasts[["row", "mean", "excludes_zero"]]

    After a search: `study.best.settings`, and `study.optuna()` for `optuna.visualization` and `trials_dataframe()`.
    """
    from rse_study.data import store_dir
    from rse_study.frames.study_results import open_results

    return open_results(name, store or store_dir(), _as_optuna)


def _as_optuna(folder: "Path") -> "optuna.Study":
    from rse_study.sampling.optuna_study import read_optuna  # on use: optuna takes a second

    return read_optuna(folder)
