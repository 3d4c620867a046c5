"""SQuAD's exact match and F1, by the rules of its official script."""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from rse_study.data.labelled import Text
from rse_study.data.questions import Questions
from rse_study.evaluation.classification import ClassifierScore, score_of

Answering = Callable[[Sequence[Text]], list[str]]  # (question, context) -> answer
SQUAD_METRICS = ("f1", "exact_match")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(answer: str) -> str:
    """Lower-case an answer; drop ASCII punctuation, articles and extra blanks.

    >>> normalised("The  Eiffel-Tower!")
    'eiffeltower'
    """
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(answer: str, accepted: Sequence[str]) -> float:
    """Return 1 if the answer is one of the accepted ones, normalised; else 0."""
    return float(normalised(answer) in map(normalised, accepted))


def f1(answer: str, accepted: Sequence[str]) -> float:
    """Return the highest F1 of the words shared with an accepted answer."""
    return max(_shared(normalised(answer).split(), normalised(one).split()) for one in accepted)


def evaluate_squad(answering: Answering, task: Questions, *, seed: int) -> list[ClassifierScore]:
    """Return the means of F1 and exact match over all questions, x100."""
    found = answering(task.texts)
    is_flat = len(found) > 1 and len(set(found)) == 1
    return [
        score_of(
            task,
            metric.__name__,
            float(100 * np.mean([metric(*pair) for pair in zip(found, task.answers, strict=True)])),
            seed=seed,
            degenerate=is_flat,
        )
        for metric in (f1, exact_match)
    ]


def _shared(words: list[str], others: list[str]) -> float:
    num = (Counter(words) & Counter(others)).total()
    return 2 * num / (len(words) + len(others)) if num else 0.0
