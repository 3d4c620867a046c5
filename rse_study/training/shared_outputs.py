"""Generator outputs that cells share, keyed by all that they depend on."""

from contextlib import suppress
from typing import Any

import torch

from rse_study.collectives import Collectives
from rse_study.models.generator_outputs import GeneratorOutputs, make_room
from rse_study.results.bit_equality import what_decides
from rse_study.spec import fingerprint_of
from rse_study.training.materials import Materials
from rse_study.training.provenance import provenance
from rse_study.training.trial import Trial

FOLDER = "generator-outputs"


def open_outputs(
    trial: Trial, seed: int, materials: Materials, collectives: Collectives, device: torch.device
) -> GeneratorOutputs | None:
    """Open the outputs that cells share; None without a generator or fingerprints."""
    if not trial.method.generator or not {"corpus", "generator"} <= materials.fingerprints.keys():
        return None
    root = materials.corpus.parent / FOLDER
    folder = root / fingerprint_of(_key(trial, seed, materials, collectives, device))[:32]
    with suppress(OSError):  # the corpus may be in a read-only folder
        make_room(root, folder)
    return GeneratorOutputs(folder)


def _key(
    trial: Trial, seed: int, materials: Materials, collectives: Collectives, device: torch.device
) -> dict[str, Any]:
    """Return all that the outputs depend on; sharing cells may differ in the rest."""
    return {
        "corpus": materials.fingerprints["corpus"],
        "generator": materials.fingerprints["generator"],
        "seed": seed,
        "batch_size": trial.batch_size,
        "chunk_size": trial.chunk_size,
        "settings": trial.method.generator_settings,
        "semantics": [trial.semantics, trial.encoder.semantics],
        "rank": collectives.rank,
        **({"graphed": True} if trial.graphed else {}),  # places in batches of another width
        # Versions, machine, precision, workers and threads: where two logits are nearly equal, they may decide.
        "decides": what_decides(provenance(device, collectives.size, trial.precision)),
    }
