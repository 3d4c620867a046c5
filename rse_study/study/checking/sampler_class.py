"""A sampler's class that a study names: imported, checked and constructed."""

import importlib
import inspect
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rse_study.errors import InputError, first_line
from rse_study.registry import did_you_mean
from rse_study.study.definition.config import Sampler


def sampler_class(sampler: Sampler, folder: Path) -> type:
    """Import the class from the study's folder, the working folder, or a package.

    Optuna is not imported here: a class that derives from its BaseSampler has done so.
    """
    assert sampler.class_ is not None, "a sampler of ours has a name"
    what, (module, _, name) = f"sampler.class = {sampler.class_!r}", sampler.class_.partition(":")
    try:
        with _on_path(folder, Path.cwd()):
            found = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        rule = f"cannot be imported ({type(error).__name__}: {first_line(error)})"
        remedy = f"{folder.resolve()} and the working folder are looked in, and what is installed"
        if any((place / f"{module}.py").is_file() for place in (folder, Path.cwd())):
            remedy = f"{module}.py was found, and fails when it is imported: mend it"
        raise InputError(what, rule=rule, remedy=remedy) from error
    cls, base = getattr(found, name, None), getattr(sys.modules.get("optuna.samplers"), "BaseSampler", None)
    if cls is None:
        classes = [one for one, value in vars(found).items() if isinstance(value, type)]
        raise InputError(what, rule=f"{module} has no {name}", remedy=did_you_mean(name, classes))
    if base is None or not isinstance(cls, type) or not issubclass(cls, base):
        remedy = "Derive it from that, as docs/searches.md shows"
        raise InputError(what, rule="is no subclass of optuna.samplers.BaseSampler", remedy=remedy)
    if inspect.isabstract(cls):
        rule = f"lacks {', '.join(sorted(vars(cls)['__abstractmethods__']))}"
        raise InputError(what, rule=rule, remedy="Define what BaseSampler leaves open")
    return cls


def construct_sampler(sampler: Sampler, folder: Path, seed: int) -> Any:
    """Return a new object of the class, seeded where its constructor takes `seed`."""
    cls, settings = sampler_class(sampler, folder), dict(sampler.settings)
    if takes_seed(cls):
        if "seed" in settings:
            rule = "every proposal has a seed of its own, from the search's"
            raise InputError("sampler.settings.seed", rule=rule, remedy="Use search_seed instead")
        settings["seed"] = seed
    try:
        # Many of Optuna's warn that their interface may change; nobody who names one can do anything about it.
        experimental = sys.modules["optuna.exceptions"].ExperimentalWarning
        with warnings.catch_warnings(action="ignore", category=experimental):
            return cls(**settings)
    except (Exception, SystemExit) as error:
        rule = f"{sampler.class_} refuses them ({type(error).__name__}: {first_line(error)})"
        remedy = f"It takes: {', '.join(inspect.signature(cls).parameters) or 'none'}"
        raise InputError("sampler.settings", rule=rule, remedy=remedy) from error


def takes_seed(cls: type) -> bool:
    """Whether the constructor has a parameter `seed`."""
    return "seed" in inspect.signature(cls).parameters


@contextmanager
def _on_path(*folders: Path) -> Iterator[None]:
    places = [str(folder.resolve()) for folder in folders]
    sys.path[:0] = places
    try:
        yield
    finally:
        for place in places:
            with suppress(ValueError):  # the module itself may change the path
                sys.path.remove(place)
