"""Content-addressed folders, built whole or not at all, and models' fingerprints."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download
from transformers.utils import cached_file

from rse_study.data.hub_models import DESCRIPTIONS, WEIGHTS, hub_arguments
from rse_study.errors import InputError
from rse_study.models.model_files import require_regular
from rse_study.results.reader import Reader
from rse_study.spec import fingerprint_of, hash_file
from rse_study.storage.folders import locked

META = "meta.json"  # written last by every builder


def asset_path(root: Path, kind: str, key: Any) -> Path:
    """Return the path of an asset, whether it exists or not; `key` must be JSON-able."""
    return root / f"{kind}-{fingerprint_of(key)[:16]}"


def build(root: Path, kind: str, key: Any, builder: Callable[[Path], None]) -> Path:
    """Return the folder of (kind, key), made by `builder(draft)` if it does not exist.

    The builder creates the folder it receives and writes meta.json last.
    """
    final = asset_path(root, kind, key)
    if is_complete(final):
        return final
    root.mkdir(parents=True, exist_ok=True)
    with locked(root / f".{final.name}.lock"):
        if not is_complete(final):
            draft = root / f".{final.name}.draft"
            shutil.rmtree(draft, ignore_errors=True)
            shutil.rmtree(final, ignore_errors=True)
            builder(draft)
            assert is_complete(draft), f"the builder of {kind} wrote no {META}"
            draft.rename(final)
            shutil.rmtree(steps_of(draft), ignore_errors=True)
    return final


def steps_of(draft: Path) -> Path:
    """Return the folder beside a draft for a training's checkpoints, which outlive it."""
    return draft.with_suffix(".steps")


def write_meta(draft: Path, content: dict[str, Any]) -> None:
    """Write meta.json, an asset's last file, with the hash of any weights."""
    weights = draft / "model.safetensors"
    content = {**content, "weights": hash_file(weights)} if weights.is_file() else content
    (draft / META).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def came_with_archive(root: Path, name: str) -> Path:
    """Return the place of an asset's weights that came with a study's archive."""
    return root / "came" / f"{name}.safetensors"


def is_complete(directory: Path) -> bool:
    """Whether the folder has its meta.json, which builders write last."""
    return (directory / META).is_file()


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
