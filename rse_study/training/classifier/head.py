"""A linear probe: a classifier whose head alone is fitted, on frozen vectors."""

import time

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from rse_study.errors import InputError
from rse_study.evaluation.transfer import PRESETS, Fit, choose_by_dev, fit_probe
from rse_study.models.text_classifier import Classifier, Inputs, TextClassifier, encode_texts
from rse_study.training.classifier.config import FineTuning
from rse_study.training.classifier.data import Examples, Start, Supervised, split_off
from rse_study.training.classifier.run import FineTuned, TuningRun, open_run


def fit_head(
    spec: FineTuning, seed: int, start: Start, training: Supervised, *, device: str = "cpu"
) -> FineTuned:
    """Fit a logistic regression on the encoder's vectors as the classifier's head.

    Of `spec` only `max_length` and `dev_share` count: the dev data choose its C. Raises InputError if a class has no
    training text.
    """
    begun = time.monotonic()
    run = open_run(spec, seed, start, split_off(training, None, spec.dev_share), torch.device(device))
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
