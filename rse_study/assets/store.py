"""Content-addressed folders, built once, completely or not at all."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.spec import fingerprint_of, hash_file
from rse_study.storage.locked import locked

META = "meta.json"  # written last by every builder
WEIGHTS_FILE = "model.safetensors"


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
    return final


def weights_in(shipped: Path | None, kind: str, key: dict[str, Any]) -> tuple[Path | None, dict[str, Any]]:
    """Return the folder of an asset's weights among those of a study's archive, and the asset's key with them."""
    folder = asset_path(shipped, kind, key) if shipped else None
    if folder is None or not is_complete(folder) or not (folder / WEIGHTS_FILE).is_file():
        return None, key
    return folder, {**key, "weights": hash_file(folder / WEIGHTS_FILE)}


def put_weights(draft: Path, shipped: Path) -> None:
    """Give a draft the weights of an archive, and the settings of their time if they are the draft's; meta.json last.

    Raises InputError where the weights are not those that were packed.
    """
    weights, meta = shipped / WEIGHTS_FILE, json.loads((shipped / META).read_text(encoding="utf-8"))
    if hash_file(weights) != meta.get("weights"):
        remedy = "Remove the folder of the study and unpack its archive again"
        raise InputError("weights are damaged", where=str(shipped), remedy=remedy)
    shutil.copyfile(weights, draft / WEIGHTS_FILE)
    theirs, own = (_settings(folder / "config.json") for folder in (shipped, draft))
    if theirs == own:
        shutil.copyfile(shipped / "config.json", draft / "config.json")
    shutil.copyfile(shipped / META, draft / META)


def _settings(config: Path) -> dict[str, Any]:
    """Return a model's settings without the version that wrote them."""
    return {**json.loads(config.read_text(encoding="utf-8")), "transformers_version": ""}


def write_meta(draft: Path, content: dict[str, Any]) -> None:
    """Write meta.json, an asset's last file, with the hash of any weights."""
    weights = draft / WEIGHTS_FILE
    content = {**content, "weights": hash_file(weights)} if weights.is_file() else content
    (draft / META).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def is_complete(directory: Path) -> bool:
    """Whether the folder has its meta.json, which builders write last."""
    return (directory / META).is_file()
