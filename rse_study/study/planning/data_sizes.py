"""Sizes of a study's data: steps that count epochs, and sentences to evaluate."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

from rse_study.data.corpus import Builtin, Corpus, read_corpus
from rse_study.data.labelled import Text
from rse_study.errors import MissingFile
from rse_study.evaluation.evaluations import Evaluation
from rse_study.training.materials import Materials, PrepareMaterials
from rse_study.training.trial import Trial

WORDS = 10  # of a sentence of STS-B and SICK-R, the unit in which texts are counted
# Sentences that are read for an attacked input of 10 words: queries, and what each reads, grow with the words. Measured
# for PWWS and TextFooler on MiniLM, for others from their queries (docs/results/plan.md).
READ_PER_INPUT = {"pwws": 99.0, "bae": 90.0, "bert_attack": 108.0, "textbugger": 30.0, "textfooler": 27.0}
PASSES = 4.5  # over a text in each epoch of a fine-tuning


class DataSizes:
    """Cached numbers of a corpus' sentences."""

    def __init__(self, data_dir: Path, beside: Path = Path()) -> None:
        """Count in the data folder, or `beside`, in the study's folder."""
        self._data_dir, self._beside = data_dir, beside
        self._sentences: dict[Corpus, int] = {}
        self.supposed: list[str] = []
        """assumed sizes of missing corpora, in words"""

    def num_steps(self, trial: Trial) -> int:
        """Return the steps of a cell that runs its full budget."""
        if trial.budget.unit != "epochs":
            return trial.num_steps(0)
        return trial.num_steps(self.num_sentences(trial.corpus) // trial.batch_size)

    def num_sentences(self, corpus: Corpus) -> int:
        """Return a corpus' number of distinct sentences; its limit if it is missing."""
        if corpus not in self._sentences:
            self._sentences[corpus] = self._count(corpus)
        return self._sentences[corpus]

    def counting(self, prepare: PrepareMaterials) -> PrepareMaterials:
        """Return a function that prepares materials, whose corpora are not read again."""

        def prepared(trial: Trial) -> Materials:
            materials = prepare(trial)
            if materials.num_sentences:
                self._sentences[trial.corpus] = materials.num_sentences
            return materials

        return prepared

    def _count(self, corpus: Corpus) -> int:
        source = corpus.source
        if isinstance(source, Builtin):  # distinct by construction: count without drawing
            return min(source.num_sentences, corpus.limit or source.num_sentences)
        try:
            return len(read_corpus(corpus, self._data_dir, self._beside).sentences)
        except MissingFile as problem:
            if not corpus.limit:
                raise
            self.supposed.append(
                f"{problem.where} is not here: assumed to hold {corpus.limit:,} sentences, its limit"
            )
            return corpus.limit


def sentences_of(evaluations: Iterable[Evaluation]) -> float:
    """Return the sentences that a model reads in these evaluations.

    Recipes that attack one set share the classifier that is fine-tuned for it.
    """
    tuned, others = dict[str, float](), 0.0
    for evaluation in evaluations:
        tuned[evaluation.name.partition("/")[0]], read = _read(evaluation)
        others += read
    return sum(tuned.values()) + others


def _read(evaluation: Evaluation) -> tuple[float, float]:
    """Return the sentences of its fine-tuning, and all others."""
    # These import transformers and scikit-learn, which a plan of frozen vectors does without.
    from rse_study.downstream.attacked_classifier import AttackedClassifier
    from rse_study.downstream.attacked_similarity import AttackedSimilarity
    from rse_study.downstream.fine_tuned_tasks import FineTunedTask

    if isinstance(evaluation, AttackedSimilarity):
        whole = len(evaluation.pairs)
        num_pairs = min(evaluation.attacks.num_inputs or whole, whole)
        return 0.0, num_pairs * READ_PER_INPUT[evaluation.recipe] + evaluation.num_sentences
    if not isinstance(evaluation, AttackedClassifier | FineTunedTask):
        return 0.0, evaluation.num_sentences
    texts, tuning = evaluation.training.texts, evaluation.settings.fine_tuning
    passes = PASSES * tuning.epochs
    if isinstance(evaluation, FineTunedTask):
        return passes * len(texts) * _length(texts), evaluation.num_sentences - 3 * tuning.epochs * len(texts)
    inputs = evaluation.inputs.texts
    attacked = len(inputs) * READ_PER_INPUT[evaluation.recipe] * _length(inputs) ** 2
    return (1.0 if evaluation.is_probe else passes) * len(texts) * _length(texts), attacked


def _length(texts: Sequence[Text]) -> float:
    """Return the mean length of texts, in sentences."""
    return fmean(sum(len(part.split()) for part in text) for text in texts) / WORDS if texts else 0.0
