"""Tasks after fine-tuning: NLI and reviews, GLUE, SQuAD.

For ANLI, V-advCSE (Table 3) trains as Nie et al. (2020) do, on MNLI, SNLI, ANLI and FEVER together. We use
those that are in the data folder. If a task has no training set there, the small SNLI subset trains a weak
classifier.
GLUE is scored on its validation splits (L2P-CSR Table 4, DCL Table 1), SQuAD on its dev set (DCL Table 2).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Int

from rse_study.activity import ProgressCallback
from rse_study.assets.victim import VictimClassifier, victim
from rse_study.data import GLUE, NLI_CLASSES
from rse_study.data.attack_sets import training_for
from rse_study.data.hub import read_glue
from rse_study.data.labelled import Labelled, StsPairs, Text
from rse_study.data.labelled_sets import ANLI_ROUNDS, REVIEWS, Questions, files_of, read_labelled, read_squad
from rse_study.data.text_files import SET_DATA
from rse_study.downstream import FINE_TUNED, SYNONYMS, Settings
from rse_study.downstream.models import ModelFiles
from rse_study.errors import MissingFile
from rse_study.evaluation import classification
from rse_study.evaluation.changes import ChangeResources
from rse_study.evaluation.evaluations import Embed, evaluation_row
from rse_study.evaluation.invariance import SEED, changed_text
from rse_study.models.text_classifier import SpanReader, TextClassifier
from rse_study.registry import Registry
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.streams import Streams
from rse_study.training.classifier.data import Supervised


@dataclass(frozen=True)
class FineTunedTask(ABC):
    """A task that is scored on held-out splits, which never select the epoch."""

    fine_tunes: ClassVar = True
    task: str
    training: Supervised
    held_out: tuple[Supervised, ...]
    settings: Settings
    lacking: tuple[str, ...] = ()
    """Missing files of the task, relative to the data folder."""
    changed: tuple[Supervised, ...] = ()
    """The held-out splits with words replaced by synonyms, scored in their place by the same classifier."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Aggregations shown to readers, the main one first."""

    @abstractmethod
    def scores(self, classifier: TextClassifier) -> Iterator[tuple[str, EvaluationRow]]:
        """Yield an aggregation and its score for every figure."""

    def is_worthless(self, score: EvaluationRow, made: VictimClassifier) -> bool:
        """Whether a score says nothing about the encoder."""
        return score.degenerate

    def relocated(self, move: Callable[[str], str]) -> "FineTunedTask":
        return replace(self, settings=self.settings.relocated(move))

    @property
    def name(self) -> str:
        return f"{self.task}/{SYNONYMS if self.changed else FINE_TUNED}"

    @property
    def scored(self) -> tuple[Supervised, ...]:
        return self.changed or self.held_out

    @cached_property
    def fingerprint(self) -> str:
        texts = [given.fingerprint for given in (self.training, *self.held_out, *self.changed)]
        return fingerprint_of([*texts, self.settings.fine_tuning.identity(), self.settings.tasks.seed])

    @property
    def measures(self) -> tuple[Measure, ...]:
        how = f", {SYNONYMS}" if self.changed else ""
        return tuple(
            Measure(name=f"{self.task} {label}{how}", metric=f"{self.name}/{label}") for label in self.labels
        )

    @property
    def num_sentences(self) -> int:
        """A lower bound: each epoch costs about three passes over the training texts."""
        num_held_out = sum(len(given) for given in self.held_out)
        return 3 * self.settings.fine_tuning.epochs * len(self.training) + num_held_out

    def score_weights(self, weights: ModelFiles, embed: Embed, subject: str) -> list[EvaluationRow]:
        return self.rows(self.classifier(weights), weights, subject)

    def classifier(
        self, weights: ModelFiles, on_progress: ProgressCallback = lambda done, total: None
    ) -> VictimClassifier:
        """Return the classifier; tasks with the same training share one."""
        scored: list[Text] = [text for given in self.held_out for text in given.texts]
        return classifier_of(
            weights, self.training, scored, self.settings.tasks.seed, self.settings, on_progress
        )

    def rows(self, made: VictimClassifier, weights: ModelFiles, subject: str) -> list[EvaluationRow]:
        classifier = made.load()
        classifier.network.to(weights.device)
        return [
            evaluation_row(
                self, subject, score.split, label, score.value, score.num_examples,
                degenerate=self.is_worthless(score, made), num_skipped=score.num_skipped, seed=score.seed,
                items=score.items,
            )
            for label, score in self.scores(classifier)
        ]  # fmt: skip


