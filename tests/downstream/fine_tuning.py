"""Fine-tuned evaluations of the very small encoder, as a study asks for them."""

from rse_study.downstream import Attacks, Settings, Tasks, read_evaluation
from rse_study.downstream.models import ScoredModel, score_model
from tests.training.classifier.sorted_words import LEARNS

ONE_EPOCH = LEARNS.model_copy(update={"epochs": 1})


def no_embedding(sentences):
    raise AssertionError("no vector is asked for")


def settings_of(spec=LEARNS, **changes):
    return Settings(Attacks(), spec, Tasks(**changes))


def read_task(task, folder, settings=None):
    return read_evaluation(f"{task}/fine_tuned", folder, settings or settings_of())


def scored_of(asked, weights):
    return {row.aggregation: row for row in score_model(ScoredModel("me", no_embedding, weights), [asked])}


def steps_of(asked, weights):
    """(the classifier, the steps that it took now)."""
    steps = []
    return asked.classifier(weights, lambda done, total: steps.append(done)), steps


def score_of(asked, weights):
    return next(score for _, score in asked.scores(asked.classifier(weights).load()))
