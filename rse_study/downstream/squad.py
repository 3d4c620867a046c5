"""SQuAD 1.1 after fine-tuning, on its dev set (DCL Table 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rse_study.data.questions import Questions, read_squad
from rse_study.downstream.fine_tuned import FineTunedTask, drawn
from rse_study.downstream.settings import Settings
from rse_study.evaluation.classification import ClassifierScore
from rse_study.evaluation.squad import SQUAD_METRICS, evaluate_squad
from rse_study.models.span_reader import SpanReader
from rse_study.models.text_classifier import TextClassifier


@dataclass(frozen=True)
class SquadFineTuned(FineTunedTask):
    """F1 and exact match on the dev set; that of the test set was never published."""

    @classmethod
    def read(cls, name: str, data_dir: Path, settings: Settings) -> "SquadFineTuned":
        training, tasks = read_squad("train", data_dir), settings.tasks
        chosen = training.take(drawn(len(training), tasks.num_training, tasks.seed))
        return cls(name.partition("/")[0], chosen, (read_squad("dev", data_dir),), settings)

    @property
    def labels(self) -> tuple[str, ...]:
        return SQUAD_METRICS

    def scores(self, classifier: TextClassifier) -> Iterator[tuple[str, ClassifierScore]]:
        """Yield `f1` and `exact_match`."""
        assert isinstance(classifier, SpanReader)
        for given in self.held_out:
            assert isinstance(given, Questions)
            for score in evaluate_squad(classifier.answers, given, seed=self.settings.tasks.seed):
                yield score.metric, score
