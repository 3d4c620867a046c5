"""The Pareto front of a search with several objectives, and its growth."""

import numpy as np
import pandas as pd

from analysis.contents import BASE, Contents, label_of, objective_decimals
from analysis.formats import join_words, show_number
from analysis.search import chosen_of
from rse_study.search.choice import TrialResult, front_of
from rse_study.search.front import hypervolume, nadir, oriented

ROLES = ("knee", "front", "beaten", "out of bounds")


def labels(contents: Contents) -> list[str]:
    """Return the name of each objective for readers."""
    return [label_of(one) for one in contents.study.all_objectives]


def objectives_text(contents: Contents, trial: pd.Series) -> str:
    """Return a trial's objectives: "61.24 on STS-B dev and 4.20 on drift"."""
    values = next(one.values for one in contents.search.standings if one.key == trial["identity"])
    named = zip(labels(contents), contents.study.all_objectives, values, strict=True)
    return join_words(
        f"{show_number(value, objective_decimals(one))} on {name}" for name, one, value in named
    )


def front_data(contents: Contents) -> pd.DataFrame:
    """Return a row per complete trial that has all objectives, in order.

    Columns: trial, one per objective (`labels`), role (of `ROLES`), is_base, and hypervolume: the share of the box
    between the worst and the best values that the feasible trials so far dominate.
    """
    cells = contents.stage("search").set_index("identity")
    complete = set(cells.index[cells["status"] == "complete"])
    known = [one for one in contents.search.standings if one.key in complete and one.is_scored]
    members = {one.key for one in front_of(known, contents.study.directions)}
    first = next((identity for identity in chosen_of(contents) if identity in complete), "")
    frame = pd.DataFrame([one.values for one in known], columns=labels(contents), dtype=float)
    keys = [one.key for one in known]
    return frame.assign(
        trial=[int(cells.loc[key, "trial"]) for key in keys],
        role=[role_of(one, members, first) for one in known],
        is_base=[cells.loc[key, "label"] == BASE for key in keys],
        hypervolume=volumes(contents, [one.values if one.is_feasible else None for one in known]),
    )


def role_of(one: TrialResult[str], members: set[str], knee: str) -> str:
    """Return the role of a complete trial, one of `ROLES`."""
    if not one.is_feasible:
        return "out of bounds"
    if one.key == knee:
        return "knee"
    return "front" if one.key in members else "beaten"


def volumes(contents: Contents, values: list[tuple[float, ...] | None]) -> list[float]:
    """Return the hypervolume after each trial; None stands for a trial out of bounds."""
    able = [one for one in values if one is not None]
    if not able:
        return [0.0] * len(values)
    points = oriented(able, contents.study.directions)
    low = nadir(points)
    unit = (points - low) / np.where(np.ptp(points, axis=0) > 0, np.ptp(points, axis=0), 1.0)
    grown = [0.0]
    for number in range(1, len(unit) + 1):
        grown.append(hypervolume(unit[:number], np.zeros(unit.shape[1])))
    return [grown[sum(one is not None for one in values[: place + 1])] for place in range(len(values))]