def classifier_of(
    weights: ModelFiles,
    training: Supervised,
    scored: Sequence[Text],
    seed: int,
    settings: Settings,
    on_progress: ProgressCallback,
    *,
    is_probe: bool = False,
) -> VictimClassifier:
    """Return the classifier or probe made from the encoder on no text of `scored`."""
    tuning = settings.fine_tuning.model_copy(update=weights.tuning)
    augment = partial(augmented, share=tuning.augmented, seed=seed, data_dir=settings.words)
    return victim(
        weights.made, weights.base, weights.pooling_of_classifiers, training, scored, seed, tuning,
        is_probe=is_probe, augment=augment, revision=weights.revision, device=weights.device,
        on_progress=on_progress,
    )  # fmt: skip


def augmented(given: Supervised, *, share: float, seed: int, data_dir: Path) -> Supervised:
    """Append a copy of each text with synonyms in it; nothing where the share is 0."""
    if not share:
        return given
    copies = with_synonyms(given, data_dir, share, seed)
    twice = given.take(np.tile(np.arange(len(given)), 2))
    sides = ("first", "second") if isinstance(given, StsPairs) else ("texts",)
    return replace(twice, **{side: getattr(given, side) + getattr(copies, side) for side in sides})


def with_synonyms(given: Supervised, data_dir: Path, share: float = 0.1, seed: int = SEED) -> Supervised:
    """Replace a share of the words by WordNet synonyms; contexts of questions stay."""
    changed = partial(changed_text, name=SYNONYMS, resources=ChangeResources(data_dir, share), seed=seed)
    if isinstance(given, StsPairs):
        return replace(given, first=[*map(changed, given.first)], second=[*map(changed, given.second)])
    if isinstance(given, Questions):
        return replace(given, texts=[(changed(question), context) for question, context in given.texts])
    return replace(given, texts=[tuple(map(changed, text)) for text in given.texts])


def drawn(num_given: int, num_wanted: int, seed: int) -> Int[np.ndarray, " m"]:
    """Return sorted indices of randomly chosen training texts; 0 wanted means all."""
    if not num_wanted or num_wanted >= num_given:
        return np.arange(num_given)
    return np.sort(Streams(seed).numpy("order").choice(num_given, num_wanted, replace=False))


Split = tuple[str, str]
_TRAINING: Registry[tuple[Split, ...]] = Registry(
    "NLI task",
    {
        "SNLI": (("SNLI", "train"),),
        "MNLI": (("MNLI", "train"),),
        "ANLI": tuple((task, "train") for task in ("MNLI", "SNLI", *ANLI_ROUNDS, "FEVER")),
        **{task: ((task, "train"),) for task in ("FEVER", *REVIEWS)},
    },
)
_HELD_OUT: dict[str, tuple[Split, ...]] = {
    "SNLI": (("SNLI", "test"),),
    "MNLI": (("MNLI", "dev_matched"), ("MNLI", "dev_mismatched")),
    "ANLI": tuple((task, split) for split in ("test", "dev") for task in ANLI_ROUNDS),
    "FEVER": (("FEVER", "dev"),),
    **{task: ((task, "test"),) for task in REVIEWS},
}
_ROUND = "ANLI-"


