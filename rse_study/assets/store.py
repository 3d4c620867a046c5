"""Content-addressed folders, built once, completely or not at all."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
