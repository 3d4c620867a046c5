"""What a user of a hub name gets from the cache alone, as one JSON object on stdout.

A process of its own: the hub's settings are read once, when it is imported.
"""

import json
import sys
from pathlib import Path

import torch

from rse_study.assets import prepare
from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.errors import InputError
from rse_study.models.loading import load_encoder, untrained
from rse_study.training.loop import train
from rse_study.training.trial import Trial


def first_weights(name: str, revision: str = "main") -> list[float]:
    """Something of the encoder's weights."""
    encoder, _ = load_encoder(name, "stored", revision)
    return encoder.backbone.get_input_embeddings().weight[7, :3].tolist()


def refused(name: str, revision: str = "main") -> str:
    """The message a name earns that cannot be had."""
    try:
        load_encoder(name, "mean", revision)
    except InputError as error:
        return str(error)
    return ""


def two_steps(name: str, revision: str, folder: Path) -> tuple[dict[str, str], str, int]:
    """Materials and the last step of a run that names base and generator by one hub name."""
    trial = Trial.model_validate(
        {
            "encoder": {"name": name, "pooling": "mean", "revision": revision},
            "corpus": {"source": "sentences.txt"},
            "selection": {"dev": "builtin"},
            "budget": {"unit": "steps", "amount": 2},
            "batch_size": 8,
            "max_length": 12,
        }
    )
    materials = prepare(trial, folder / "cache", folder)
    points = list(train(trial, 0, materials, folder / "run"))
    return materials.fingerprints, materials.generator, points[-1].t


def main(name: str, folder: Path) -> None:
    """Everything at once: starting a process is what costs."""
    torch.set_num_threads(1)
    encoder, tokenizer = load_encoder(name)
    fingerprints, generator, last = two_steps(name, "later", folder)
    found = {
        "pooling": encoder.pooling,
        "tokens": len(tokenizer),
        "weights": {revision: first_weights(name, revision) for revision in ("main", "later")},
        "prints": {revision: fingerprint_of_model(name, revision) for revision in ("main", "later")},
        "untrained": untrained(name)[0].hidden_size,
        "fingerprints": fingerprints,
        "generator": generator,
        "last": last,
        "no such name": refused("somebody/nothing"),
        "no such revision": refused(name, "never"),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
