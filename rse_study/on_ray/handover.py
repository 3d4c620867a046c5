"""Materials as a JSON file in the study's folder: how the driver hands them to workers, nothing pickled."""

import json
from pathlib import Path
from typing import Any

from rse_study.data.pairs import StsPairs
from rse_study.results.atomic import write_whole
from rse_study.spec import fingerprint_of
from rse_study.training.materials import Materials


def write_materials(folder: Path, materials: Materials) -> Path:
    """Write the materials, named by their content; one that is there already is left alone."""
    content = {
        "corpus": str(materials.corpus),
        "base": str(materials.base),
        "generator": str(materials.generator),
        "generator_revision": materials.generator_revision,
        "synonyms": materials.synonyms,
        "replayed": materials.replayed,
        "replayed_texts": materials.replayed_texts,
        "watched": materials.watched,
        "fingerprints": materials.fingerprints,
        "dev": materials.dev.to_json(),
    }
    path = folder / f"{fingerprint_of(content)[:16]}.json"
    if not path.exists():
        write_whole(path, json.dumps(content, ensure_ascii=False))
    return path


def read_materials(path: Path) -> Materials:
    """The materials in a file that `write_materials` wrote."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    pairs = StsPairs.from_json(content.pop("dev"))
    return Materials(**{**content, "corpus": Path(content["corpus"])}, dev=pairs)
