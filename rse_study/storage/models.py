"""Models of cells that lie in their study's storage, for whoever wants one here."""

import json
from pathlib import Path

from rse_study.results.schema import MODEL_FOLDER, cell_folder, storage_file
from rse_study.storage.folders import get_folder
from rse_study.storage.storage import Storage, study_key


def bring_model(study_dir: Path, identity: str) -> bool:
    """Have a cell's model in its folder here, from the storage the study ran with.

    Parameters
    ----------
    study_dir : Path
        The study's folder on this machine.
    identity : str
        Of the cell.

    Returns
    -------
    bool
        False where the study has no storage, or that has no such model.

    Raises
    ------
    InputError, Unavailable
        Where the storage cannot be used from here.
    """
    if not storage_file(study_dir).is_file():
        return False
    storage = Storage(json.loads(storage_file(study_dir).read_text(encoding="utf-8"))["location"])
    key = f"{study_key(study_dir.name)}/{cell_folder(Path(), identity)}/{MODEL_FOLDER}"
    return get_folder(storage, key, cell_folder(study_dir, identity) / MODEL_FOLDER)
