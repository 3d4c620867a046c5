"""Victims: classifiers fine-tuned once, and never on a text that will be attacked."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from rse_study.activity import ProgressCallback
from rse_study.assets.store import (
    META,
    build,
    fingerprint_of_model,
    fingerprint_of_weights,
    steps_of,
    write_meta,
)
from rse_study.data.attack_sets import unseen
from rse_study.data.labelled import Text
from rse_study.errors import InputError
from rse_study.evaluation.transfer import PRESETS, Fit, choose_by_dev, fit_probe
from rse_study.models.export import load_classifier, save_classifier
from rse_study.models.pooling import PoolingKind
from rse_study.models.text_classifier import Classifier, Inputs, TextClassifier, encode_texts
from rse_study.training.arithmetic import torch_threads
from rse_study.training.classifier import FineTuning
from rse_study.training.classifier.data import Examples, Start, Supervised, identity_of_tuning, split_off
from rse_study.training.classifier.run import FineTuned, TuningRun, fine_tune, open_run


def fit_head(
    spec: FineTuning, seed: int, start: Start, training: Supervised, *, device: str = "cpu"
) -> FineTuned:
    """Fit a logistic regression on the encoder's vectors as the classifier's head.

    Of `spec` only `max_length`, `dev_share` and `augmented` count: the dev data choose its C. Raises InputError if a
    class has no training text.
    """
    begun = time.monotonic()
    run = open_run(spec, seed, start, split_off(training, spec), torch.device(device))
    lacking = [name for label, name in enumerate(run.training.classes) if label not in run.training.targets]
    if lacking:
        what, rule = f"no text of class {', '.join(lacking)}", "each class has at least one to train on"
        remedy = "Use more training texts"
        raise InputError(what, where=f"{training.name} {training.split}", rule=rule, remedy=remedy)
    examples = (_vectors(run, run.training), _vectors(run, run.dev))
    fit = fit_probe(*examples[0], choose_by_dev(*examples, PRESETS.get("fast")))
    _set_head(run.network.head, fit)
    run.network.eval()
    seconds = round(time.monotonic() - begun, 1)
    dev = run.dev.score(run.classifier)
    return FineTuned(run.classifier, dev, (), len(run.training), len(run.dev), seconds)


class _Pooled(nn.Module):
    """A classifier without its head."""

    def __init__(self, network: Classifier) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Inputs) -> Float[Tensor, "b d"]:
        return self.network.pooled(inputs)


@torch.no_grad()
def _vectors(run: TuningRun, examples: Examples) -> tuple[Float[np.ndarray, "n d"], np.ndarray]:
    """Return what the head reads of each text, and the labels."""
    tokenizer, most = run.classifier.tokenizer, run.spec.max_length
    rows = encode_texts(examples.texts, tokenizer, most)
    vectors = np.zeros((len(rows), run.network.encoder.hidden_size))
    for places, some in TextClassifier(_Pooled(run.network), tokenizer, (), most).batches(rows):
        vectors[places] = some
    return vectors, examples.targets


def _set_head(head: nn.Linear, fit: Fit) -> None:
    """Write a fit into a head that reads vectors as they are, neither centred nor scaled."""
    weights = fit.model.coef_ / fit.scale
    bias = fit.model.intercept_ - weights @ fit.shift
    if len(weights) == 1:  # of two classes, the second's log odds
        weights, bias = np.concatenate([0 * weights, weights]), np.concatenate([0 * bias, bias])
    with torch.no_grad():
        head.weight.copy_(torch.from_numpy(weights))
        head.bias.copy_(torch.from_numpy(bias))


KIND = "victim"
WEAK = 0.6  # clean accuracy below which a victim is marked weak: a poor classifier is easily attacked


@dataclass(frozen=True)
class VictimClassifier:
    """A victim on disk."""

    folder: Path
    dev_accuracy: float
    """a fraction; Spearman's rho for a regression, mean F1 for spans"""
    is_weak: bool
    num_removed: int
    """training texts that were dropped because they are inputs"""

    def load(self) -> TextClassifier:
        return load_classifier(self.folder)

    @property
    def weights(self) -> str:
        """sha256 of the weights, which differ by device even for the same materials."""
        return fingerprint_of_weights(self.folder)


def victim(
    root: Path,
    base: str,
    pooling: PoolingKind,
    training: Supervised,
    inputs: Sequence[Text],
    seed: int,
    spec: FineTuning | None = None,
    *,
    is_probe: bool = False,
    augment: Callable[[Supervised], Supervised] = lambda given: given,
    revision: str = "main",
    device: str = "cpu",
    on_progress: ProgressCallback = lambda done, total: None,
) -> VictimClassifier:
    """Return the victim for these materials, fine-tuning it if it is not there yet.

    An interrupted fine-tuning resumes. A share of `training` selects the checkpoint. A probe leaves
    the encoder as it is.
    """
    places = unseen(training.texts, inputs)
    kept, num_removed = augment(training.take(places)), len(training) - len(places)
    wanted = spec or FineTuning()
    start = Start(base, pooling, fingerprint_of_model(base, revision), revision)
    key = identity_of_tuning(wanted, seed, start, kept) | ({"is_probe": True} if is_probe else {})

    def make(draft: Path) -> None:
        with torch_threads(1):
            tuned = (
                fit_head(wanted, seed, start, kept, device=device)
                if is_probe
                else fine_tune(
                    wanted, seed, start, kept, steps_of(draft), device=device, on_progress=on_progress
                )
            )
        save_classifier(draft, tuned.classifier)
        _describe(draft, tuned, num_removed, {**key, "trained_on": kept.name, "device": device})

    folder = build(root, KIND, key, make)
    meta = json.loads((folder / META).read_text(encoding="utf-8"))
    return VictimClassifier(folder, meta["dev_accuracy"], meta["weak"], num_removed)


def _describe(draft: Path, tuned: FineTuned, num_removed: int, made_of: dict[str, object]) -> None:
    write_meta(
        draft,
        {
            "asset": KIND,
            **made_of,
            "dev_accuracy": tuned.dev,
            "weak": tuned.dev < WEAK,
            "num_removed": num_removed,
            "num_training": tuned.num_training,
            "num_dev": tuned.num_dev,
            "history": tuned.history,
            "seconds": tuned.seconds,
        },
    )
