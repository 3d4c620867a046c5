"""Fingerprints of models, by content, and the models that a study trained with."""

from pathlib import Path

from huggingface_hub import snapshot_download
from transformers.utils import cached_file

from rse_study.assets.store import META, is_complete
from rse_study.data.hub_models import DESCRIPTIONS, WEIGHTS, hub_arguments
from rse_study.errors import InputError
from rse_study.models.model_files import require_regular
from rse_study.results.reader import Reader
from rse_study.spec import fingerprint_of, hash_file


def fingerprint_of_model(path_or_name: str, revision: str = "main") -> str:
    """Hash a folder's weights, configuration, tokenizer; a hub name gives its commit."""
    folder = Path(path_or_name)
    if not folder.is_dir():
        return f"{path_or_name}@{folder_of_model(path_or_name, revision).name}"
    # An asset's meta.json records how long the build took, which does not identify the model.
    known = [path for path in folder.iterdir() if path.suffix in WEIGHTS + DESCRIPTIONS and path.name != META]
    # Modules of sentence-transformers with weights of their own, such as 2_Dense.
    files = sorted(known + [path for path in folder.glob("[0-9]*_*/*") if path.suffix in WEIGHTS])
    for path in files:
        require_regular(path)
    if not any(path.suffix in WEIGHTS for path in files):
        rule = "a model is config.json, a tokenizer and weights (*.safetensors or *.bin)"
        remedy = "Give the folder that save_pretrained wrote"
        raise InputError("no weights in this folder", where=path_or_name, rule=rule, remedy=remedy)
    return fingerprint_of({str(path.relative_to(folder)): hash_file(path) for path in files})


def folder_of_model(path_or_name: str, revision: str = "main") -> Path:
    """Return the folder of a model: its own, or the one in the hub's cache."""
    folder = Path(path_or_name)
    if folder.is_dir():
        return folder
    return Path(str(cached_file(path_or_name, "config.json", **hub_arguments(path_or_name, revision)))).parent


def whole_folder_of_model(path_or_name: str, revision: str = "main") -> Path:
    """Return a folder with all files of a model, downloaded if not cached."""
    if Path(path_or_name).is_dir():
        return Path(path_or_name)
    patterns = [f"*{suffix}" for suffix in WEIGHTS + DESCRIPTIONS]
    return Path(
        snapshot_download(path_or_name, **hub_arguments(path_or_name, revision), allow_patterns=patterns)
    )


def fingerprint_of_weights(folder: Path) -> str:
    """Hash the weights in a folder, a head's included, and nothing else (sha256)."""
    files = sorted(path for path in folder.iterdir() if path.suffix in WEIGHTS)
    return fingerprint_of({path.name: hash_file(path) for path in files})


KINDS = ("tiny-*", "minilm-mlm-*")


def trained_assets(study_dir: Path, cache_dir: Path) -> list[Path]:
    """Return the folders of trained models that a study's cells have on record."""
    with Reader(study_dir) as reader:
        materials = [cell.provenance.get("materials", {}) for cell in reader.records()]
    wanted = {of_cell.get(part) for of_cell in materials for part in ("base", "generator")}
    folders = [folder for kind in KINDS for folder in sorted((cache_dir / "assets").glob(kind))]
    return [one for one in folders if is_complete(one) and fingerprint_of_model(str(one)) in wanted]
