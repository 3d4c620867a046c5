"""GLUE after fine-tuning (L2P-CSR Table 4, DCL Table 1), on validation splits."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rse_study.assets.victim import taken
from rse_study.data.glue import read_glue
from rse_study.data.labelled import Labelled
from rse_study.data.pairs import StsPairs
from rse_study.data.tasks import GLUE
from rse_study.downstream.fine_tuned import FineTunedTask, drawn, with_synonyms
from rse_study.downstream.registry import SYNONYMS
from rse_study.downstream.settings import Settings
from rse_study.evaluation.classification import (
    GLUE_METRICS,
    ClassifierScore,
    evaluate_glue,
    evaluate_glue_pairs,
)
from rse_study.models.text_classifier import TextClassifier
from rse_study.training.classifier.data import Supervised

PREFIX = "GLUE-"


@dataclass(frozen=True)
class GlueFineTuned(FineTunedTask):
    """The metrics of one GLUE task on its validation split, or on both of MNLI's.

    Low accuracy makes no row degenerate: two thirds of MRPC's pairs are paraphrases, and WNLI is rarely learnt.
    """

    @classmethod
    def read(cls, name: str, data_dir: Path, settings: Settings) -> "GlueFineTuned":
        (task, preset), tasks = name.split("/"), settings.tasks
        glue = task.removeprefix(PREFIX)
        training, *held_out = (
            read_glue(glue, split, data_dir, tasks.glue) for split in GLUE.get(glue).splits
        )
        chosen = taken(training, drawn(len(training), tasks.num_training, tasks.seed))
        changed = [with_synonyms(given, data_dir) for given in held_out if preset == SYNONYMS]
        return cls(task, chosen, tuple(held_out), settings, changed=tuple(changed))

    @property
    def labels(self) -> tuple[str, ...]:
        metrics = GLUE_METRICS.get(self.task)
        return tuple(self._label(metric, given.split) for given in self.held_out for metric in metrics)

    def scores(self, classifier: TextClassifier) -> Iterator[tuple[str, ClassifierScore]]:
        """Yield labels such as `f1`, or `accuracy validation_matched` for MNLI."""
        for given in self.scored:
            for score in self._of_split(classifier, given):
                yield self._label(score.metric, score.split), score

    def _of_split(self, classifier: TextClassifier, given: Supervised) -> list[ClassifierScore]:
        seed = self.settings.tasks.seed
        if isinstance(given, StsPairs):
            return evaluate_glue_pairs(classifier.scores, given, seed=seed)
        assert isinstance(given, Labelled)
        return evaluate_glue(classifier.predicting(given.classes), given, seed=seed)

    def _label(self, metric: str, split: str) -> str:
        return metric if len(self.held_out) == 1 else f"{metric} {split}"
