"""The attacks by name: `RECIPES.get("pwws")(resources)` is a recipe, `PWWS(effect="increase")(resources)` another."""

from collections.abc import Callable

from rse_study.evaluation.attacks.recipe import Recipe
from rse_study.evaluation.attacks.recipes.pwws import PWWS
from rse_study.registry import Registry

RECIPES: Registry[Callable[..., Recipe]] = Registry("attack", {"pwws": PWWS()})

__all__ = ["PWWS", "RECIPES"]
