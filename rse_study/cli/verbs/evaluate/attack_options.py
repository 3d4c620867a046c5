"""Options of `attack` that would have no effect, refused where they are given."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rse_study.cli import parameters
from rse_study.downstream.registry import ADVERSARIAL_STS, ATTACKED
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack_recipe import Resource
from rse_study.evaluation.attacks.recipes import RECIPES, recipes_with

Given = Mapping[str, str]
"""options that a user wrote: parameter -> --option"""


def given_options(context: parameters.Context) -> Given:
    """Return the options that were written, even with their default values."""
    return {
        param.name or "": param.opts[0]
        for param in context.command.params
        if param.opts[0].startswith("-") and _is_given(context, param.name or "")
    }


def require_used(given: Given, sets: Sequence[str], recipes: Sequence[str], goal: str) -> None:
    """Raise InputError where an option was given that none of these attacks uses."""
    for options, where, rule, remedy in _unused(sets, recipes, goal):
        flags = ", ".join(given[name] for name in options if name in given)
        if flags:
            what, remedy = f"{flags} would have no effect", f"Leave it out, or {remedy}"
            raise InputError(what, where=where, rule=rule, remedy=remedy)


def _unused(
    sets: Sequence[str], recipes: Sequence[str], goal: str
) -> Iterator[tuple[Iterable[str], str, str, str]]:
    """Yield (options, where, rule, remedy); unknown names are refused where they are looked up."""
    on, scores = f"--on {', '.join(sets)}", " or ".join(ADVERSARIAL_STS)
    if {*sets} <= {*ATTACKED}:
        yield ("goal", "tau", "sides"), on, "classifiers are attacked, not similarity", f"add --on {scores}"
    if {*sets} <= {*ADVERSARIAL_STS}:
        rule = "similarity itself is attacked, nothing is fine-tuned"
        yield ("epochs", "lr", "max_length"), on, rule, "add a classifier's set: --on mr"
    if goal == "maximise":
        yield ("tau",), "--goal maximise", "there is no distance to reach", "choose another goal"
    asking = recipes_with(Resource.MASKED_LM)
    if {*recipes} <= {*RECIPES} - {*asking}:
        rule, remedy = "no masked language model is asked", f"add --recipe {' or '.join(asking)}"
        yield ("masked_lm",), f"--recipe {', '.join(recipes)}", rule, remedy


def _is_given(context: parameters.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"
