"""Retrieval of cells' models from their study's storage."""

import json
from pathlib import Path

from rse_study.results.files.schema import MODEL_FOLDER, cell_folder, storage_file
from rse_study.storage.folders import get_folder
from rse_study.storage.storage import Storage, study_key


def bring_model(study_dir: Path, identity: str) -> bool:
    """Copy a cell's model from the study's storage; False without storage or model."""
    if not storage_file(study_dir).is_file():
        return False
    storage = Storage(json.loads(storage_file(study_dir).read_text(encoding="utf-8"))["location"])
    key = f"{study_key(study_dir.name)}/{cell_folder(Path(), identity)}/{MODEL_FOLDER}"
    return get_folder(storage, key, cell_folder(study_dir, identity) / MODEL_FOLDER)
