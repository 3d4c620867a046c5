"""Models as a user names them: a cell's folder, a study's trial, an encoder."""

import re
from pathlib import Path
from typing import Any

import pandas as pd

from rse_study import open_study
from rse_study.cli.arguments import study_folder
from rse_study.data.hub_models import check_model, is_model, local_name
from rse_study.errors import InputError
from rse_study.results.files import schema
from rse_study.results.reader import Reader
from rse_study.storage.folders import bring_model

MIN_PREFIX = 6
RULE = f"a trial's number, TRIAL/SEED, or the first {MIN_PREFIX} or more digits of an identity"
SHOWN = 6
ASSETS = ("tiny", "tiny-vectors", "minilm-mlm")


def find_cell(cells: pd.DataFrame, wanted: str, study_dir: Path) -> dict[str, Any]:
    """Return the row of `cells` that is meant, a retired one only where no other is."""
    found = _matching(cells[~cells["retired"]], wanted)
    if found.empty:
        found = _matching(cells, wanted)
    if len(found) == 1:
        row: dict[str, Any] = found.iloc[0].to_dict()
        return row
    known = _names_of(cells if found.empty else found)
    what = f"no cell {wanted!r}" if found.empty else f"{wanted!r} names {len(found)} cells"
    raise InputError(what, where=str(study_dir), rule=RULE, remedy=f"Cells: {known}")


def _matching(cells: pd.DataFrame, wanted: str) -> pd.DataFrame:
    pair = re.fullmatch(r"(-?\d+)/(\d+)", wanted)
    if pair:
        return cells[(cells["trial"] == int(pair[1])) & (cells["seed"] == int(pair[2]))]
    of_trial = cells[cells["trial"].astype(str) == wanted]
    if of_trial.empty and len(wanted) >= MIN_PREFIX:
        return cells[cells["identity"].str.startswith(wanted)]
    searched = of_trial[of_trial["stage"] == "search"]  # and not what confirms it
    return of_trial if searched.empty else searched


def _names_of(cells: pd.DataFrame) -> str:
    names = [f"{row.trial}/{row.seed} ({row.identity[:12]})" for row in cells.head(SHOWN).itertuples()]
    return ", ".join([*names, "..."] if len(cells) > SHOWN else names) or "none yet"


def model_name(model: str) -> str:
    """Return what `load_encoder` can load for this argument."""
    if model == "minilm":
        from rse_study.assets.tiny import minilm_folder

        return str(minilm_folder())
    path = Path(model)
    if model in ASSETS and not path.exists():
        rule, remedy = "an asset, made anew for each corpus", "Train it first and name the run's folder"
        raise InputError(f"{model!r} is not a model", where="MODEL", rule=rule, remedy=remedy)
    if (path / schema.MODEL_FOLDER / "config.json").is_file():
        return str(path / schema.MODEL_FOLDER)
    if path.is_dir() and not is_model(path):
        remedy = "Name an encoder's folder, or the folder of a cell that has ended"
        raise InputError(
            "holds no model",
            where=model,
            rule="neither config.json, modules.json nor model/config.json",
            remedy=remedy,
        )
    check_model(model)
    return local_name(model)


def cell_folder(source: str, trial: str, store: Path) -> Path:
    """Find the folder of a cell that kept its model.

    `source` is such a folder, or a study whose `trial` is `best` or what `find_cell` accepts.
    """
    if (Path(source) / schema.MODEL_FOLDER / "config.json").is_file():
        return Path(source)
    if Path(source).is_dir() and not schema.ledger_path(Path(source)).is_file():
        raise InputError("holds neither a model nor a ledger", where=source, remedy="Has the run ended?")
    study = study_folder(source, store)
    identity = _identity(study, trial)
    folder = schema.cell_folder(study, identity)
    if not (folder / schema.MODEL_FOLDER / "config.json").is_file() and not bring_model(study, identity):
        rule = "a cell that ended keeps one, unless the study says `keep_models`"
        remedy = "Choose another"
        raise InputError(f"trial {trial} kept no model", where=str(folder), rule=rule, remedy=remedy)
    return folder


def _identity(study: Path, trial: str) -> str:
    from analysis.scores import trials_of

    with Reader(study) as reader:
        if trial != "best":
            return str(find_cell(reader.cells(retired=True), trial, study)["identity"])
        table, record = trials_of(reader), reader.study()
    if not (table["status"] == "complete").any():
        what = "cell" if record.kind == "grid" else "trial"
        remedy = "See its progress: rse-study status"
        raise InputError("--trial best", where=str(study), rule=f"no {what} is complete yet", remedy=remedy)
    if record.kind == "grid":
        raise _no_best_row(study)
    return str(table.loc[table["best"], "identity"].iloc[0])


def _no_best_row(study: Path) -> InputError:
    """Name a cell of the row with the best mean: which one to take, a grid does not say."""
    results = open_study(study)
    complete = results.cells[results.cells["status"] == "complete"]
    means = complete.groupby("row", sort=False)["objective"].mean()
    row = means.idxmin() if results.record.is_less_better() else means.idxmax()
    cell = complete[complete["row"] == row].iloc[0]
    remedy = (
        f"Name a cell, TRIAL/SEED: --trial {cell['trial']}/{cell['seed']} is {row}, seed {cell['seed']}, "
        f"the row with the best mean ({means[row]:.2f})"
    )
    return InputError("--trial best", where=str(study), rule="a grid has no best trial", remedy=remedy)
