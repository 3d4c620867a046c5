"""Models as a user names them: a cell's folder, a study's trial, an encoder."""

from pathlib import Path

from rse_study import open_study
from rse_study.cli.arguments.cell import find_cell
from rse_study.cli.arguments.study import study_folder
from rse_study.data.hub_models import check_model, is_model, local_name
from rse_study.errors import InputError
from rse_study.results.files import schema
from rse_study.results.reader import Reader
from rse_study.storage.folders import bring_model

ASSETS = ("tiny", "tiny-vectors", "minilm-mlm")


def model_name(model: str) -> str:
    """Return what `load_encoder` can load for this argument."""
    if model == "minilm":
        from rse_study.assets.minilm import minilm_folder

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
    from analysis.tables import trials

    with Reader(study) as reader:
        if trial != "best":
            return str(find_cell(reader.cells(retired=True), trial, study)["identity"])
        table, record = trials(reader), reader.study()
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
