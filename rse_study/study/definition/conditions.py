"""Conditions of axes: checks of `when`."""

from collections.abc import Mapping

from rse_study.errors import InputError
from rse_study.registry import did_you_mean
from rse_study.study.definition.domains import Choice, Domain, Variants


def condition_problems(domains: Mapping[str, Domain], *, where: str, at: str) -> dict[str, InputError]:
    """Return the problems of the axes' conditions, by axis name."""
    problems = {}
    for name, domain in domains.items():
        for parent, values in domain.when.items():
            what, rule, remedy = _problem_with(name, parent, values, domains)
            if rule:
                problems[name] = InputError(f"{at}.{name}.when{what}", where=where, rule=rule, remedy=remedy)
    return problems


def _problem_with(
    name: str, parent: str, values: tuple[object, ...], domains: Mapping[str, Domain]
) -> tuple[str, str, str]:
    """Return location, rule and remedy; the rule is empty if nothing is wrong."""
    if parent not in domains:
        return f".{parent}", "no such axis", did_you_mean(parent, [one for one in domains if one != name])
    above = domains[parent]
    if parent == name:
        return f".{parent}", "an axis cannot depend on itself", "Name another one"
    if not isinstance(above, Variants | Choice):
        rule = f"must name an axis of `variants` or of `choice`, and {parent!r} is of `{above.kind}`"
        return f".{parent}", rule, "Write the axis as choices, or leave out `when`"
    if above.when:
        grandparent = next(iter(above.when))
        rule = f"{parent!r} depends on {grandparent!r} itself, and one level is all there is"
        return f".{parent}", rule, f"Name the values of {grandparent!r}, or make one axis of both"
    unknown = next((value for value in values if not above.holds(value)), None)
    if unknown is not None:
        options = [str(value) for value in above.values()]
        return f".{parent} = {unknown!r}", f"no value of {parent!r}", did_you_mean(str(unknown), options)
    return "", "", ""
