"""Files that cells share: outputs of generators, scores of bases."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch

from rse_study.collectives import Collectives
from rse_study.errors import InputError
from rse_study.models.generator_outputs import GeneratorOutputs, make_room
from rse_study.results.bit_equality import what_decides
from rse_study.results.files.atomic import read_sealed, write_sealed
from rse_study.spec import fingerprint_of
from rse_study.training.materials import Materials
from rse_study.training.provenance import provenance
from rse_study.training.trial import Trial

OUTPUTS_FOLDER = "generator-outputs"


def open_outputs(
    trial: Trial, seed: int, materials: Materials, collectives: Collectives, device: torch.device
) -> GeneratorOutputs | None:
    """Open the outputs that cells share; None without a generator or fingerprints."""
    if not trial.method.generator or not {"corpus", "generator"} <= materials.fingerprints.keys():
        return None
    root = materials.corpus.parent / OUTPUTS_FOLDER
    folder = root / fingerprint_of(_key_of_outputs(trial, seed, materials, collectives, device))[:32]
    with suppress(OSError):  # the corpus may be in a read-only folder
        make_room(root, folder)
    return GeneratorOutputs(folder)


def _key_of_outputs(
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


SCORES_FOLDER = "scores-of-bases"
KIND = "scores"
NOT_OF_SCORES = {"corpus", "generator", "synonyms"}
"""fingerprints that decide no score before the first step"""


def scores_of_base(
    trial: Trial,
    materials: Materials,
    num_workers: int,
    device: torch.device,
    measure: Callable[[], dict[str, float]],
) -> dict[str, float]:
    """Return the scores of `measure`, or those it gave another cell of this base.

    Nothing is trained yet: only base, pooling and the evaluations decide. Nothing is shared without their
    fingerprints.
    """
    if not {"base", "dev"} <= materials.fingerprints.keys():
        return measure()
    path = (
        materials.corpus.parent
        / SCORES_FOLDER
        / f"{_key_of_scores(trial, materials, num_workers, device)[:32]}.json"
    )
    with suppress(InputError):
        return read_sealed(path, KIND, _scores, missing="It is measured", remedy="It is measured again")
    scores = measure()
    if all(map(math.isfinite, scores.values())):
        with suppress(OSError):  # the corpus may be in a read-only folder
            write_sealed(path, KIND, scores)
    return scores


def _key_of_scores(trial: Trial, materials: Materials, num_workers: int, device: torch.device) -> str:
    measured = {name: one for name, one in materials.fingerprints.items() if name not in NOT_OF_SCORES}
    return fingerprint_of(
        {
            "materials": measured,
            "pooling": trial.encoder.pooling,
            "template": trial.encoder.template,
            "semantics": [part.semantics for part in (trial, trial.encoder, trial.selection, trial.replayed)],
            "compiled": trial.compiled,
            "decides": what_decides(provenance(device, num_workers, trial.precision)),
        }
    )


def _scores(content: Any) -> dict[str, float]:
    return {str(name): float(value) for name, value in content.items()}
