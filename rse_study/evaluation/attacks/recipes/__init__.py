"""The attacks by name: `RECIPES.get("pwws")(resources)` is a recipe, `PWWS(effect="increase")(resources)` another."""

from collections.abc import Callable

from rse_study.evaluation.attacks.attack import Recipe
from rse_study.evaluation.attacks.recipes.bae import BAE
from rse_study.evaluation.attacks.recipes.bert_attack import BERTAttack
from rse_study.evaluation.attacks.recipes.pwws import PWWS
from rse_study.evaluation.attacks.recipes.textbugger import TextBugger
from rse_study.evaluation.attacks.recipes.textfooler import TextFooler
from rse_study.registry import Registry

RECIPES: Registry[Callable[..., Recipe]] = Registry(
    "attack",
    {
        "textfooler": TextFooler(),
        "textbugger": TextBugger(),
        "pwws": PWWS(),
        "bae": BAE(),
        "bert_attack": BERTAttack(),
    },
)

__all__ = ["BAE", "PWWS", "RECIPES", "BERTAttack", "TextBugger", "TextFooler"]
