"""Materials as a JSON file in the study's folder: how the driver hands them to workers, nothing pickled."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.pairs import StsPairs
from rse_study.spec import fingerprint_of
from rse_study.training.materials import Materials


def write_materials(folder: Path, materials: Materials) -> Path:
    """Write the materials, named by their content; one that is there already is left alone."""
    dev = materials.dev
    content = {
        "corpus": str(materials.corpus),
        "base": str(materials.base),
        "generator": str(materials.generator),
        "generator_revision": materials.generator_revision,
        "synonyms": materials.synonyms,
        "replayed": materials.replayed,
        "replayed_texts": materials.replayed_texts,
        "fingerprints": materials.fingerprints,
        "dev": {
            "name": dev.name,
            "split": dev.split,
            "first": dev.first,
            "second": dev.second,
            "gold": dev.gold.tolist(),
            "subsets": {name: [part.start, part.stop] for name, part in dev.subsets.items()},
        },
    }
    path = folder / f"{fingerprint_of(content)[:16]}.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        draft.replace(path)
    return path


def read_materials(path: Path) -> Materials:
    """The materials in a file that `write_materials` wrote."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    dev = content.pop("dev")
    subsets = {name: slice(start, stop) for name, (start, stop) in dev.pop("subsets").items()}
    pairs = StsPairs(**{**dev, "gold": np.array(dev["gold"], dtype=np.float64)}, subsets=subsets)
    return Materials(**{**content, "corpus": Path(content["corpus"])}, dev=pairs)
