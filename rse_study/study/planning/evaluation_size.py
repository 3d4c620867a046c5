"""How much an evaluation computes, in sentences of STS that are embedded once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rse_study.data.labelled import Text
from rse_study.evaluation.evaluations import Evaluation
from rse_study.training.classifier.config import FineTuning

WORDS = 10  # of a sentence of STS-B and SICK-R
WORDS_PER_TOKEN = 0.75
# Measured on MiniLM, one thread, in CPU seconds beside the embedding of STS-B and SICK-R (docs/results/plan.md).
PER_TUNED = 4.5  # passes of a text in each epoch of a fine-tuning, its backward pass and AdamW included
PER_QUERY = {"pwws": 1.5}
PER_QUERY_OF_OTHERS = 2.5  # they ask a similarity model, too
# Mean queries an input by its words: 1,000 texts of MR (docs/results/attacks.md).
QUERIES_PER_WORD = {"pwws": 6.6, "bae": 3.6, "bert_attack": 4.3, "textbugger": 1.2, "textfooler": 1.1}


@dataclass(frozen=True)
class EvaluationSize:
    """Computation of scoring one model, in sentences."""

    name: str
    scored: float
    """embedded or classified once"""
    tuned: float = 0.0
    """passes of a fine-tuning, which evaluations of one task share"""
    recipe: str = ""
    num_inputs: int = 0
    """that are attacked"""
    words: float = WORDS
    """of such an input, as far as it is read"""
    max_queries: int = 0

    @property
    def task(self) -> str:
        return self.name.partition("/")[0]

    def attacked(self, measured: Mapping[str, float]) -> float:
        """Return the sentences that queries take.

        Their number is the mean of other models attacked so, else it goes by the length of the inputs.
        """
        if not self.num_inputs:
            return 0.0
        expected = measured.get(self.name, QUERIES_PER_WORD[self.recipe] * self.words)
        each = PER_QUERY.get(self.recipe, PER_QUERY_OF_OTHERS) * self.words / WORDS
        return self.num_inputs * min(expected, self.max_queries) * each


def size_of(evaluation: Evaluation) -> EvaluationSize:
    """Return the size of any evaluation that was read with its data."""
    # These import transformers and scikit-learn, which a plan of frozen vectors does without.
    from rse_study.downstream.attacked_classifier import AttackedClassifier
    from rse_study.downstream.attacked_similarity import AttackedSimilarity
    from rse_study.downstream.fine_tuned import FineTunedTask

    name = evaluation.name
    if isinstance(evaluation, AttackedClassifier):
        asked, tuning = evaluation.settings.attacks, evaluation.settings.fine_tuning
        words, num_inputs = _words(evaluation.inputs.texts, tuning), len(evaluation.inputs)
        scored, texts, recipe = num_inputs * words / WORDS, evaluation.training.texts, evaluation.recipe
        read_once = len(texts) * _words(texts, tuning) / WORDS
        tuned = read_once if evaluation.is_probe else _tuned(texts, tuning)
        return EvaluationSize(name, scored, tuned, recipe, num_inputs, words, asked.max_queries)
    if isinstance(evaluation, AttackedSimilarity):
        asked, whole = evaluation.attacks, len(evaluation.pairs)
        num_pairs = min(asked.num_inputs or whole, whole)
        recipe, scored = evaluation.recipe, evaluation.num_sentences
        return EvaluationSize(name, scored, 0.0, recipe, num_pairs, WORDS, asked.max_queries)
    if isinstance(evaluation, FineTunedTask):
        tuning = evaluation.settings.fine_tuning
        held_out = [text for given in evaluation.held_out for text in given.texts]
        num_read = len(held_out) * _words(held_out, tuning) / WORDS
        return EvaluationSize(name, num_read, _tuned(evaluation.training.texts, tuning))
    return EvaluationSize(name, evaluation.num_sentences)


def _tuned(texts: Sequence[Text], tuning: FineTuning) -> float:
    return PER_TUNED * tuning.epochs * (1 - tuning.dev_share) * len(texts) * _words(texts, tuning) / WORDS


def _words(texts: Sequence[Text], tuning: FineTuning | None = None) -> float:
    """Return the mean number of words of texts or pairs, up to the length that a classifier reads."""
    most = WORDS_PER_TOKEN * tuning.max_length if tuning else float("inf")
    lengths = (sum(len(part.split()) for part in text) for text in texts)
    return fmean(min(number, most) for number in lengths) if texts else 0.0
