"""Labelled texts attacked once through a reference encoder and replayed on others: accuracy at a probe's price."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from rse_study.data.labelled import Labelled, Text
from rse_study.errors import InputError
from rse_study.evaluation.cached_encoder import CachedEncoder
from rse_study.evaluation.probe import Fit, fit_probe
from rse_study.evaluation.sts import Embed
from rse_study.evaluation.vectors import is_collapsed
from rse_study.spec import fingerprint_of

FILE = "texts.json"
# The probe's one C, of the attack's victim and of every trial: choosing it anew at each look would cost 30 fits. With
# 500 training texts MiniLM scores 78.6 on CR (best C: 80.1), 68.2 on MR (71.4), 82.0 on the generated opinions (83.3).
C = 0.1


@dataclass(frozen=True)
class ReplayedTexts:
    """`attacked` are `clean` under attack, text by text; a probe fitted on `training` judges both.

    By `recipe`, a label, of a probe on `reference`.
    """

    training: Labelled
    clean: Labelled
    attacked: Labelled
    recipe: str
    reference: str

    @property
    def fingerprint(self) -> str:
        """sha256 (hex) of all texts and labels."""
        return fingerprint_of([part.fingerprint for part in (self.training, self.clean, self.attacked)])

    @property
    def num_changed(self) -> int:
        """Texts that the attack left otherwise than they were."""
        return sum(one != other for one, other in zip(self.clean.texts, self.attacked.texts, strict=True))

    def save(self, folder: Path) -> None:
        """Write to a folder that is there."""
        content = {
            "task": self.clean.name,
            "split": self.clean.split,
            "classes": self.clean.classes,
            "recipe": self.recipe,
            "reference": self.reference,
            **{name: _content(getattr(self, name)) for name in ("training", "clean", "attacked")},
        }
        (folder / FILE).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def open(cls, folder: Path) -> "ReplayedTexts":
        """What `save` wrote."""
        content = json.loads((folder / FILE).read_text(encoding="utf-8"))
        training, clean, attacked = (_part(content, name) for name in ("training", "clean", "attacked"))
        return cls(training, clean, attacked, content["recipe"], content["reference"])


@dataclass(frozen=True)
class ReplayedAccuracy:
    """Both x100, over all inputs. `degenerate`: embeddings were constant or not finite, which counts as 0."""

    accuracy: float  # on the attacked texts
    clean_accuracy: float
    degenerate: bool


def replay_texts(embed: Embed, texts: ReplayedTexts) -> ReplayedAccuracy:
    """The same adversarial texts for every encoder, by a fresh probe on its own clean embeddings of `training`."""
    parts = (texts.training, texts.clean, texts.attacked)
    remembered = CachedEncoder(embed)
    remembered(sorted({sentence for part in parts for (sentence,) in part.texts}))  # in one call
    training, clean, attacked = (_features(remembered, part.texts) for part in parts)
    if is_collapsed(np.concatenate([training, clean, attacked])):
        return ReplayedAccuracy(0.0, 0.0, True)
    fit = fit_probe(training, texts.training.labels, C)
    under_attack, before = (
        100 * fit.accuracy(features, texts.clean.labels) for features in (attacked, clean)
    )
    return ReplayedAccuracy(under_attack, before, False)


def probe_of(embed: Embed, training: Labelled) -> Fit:
    """The probe that is attacked: as `replay_texts` fits it. Raises InputError where the encoder has collapsed."""
    features = _features(embed, training.texts)
    if is_collapsed(features):
        rule, remedy = "embeddings are all one, or not finite", "Choose another replayed.reference"
        raise InputError("the reference tells no texts apart", where=training.name, rule=rule, remedy=remedy)
    return fit_probe(features, training.labels, C)


def victim_of(embed: Embed, fit: Fit) -> Callable[[Sequence[Text]], Float[np.ndarray, "n c"]]:
    """What an attack asks: texts to the probe's probabilities."""
    return lambda texts: fit.probabilities(_features(embed, texts))


def as_metrics(scores: ReplayedAccuracy) -> dict[str, float]:
    """As a trial's history has them: robust/accuracy, robust/clean_accuracy, ..."""
    return {f"robust/{name}": float(value) for name, value in asdict(scores).items()}


def _features(embed: Embed, texts: Sequence[Text]) -> Float[np.ndarray, "n d"]:
    return np.asarray(embed([sentence for (sentence,) in texts]), np.float64)


def _content(part: Labelled) -> dict[str, Any]:
    return {"texts": [sentence for (sentence,) in part.texts], "labels": part.labels.tolist()}


def _part(content: dict[str, Any], name: str) -> Labelled:
    texts: list[Text] = [(sentence,) for sentence in content[name]["texts"]]
    labels = np.array(content[name]["labels"], np.int64)
    return Labelled(content["task"], content["split"], texts, labels, tuple(content["classes"]))
