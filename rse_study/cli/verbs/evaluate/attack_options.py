"""Which options of `evaluate` decide something, by suite.

One that a user gave and that decides nothing is refused.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rse_study.cli.arguments.completion import Context
from rse_study.errors import InputError

EVERY = ("suite", "data", "pooling", "threads", "as_json")
TUNED = (*EVERY, "out", "on", "seed", "epochs", "lr", "max_length")
USED = {  # by suite, as parameters of `evaluate` are named
    "sts": (*EVERY, "variant"),
    "fast": (*EVERY, "variant"),
    "full": (*EVERY, "variant"),
    "nli": TUNED,
    "glue": TUNED,
    "attacks": (*TUNED, "recipe", "inputs", "max_queries", "masked_lm", "goal", "tau", "sides"),
}
Given = Mapping[str, str]
"""The options that a user wrote: parameter -> --option."""


def require_used(context: Context, suite: str) -> Given:
    """Return what was given, or raise InputError where the suite does not use it all.

    Defaults are no matter.
    """
    flags = {param.name or "": param.opts[0] for param in context.command.params if param.opts[0][0] == "-"}
    given = {name: flag for name, flag in flags.items() if _is_given(context, name)}
    unused = [name for name in given if name not in USED[suite]]
    others = [other for other, used in USED.items() if {*unused} <= {*used}]
    rule = f"it uses {', '.join(flags[name] for name in USED[suite])}, no more"
    remedy = f"choose --suite {' or '.join(others)}" if others else ""
    _refuse(given, unused, f"--suite {suite}", rule, remedy)
    return given


def require_used_by_attacks(given: Given, sets: Sequence[str], recipes: Sequence[str], goal: str) -> None:
    """Raise InputError where something was given that none of these attacks uses.

    Parameters
    ----------
    given
        The options that a user wrote.
    sets
        What is attacked.
    recipes
        By which attacks.
    goal
        What an attack on similarity wants.
    """
    for options, where, rule, remedy in _unused(sets, recipes, goal):
        _refuse(given, options, where, rule, remedy)


def _unused(
    sets: Sequence[str], recipes: Sequence[str], goal: str
) -> Iterator[tuple[Iterable[str], str, str, str]]:
    """(options, where, rule, remedy). Names nobody knows are refused where they are looked up, not here."""
    from rse_study.downstream.registry import ADVERSARIAL_STS, ATTACKED
    from rse_study.evaluation.attacks.recipes import RECIPES, recipes_with
    from rse_study.evaluation.attacks.resources import Resource

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


def _refuse(given: Given, unused: Iterable[str], where: str, rule: str, remedy: str) -> None:
    flags = ", ".join(given[name] for name in unused if name in given)
    if flags:
        otherwise = f", or {remedy}" if remedy else ""
        raise InputError(
            f"{flags} would decide nothing", where=where, rule=rule, remedy=f"Leave it out{otherwise}"
        )


def _is_given(context: Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"
