"""Scores of the base encoder, measured once for all cells that begin with it."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch

from rse_study.errors import InputError
from rse_study.results.bit_equality import what_decides
from rse_study.results.files.atomic import read_sealed, write_sealed
from rse_study.spec import fingerprint_of
from rse_study.training.materials import Materials
from rse_study.training.provenance import provenance
from rse_study.training.trial import Trial

FOLDER = "scores-of-bases"
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
    path = materials.corpus.parent / FOLDER / f"{_key(trial, materials, num_workers, device)[:32]}.json"
    with suppress(InputError):
        return read_sealed(path, KIND, _scores, missing="It is measured", remedy="It is measured again")
    scores = measure()
    if all(map(math.isfinite, scores.values())):
        with suppress(OSError):  # the corpus may be in a read-only folder
            write_sealed(path, KIND, scores)
    return scores


def _key(trial: Trial, materials: Materials, num_workers: int, device: torch.device) -> str:
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
