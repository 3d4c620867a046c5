"""Baselines scored once for all studies with the same base."""

from collections.abc import Sequence
from contextlib import suppress

import torch

from rse_study.activity import ProgressCallback
from rse_study.evaluation.evaluations import Evaluation
from rse_study.results.bit_equality import what_decides
from rse_study.results.files.evaluation_file import write_evaluations, written_rows
from rse_study.results.records import EvaluationRow
from rse_study.spec import fingerprint_of
from rse_study.study.baselines import measure_baselines
from rse_study.study.definition.config import Baseline
from rse_study.training.materials import Materials
from rse_study.training.provenance import provenance
from rse_study.training.trial import Trial

FOLDER = "scores-and-items-of-baselines"
"""folder beside the tokenised corpus, on the machine that measures"""


def measure_baseline_once(
    trial: Trial,
    materials: Materials,
    name: Baseline,
    evaluations: Sequence[Evaluation],
    device: str = "cpu",
    on_progress: ProgressCallback = lambda done, total: None,
) -> list[EvaluationRow]:
    """Return a baseline's rows, read from disk if another study measured them."""
    if "base" not in materials.fingerprints:
        return measure_baselines(
            trial, materials, [name], evaluations, device=device, on_progress=on_progress
        )
    folder = materials.corpus.parent / FOLDER / _key(trial, materials, device)[:32]
    known = written_rows(folder, name, {(one.name, one.fingerprint) for one in evaluations})
    lacking = [one for one in evaluations if one.name not in {row.evaluation for row in known}]
    measured = measure_baselines(
        trial, materials, [name] if lacking else [], lacking, device=device, on_progress=on_progress
    )
    if measured:
        with suppress(OSError):  # the corpus may be in a read-only folder
            write_evaluations(folder, measured)
    return [*known, *measured]


def _key(trial: Trial, materials: Materials, device: str) -> str:
    return fingerprint_of(
        {
            "base": materials.fingerprints["base"],
            "pooling": trial.encoder.pooling,
            "template": trial.encoder.template,
            "semantics": trial.encoder.semantics,
            "decides": what_decides(provenance(torch.device(device))),
        }
    )
