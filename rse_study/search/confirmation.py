"""Which trials of a search are confirmed: a pure function of their results."""

from collections.abc import Collection, Sequence

from rse_study.search.ranking import Direction
from rse_study.search.selection import TrialResult, chosen_first


def trials_to_confirm(
    standings: Sequence[TrialResult[int]],
    baseline: Collection[int],
    num_best: int,
    directions: Sequence[Direction],
) -> list[int]:
    """Return the trials to confirm beside the baseline, by `search.selection`.

    Of one objective the best; of several the knee of the front, then what adds most to it. The baseline is on no
    front: what is confirmed beside it is what the search found.

    Parameters
    ----------
    standings
        Of all trials, by number.
    baseline
        Numbers of the trials that are it.
    num_best
        How many.
    directions
        Of the objectives.
    """
    others = sorted((one for one in standings if one.key not in baseline), key=lambda one: one.key)
    return chosen_first(others, directions)[:num_best]
