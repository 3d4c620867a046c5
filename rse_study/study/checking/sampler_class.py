"""A sampler's class that a study names: imported, checked and constructed."""

import inspect
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.named_class import construct, import_class
from rse_study.spec import hash_file
from rse_study.study.definition.search import Sampler


def sampler_class(sampler: Sampler, folder: Path) -> type:
    """Return the class that a sampler names."""
    assert sampler.class_ is not None, "a built-in sampler has a name"
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


def source_of(cls: type) -> str:
    """Return the sha256 of the file that defines a class."""
    return hash_file(Path(inspect.getfile(cls)))
