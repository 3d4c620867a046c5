"""The registry of attack recipes: `RECIPES.get("pwws")` is the class PWWS."""

from rse_study.evaluation.attacks.attack_recipe import AttackRecipe, Resource
from rse_study.evaluation.attacks.recipes.published import BAE, PWWS, BERTAttack, TextBugger, TextFooler
from rse_study.registry import Registry

RECIPES: Registry[type[AttackRecipe]] = Registry(
    "attack",
    {
        TextFooler.name: TextFooler,
        TextBugger.name: TextBugger,
        PWWS.name: PWWS,
        BAE.name: BAE,
        BERTAttack.name: BERTAttack,
    },
)


def recipes_with(resource: Resource) -> tuple[str, ...]:
    """Return the names of the recipes that need this resource."""
    return tuple(name for name in RECIPES if resource in RECIPES.get(name).needs)


REPLAYABLE: tuple[str, ...] = tuple(sorted({*RECIPES} - {*recipes_with(Resource.MASKED_LM)}))
"""Recipes whose texts a trial may replay: a trial names no masked LM."""
