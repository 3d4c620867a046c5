"""PWWS on a made-up lexicon and a bag of words, so that two traces can be made to part where we know."""

import numpy as np

from rse_study.evaluation.attacks.single_input import Target
from tests.crosscheck.traces import QueryTrace, Score, our_trace
from tests.evaluation.attacks.bag_of_words import BagOfWords
from tests.evaluation.attacks.conftest import pwws_with

SYNONYMS = {"fine": ("awful", "dull"), "great": ("bad", "poor"), "film": ("movie",)}
WEIGHTS = {"fine": 2.0, "great": 1.5, "awful": 1.0, "dull": 1.2, "bad": 0.2, "poor": 0.4, "film": 0.3}


def trace_of(text: str, weights=WEIGHTS, synonyms=SYNONYMS, **settings) -> QueryTrace:
    return our_trace(pwws_with(synonyms, **settings), BagOfWords(weights), Target(0, (text,), 1), 0)


def score_with(weights=WEIGHTS) -> Score:
    return lambda text: 1.0 - BagOfWords(weights).probability((text,))


def their_answer(trace: QueryTrace) -> dict:
    """What TextAttack's side would say of it: an empty list where no word may be changed."""
    groups = [[(step.place, step.texts[0]) for step in trace.unknown]]
    groups += [[(step.place, text) for text in step.texts] for step in (*trace.options, *trace.visits)]
    return {"words": list(trace.words), "steps": [[list(placed) for placed in group] for group in groups]}


def random_text(seed: int) -> str:
    draw = np.random.default_rng(seed)
    return " ".join(draw.choice(["the", "a", *WEIGHTS], size=draw.integers(0, 9)).tolist())