@dataclass(frozen=True)
class NliFineTuned(FineTunedTask):
    """Accuracy on NLI's and reviews' held-out splits, and averages over ANLI's rounds."""

    @classmethod
    def read(cls, name: str, data_dir: Path, settings: Settings) -> "NliFineTuned":
        task, tasks = name.partition("/")[0], settings.tasks
        held_out, unscored = _present(_HELD_OUT[task], data_dir)
        if not held_out:
            raise _missing(f"no split of {task} to score", unscored, data_dir)
        parts, untrained = _present(_TRAINING.get(task), data_dir)
        training = _joined(parts) if parts else _fallback(task, untrained, data_dir)
        chosen = training.take(drawn(len(training), tasks.num_training, tasks.seed))
        return cls(task, chosen, tuple(held_out), settings, (*untrained, *unscored))

    @property
    def labels(self) -> tuple[str, ...]:
        """The mean over ANLI's rounds (V-advCSE's `All`), otherwise every split."""
        splits = dict.fromkeys(given.split for given in self.held_out)
        whole = [split for split in splits if self._has_all_rounds(split)]
        if whole:
            return tuple(f"mean {split}" for split in whole)
        return tuple(self._label(given.name, given.split) for given in self.held_out)

    def scores(self, classifier: TextClassifier) -> Iterator[tuple[str, EvaluationRow]]:
        """Yield labels such as `R1 test`, `all test` (examples) and `mean test` (rounds)."""
        tasks = [given for given in self.held_out if isinstance(given, Labelled)]
        predict, seed = classifier.predicting(tasks[0].classes), self.settings.tasks.seed
        for score in classification.evaluate_nli(predict, tasks, seed=seed):
            yield self._label(score.task, score.split), score

    def is_worthless(self, score: EvaluationRow, made: VictimClassifier) -> bool:
        """Whether the classifier gives one answer to everything, or is below 60% on dev."""
        return score.degenerate or made.is_weak

    def _has_all_rounds(self, split: str) -> bool:
        return {given.name for given in self.held_out if given.split == split} == set(ANLI_ROUNDS)

    def _label(self, task: str, split: str) -> str:
        if task.startswith(_ROUND):
            return f"{task.removeprefix(_ROUND)} {split}"
        return "accuracy" if len(_HELD_OUT[task]) == 1 else f"accuracy {split}"


def _present(splits: Sequence[Split], data_dir: Path) -> tuple[list[Labelled], list[str]]:
    found, lacking = list[Labelled](), list[str]()
    for task, split in splits:
        try:
            found.append(read_labelled(task, split, data_dir))
        except MissingFile:
            lacking.extend(files_of(task, split))
    return found, lacking


def _joined(parts: Sequence[Labelled]) -> Labelled:
    """Merge the parts; a single one keeps its name, so that tasks can share its classifier."""
    if len(parts) == 1:
        return parts[0]
    texts = [text for part in parts for text in part.texts]
    labels = np.concatenate([part.labels for part in parts])
    return Labelled("+".join(part.name for part in parts), "train", texts, labels, NLI_CLASSES)


def _fallback(task: str, lacking: Sequence[str], data_dir: Path) -> Labelled:
    try:
        return training_for(task.lower() if task in REVIEWS else "snli", data_dir)
    except MissingFile:
        raise _missing(f"no training texts for {task}", lacking, data_dir) from None


def _missing(what: str, files: Sequence[str], data_dir: Path) -> MissingFile:
    rule = f"the layout is {', '.join(files)} (plain or .gz) in the data folder"
    return MissingFile(what, where=str(data_dir), rule=rule, remedy=SET_DATA)


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
        chosen = training.take(drawn(len(training), tasks.num_training, tasks.seed))
        changed = [with_synonyms(given, data_dir) for given in held_out if preset == SYNONYMS]
        return cls(task, chosen, tuple(held_out), settings, changed=tuple(changed))

    @property
    def labels(self) -> tuple[str, ...]:
        metrics = classification.GLUE_METRICS.get(self.task)
        return tuple(self._label(metric, given.split) for given in self.held_out for metric in metrics)

    def scores(self, classifier: TextClassifier) -> Iterator[tuple[str, EvaluationRow]]:
        """Yield labels such as `f1`, or `accuracy validation_matched` for MNLI."""
        for given in self.scored:
            for score in self._of_split(classifier, given):
                yield self._label(score.aggregation, score.split), score

    def _of_split(self, classifier: TextClassifier, given: Supervised) -> list[EvaluationRow]:
        seed = self.settings.tasks.seed
        if isinstance(given, StsPairs):
            return classification.evaluate_glue_pairs(classifier.scores, given, seed=seed)
        assert isinstance(given, Labelled)
        return classification.evaluate_glue(classifier.predicting(given.classes), given, seed=seed)

    def _label(self, metric: str, split: str) -> str:
        return metric if len(self.held_out) == 1 else f"{metric} {split}"


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
        return classification.SQUAD_METRICS

    def scores(self, classifier: TextClassifier) -> Iterator[tuple[str, EvaluationRow]]:
        """Yield `f1` and `exact_match`."""
        assert isinstance(classifier, SpanReader)
        for given in self.scored:
            assert isinstance(given, Questions)
            for score in classification.evaluate_squad(
                classifier.answers, given, seed=self.settings.tasks.seed
            ):
                yield score.aggregation, score
