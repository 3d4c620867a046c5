"""Encoders and generators trained here that a study's cells stand on."""

from pathlib import Path

from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.assets.store import is_complete
from rse_study.results.reader import Reader

KINDS = ("tiny-*", "minilm-mlm-*")


def trained_assets(study_dir: Path, cache_dir: Path) -> list[Path]:
    """Return the folders of trained models that a study's cells have on record."""
    with Reader(study_dir) as reader:
        materials = [cell.provenance.get("materials", {}) for cell in reader.records()]
    wanted = {of_cell.get(part) for of_cell in materials for part in ("base", "generator")}
    folders = [folder for kind in KINDS for folder in sorted((cache_dir / "assets").glob(kind))]
    return [one for one in folders if is_complete(one) and fingerprint_of_model(str(one)) in wanted]
