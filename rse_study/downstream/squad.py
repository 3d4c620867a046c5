"""SQuAD 1.1 after fine-tuning, on its dev set (DCL Table 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rse_study.data.questions import Questions, read_squad
from rse_study.downstream.fine_tuned import FineTunedTask, drawn, with_synonyms
from rse_study.downstream.registry import SYNONYMS
from rse_study.downstream.settings import Settings
from rse_study.evaluation.classification import SQUAD_METRICS, ClassifierScore, evaluate_squad
from rse_study.models.span_reader import SpanReader
from rse_study.models.text_classifier import TextClassifier


@dataclass(frozen=True)
class SquadFineTuned(FineTunedTask):
    """F1 and exact match on the dev set; that of the test set was never published."""

    @classmethod
    def read(cls, name: str, data_dir: Path, settings: Settings) -> "SquadFineTuned":
        (task, preset), tasks = name.split("/"), settings.tasks
        training, dev = read_squad("train", data_dir), read_squad("dev", data_dir)
        chosen = training.take(drawn(len(training), tasks.num_training, tasks.seed))
        changed = (with_synonyms(dev, data_dir),) if preset == SYNONYMS else ()
        return cls(task, chosen, (dev,), settings, changed=changed)

    @property
    def labels(self) -> tuple[str, ...]:
        return SQUAD_METRICS

    def scores(self, classifier: TextClassifier) -> Iterator[tuple[str, ClassifierScore]]:
        """Yield `f1` and `exact_match`."""
        assert isinstance(classifier, SpanReader)
        for given in self.scored:
            assert isinstance(given, Questions)
            for score in evaluate_squad(classifier.answers, given, seed=self.settings.tasks.seed):
                yield score.metric, score
