"""The best of what a search knew before its first trial."""

from collections.abc import Sequence

from rse_study.results.records import KnownTrial
from rse_study.search.ranking import Direction
from rse_study.search.selection import TrialResult, chosen_first


def best_known(known: Sequence[KnownTrial], directions: Sequence[Direction]) -> list[KnownTrial]:
    """Return the one that the search would choose first.

    Empty where none keeps to the constraints. As among its own trials, one with fewer seeds never outranks one with
    more.

    Parameters
    ----------
    known
        As the study was frozen with them.
    directions
        Of the objectives.
    """
    results = [
        TrialResult(index, one.num_steps, one.values, all(violation <= 0 for violation in one.violations))
        for index, one in enumerate(known)
    ]
    return [known[index] for index in chosen_first(results, directions)[:1]]
