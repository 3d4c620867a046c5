"""The table of a paper that a study repeats, checked before the study runs."""

from analysis.paper.ids import known_places
from rse_study.errors import InputError
from rse_study.registry import did_you_mean


def problems_of_table(table: str, where: str) -> list[InputError]:
    """Return what is wrong with the name of a table or figure; nothing if it is empty."""
    if not table or table in known_places():
        return []
    what, rule = f"paper.table = {table!r}", "no table or figure of a paper"
    return [InputError(what, where=where, rule=rule, remedy=did_you_mean(table, known_places()))]
