"""Encoders and generators trained here that a study's cells stand on."""

from pathlib import Path

from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.assets.store import is_complete
from rse_study.assets.tiny import TINY
from rse_study.results.archive import ASSETS
from rse_study.results.reader import Reader

KINDS = ("tiny-*", "minilm-mlm-*")


def trained_assets(study_dir: Path, cache_dir: Path) -> dict[str, Path]:
    """Return the trained models that the study's cells have on record and that are here: folders by fingerprint."""
    wanted = _wanted(study_dir)
    candidates = [folder for kind in KINDS for folder in sorted((cache_dir / "assets").glob(kind))]
    found = {fingerprint_of_model(str(one)): one for one in candidates if is_complete(one)} if wanted else {}
    return {fingerprint: folder for fingerprint, folder in found.items() if fingerprint in wanted}


def weights_to_pack(study_dir: Path, cache_dir: Path) -> list[Path]:
    """Return the folders of weights for a study's archive; those of an archive go on as they came."""
    return sorted((study_dir / ASSETS).glob("*/")) or list(trained_assets(study_dir, cache_dir).values())


def lacks_trained(study_dir: Path, cache_dir: Path) -> bool:
    """Whether a model that the study's cells stand on would have to be trained again."""
    return bool(_wanted(study_dir) - trained_assets(study_dir, cache_dir).keys())


def _wanted(study_dir: Path) -> set[str]:
    """Return the fingerprints on record of bases made from the corpus, and of MiniLM's generator."""
    with Reader(study_dir) as reader:
        cells = reader.records()
    wanted = set()
    for cell in cells:
        encoder, materials = cell.config["encoder"]["name"], cell.provenance.get("materials", {})
        part = "base" if encoder in TINY else "generator" if encoder == "minilm" else ""
        wanted |= {materials[part]} if part in materials else set()
    return wanted
