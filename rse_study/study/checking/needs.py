"""Sets, corpora and models that a study reads."""

from collections.abc import Iterator
from dataclasses import dataclass

from rse_study.data.catalogue import catalogue, sets_by_path
from rse_study.data.corpus import TextFiles
from rse_study.data.hub import Dataset
from rse_study.data.hub_models import Model
from rse_study.downstream.needed_sets import sets_of, sets_of_recipe
from rse_study.study.checking.data_check import models_of_study, trials_that_differ
from rse_study.study.checking.validation import CheckedStudy
from rse_study.training.trial import Trial


@dataclass(frozen=True)
class Needs:
    """Everything a study reads, each once, in the order of the study."""

    sets: tuple[str, ...]
    """names of the catalogue"""
    texts: tuple[str, ...]
    """corpus files that the catalogue does not know"""
    datasets: tuple[Dataset, ...]
    """corpora on the hub, or in folders in its layout"""
    models: tuple[Model, ...]


def needs_of(checked: CheckedStudy) -> Needs:
    """Return what a study needs, whether it is here or not."""
    trials = [trial for _, trial in trials_that_differ(checked)]
    sources = [trial.corpus.source for trial in trials]
    paths = [path for source in sources if isinstance(source, TextFiles) for path in source.paths]
    by_path = sets_by_path()
    of_trials = (name for trial in trials for name in _sets_of_trial(trial))
    of_evaluations = (
        name
        for evaluation in checked.study.evaluations
        for name in sets_of(evaluation, checked.study.settings)
    )
    sets = [*(by_path[path].name for path in paths if path in by_path), *of_trials, *of_evaluations]
    paths += [name for trial in trials for name in trial.selection.files]
    return Needs(
        sets=tuple(dict.fromkeys(sets)),
        texts=tuple(dict.fromkeys(path for path in paths if path not in by_path)),
        datasets=tuple(dict.fromkeys(source for source in sources if isinstance(source, Dataset))),
        models=tuple(models_of_study(checked)),
    )


def _sets_of_trial(trial: Trial) -> Iterator[str]:
    yield from (name for name in trial.selection.sets if name in catalogue())
    if trial.method.needs_synonyms:
        yield "wordnet"
    if trial.replayed.recipe != "none":
        yield from sets_of_recipe(trial.replayed.recipe)
        yield from (name for name in (trial.replayed.labelled,) if name in catalogue())
