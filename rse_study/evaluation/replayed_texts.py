"""Texts attacked once through a reference encoder, replayed on every encoder."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.labelled import Labelled, Text
from rse_study.errors import InputError
from rse_study.evaluation.evaluations import evaluation_row
from rse_study.evaluation.probe import Fit, fit_probe
from rse_study.evaluation.replayed import PRESET
from rse_study.evaluation.vectors import CachedEncoder, Embed, is_collapsed
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.tensors import Float

FILE = "texts.json"
C = 0.1
"""The probe's only C: choosing it for each victim and trial would cost 30 fits.

With 500 training texts MiniLM scores 78.6 on CR (best C: 80.1), 68.2 on MR (71.4), 82.0 on the generated
opinions (83.3).
"""


@dataclass(frozen=True)
class ReplayedTexts:
    """Labelled texts before and after an attack, and the probe's training texts."""

    training: Labelled
    clean: Labelled
    attacked: Labelled
    recipe: str
    reference: str

    @property
    def fingerprint(self) -> str:
        return fingerprint_of([part.fingerprint for part in (self.training, self.clean, self.attacked)])

    @property
    def num_changed(self) -> int:
        return sum(one != other for one, other in zip(self.clean.texts, self.attacked.texts, strict=True))

    def save(self, folder: Path) -> None:
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
        content = json.loads((folder / FILE).read_text(encoding="utf-8"))
        training, clean, attacked = (_part(content, name) for name in ("training", "clean", "attacked"))
        return cls(training, clean, attacked, content["recipe"], content["reference"])


@dataclass(frozen=True)
class ReplayedTextAttack:
    """A probe's accuracy x100 on attacked texts, and `clean_accuracy` on clean ones."""

    texts: ReplayedTexts

    @property
    def name(self) -> str:
        return f"{self.texts.clean.name}/{PRESET}"

    @property
    def fingerprint(self) -> str:
        return self.texts.fingerprint

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure(name=f"{self.name} accuracy", metric=f"{self.name}/accuracy"),)

    @property
    def num_sentences(self) -> int:
        return len(self.texts.training) + 2 * len(self.texts.clean)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Score a new probe on the encoder's embeddings; 0, degenerate if collapsed."""
        correct, clean = self._correct(embed), self.texts.clean
        return [
            evaluation_row(
                self, subject, clean.split, name, 100 * float(np.mean(correct[name])) if correct else 0.0, len(clean),
                degenerate=not correct, items=ItemScores.of(100.0 * correct[name]) if correct else None,
            )
            for name in ("accuracy", "clean_accuracy")
        ]  # fmt: skip

    def _correct(self, embed: Embed) -> dict[str, np.ndarray]:
        parts = (self.texts.training, self.texts.clean, self.texts.attacked)
        cached = CachedEncoder(embed)
        cached(sorted({sentence for part in parts for (sentence,) in part.texts}))  # in one call
        training, clean, attacked = (_features(cached, part.texts) for part in parts)
        if is_collapsed(np.concatenate([training, clean, attacked])):
            return {}
        fit, labels = fit_probe(training, self.texts.training.labels, C), self.texts.clean.labels
        return {
            "accuracy": fit.predict(attacked) == labels,
            "clean_accuracy": fit.predict(clean) == labels,
        }


def probe_of(embed: Embed, training: Labelled) -> Fit:
    """Fit the probe to be attacked, or raise InputError if the encoder has collapsed."""
    features = _features(embed, training.texts)
    if is_collapsed(features):
        rule, remedy = "embeddings are all one, or not finite", "Choose another replayed.reference"
        raise InputError("the reference scores texts alike", where=training.name, rule=rule, remedy=remedy)
    return fit_probe(features, training.labels, C)


def victim_of(embed: Embed, fit: Fit) -> Callable[[Sequence[Text]], Float[np.ndarray, "n c"]]:
    """Return the function that an attack queries: texts to the probe's probabilities."""
    return lambda texts: fit.probabilities(_features(embed, texts))


def _features(embed: Embed, texts: Sequence[Text]) -> Float[np.ndarray, "n d"]:
    return np.asarray(embed([sentence for (sentence,) in texts]), np.float64)


def _content(part: Labelled) -> dict[str, Any]:
    return {"texts": [sentence for (sentence,) in part.texts], "labels": part.labels.tolist()}


def _part(content: dict[str, Any], name: str) -> Labelled:
    texts: list[Text] = [(sentence,) for sentence in content[name]["texts"]]
    labels = np.array(content[name]["labels"], np.int64)
    return Labelled(content["task"], content["split"], texts, labels, tuple(content["classes"]))
