"""Samplers and stopping rules by class: imported, checked and constructed."""

import inspect
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rse_study.errors import InputError, InputErrors
from rse_study.named_class import construct, import_class
from rse_study.search.stopping import RuleByClass, StoppingRule
from rse_study.spec import hash_file
from rse_study.study.definition.config import Sampler
from rse_study.study.definition.problems import problems_of

RULE, PRUNER = "rse_study.search.stopping.StoppingRule", "optuna.pruners.BasePruner"


def sampler_class(sampler: Sampler, folder: Path) -> type:
    """Return the class that a sampler names."""
    assert sampler.class_ is not None, "a sampler of ours has a name"
    what = f"sampler.class = {sampler.class_!r}"
    return import_class(sampler.class_, what=what, folder=folder, bases=["optuna.samplers.BaseSampler"])


def construct_sampler(sampler: Sampler, folder: Path, seed: int) -> Any:
    """Return a new object of the class, seeded where its constructor takes `seed`."""
    cls, settings = sampler_class(sampler, folder), dict(sampler.settings)
    if takes_seed(cls):
        if "seed" in settings:
            rule = "every proposal has a seed of its own, from the search's"
            raise InputError("sampler.settings.seed", rule=rule, remedy="Use search_seed instead")
        settings["seed"] = seed
    return construct(cls, settings=settings, named=str(sampler.class_), what="sampler.settings")


def takes_seed(cls: type) -> bool:
    """Whether the constructor has a parameter `seed`."""
    return "seed" in inspect.signature(cls).parameters


def rule_class(rule: RuleByClass, folder: Path) -> type:
    """Return the class that a rule names."""
    what = f"early_stopping.class = {rule.class_!r}"
    cls = import_class(rule.class_, what=what, folder=folder, bases=[RULE, PRUNER])
    if issubclass(cls, StoppingRule) and cls.rungs_of_trial is not StoppingRule.rungs_of_trial:
        broken = "gives each trial rungs of its own, which only a rule with a name may"
        raise InputError(what, rule=broken, remedy="Take rungs_of_trial away")
    return cls


def source_of(cls: type) -> str:
    """Return the sha256 of the file that defines a class."""
    return hash_file(Path(inspect.getfile(cls)))


def construct_rule(rule: RuleByClass, folder: Path) -> Any:
    """Return a new object of the class: a StoppingRule, or a pruner of Optuna."""
    cls, at = rule_class(rule, folder), "early_stopping.settings"
    if not issubclass(cls, StoppingRule):
        return construct(cls, settings=rule.settings, named=rule.class_, what=at)
    try:
        return cls(**rule.shared_with(cls), **rule.settings)
    except ValidationError as error:
        raise InputErrors(problems_of(error, cls, where="", prefix=at)) from error
