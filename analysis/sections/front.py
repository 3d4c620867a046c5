"""The Pareto front of a search with several objectives, and its growth."""

import numpy as np
import pandas as pd

from analysis import page
from analysis.contents import BASE, Contents, labels, objective_decimals
from analysis.figures.pareto import draw_front, draw_volume
from analysis.formats import counted, join_words, show_axis_value, show_number, show_value
from analysis.search import chosen_of
from rse_study.results.study_record import ConstraintRecord
from rse_study.search.choice import TrialResult, front_of
from rse_study.search.front import hypervolume, nadir, oriented

ROLES = ("knee", "front", "beaten", "out of bounds")
EXPLAINED = (
    "No other trial beats those on the front: none is at least as good on every objective and better on one. The "
    "knee is the point farthest from the line (or plane) through the front's ends, with objectives scaled from 0 to "
    "1. Each trial ran once with one seed, so a place on the front may be luck; only confirmed values are results."
)
VOLUME = (
    "The share of the box between the worst and the best values of all complete trials that the trials so far "
    "dominate. While it rises, the search still finds better trade-offs."
)


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


def front(contents: Contents) -> str:
    """Return section "Front"; with one objective section "Bounds" or ""."""
    study = contents.study
    if len(study.all_objectives) == 1:
        text = bounds(contents)
        return page.section("Bounds", page.paragraph(text)) if text else ""
    frame = front_data(contents)
    if frame.empty:
        return page.section("Front", page.paragraph("No trial is complete yet."))
    names, places = labels(contents), [objective_decimals(one) for one in study.all_objectives]
    drawn = draw_front(frame, names, study.directions, places)
    return page.section(
        "Front",
        page.paragraph(f"{front_text(frame)} {bounds(contents)}".strip()),
        page.figure(drawn, "front", frame),
        page.table(front_table(contents, frame), name="front"),
        page.how_to_read(EXPLAINED),
        "<h3>How it grew</h3>",
        page.figure(draw_volume(frame), "hypervolume", frame),
        page.how_to_read(VOLUME),
    )


def front_text(frame: pd.DataFrame) -> str:
    """Return how many trials are on the front, and which one is its knee."""
    members = frame[frame["role"].isin(["knee", "front"])]
    if members.empty:
        return "No complete trial meets all bounds."
    text = f"{len(members)} of {counted(len(frame), 'complete trial')} are on the front"
    (knee,) = frame.loc[frame["role"] == "knee", "trial"]
    base = frame[frame["is_base"]]
    if base.empty:
        return f"{text}; its knee is trial {knee}."
    is_member = base["role"].isin(["knee", "front"]).any()
    return f"{text}; its knee is trial {knee}. The {BASE} is {'one' if is_member else 'not one'} of them."


def bounds(contents: Contents) -> str:
    """Return the constraints, and how many trials satisfied them."""
    constraints = contents.study.constraints
    if not constraints:
        return ""
    scored = [one for one in contents.search.standings if one.is_scored]
    num = sum(one.is_feasible for one in scored)
    limits = join_words([bound(one) for one in constraints])
    return f"The choice is among the trials with {limits}: {num} of {counted(len(scored), 'trial')}."


def bound(constraint: ConstraintRecord) -> str:
    """Return a constraint in words: "STS-B dev, Spearman x100 of 80 or more"."""
    name = constraint.label or constraint.metric
    if constraint.at_most is not None:
        return f"{name} of {show_value(constraint.at_most)} or less"
    return f"{name} of {show_value(constraint.at_least)} or more"


def front_table(contents: Contents, frame: pd.DataFrame) -> pd.DataFrame:
    """Show the trials of the front as text, sorted by the first objective."""
    study, first = contents.study, labels(contents)[0]
    proposals = contents.stage("search").drop_duplicates("trial").set_index("trial")["proposal"]
    members = frame[frame["role"].isin(["knee", "front"])].sort_values(
        first, ascending=study.objective.direction == "minimize"
    )
    rows = [
        {"trial": f"{row['trial']} ({BASE})" if row["is_base"] else str(row["trial"]),
         "": "knee" if row["role"] == "knee" else ""}
        | {
            label: show_number(row[label], objective_decimals(one))
            for label, one in zip(labels(contents), study.all_objectives, strict=True)
        }
        | {
            heading: show_axis_value(axis, proposals[row["trial"]].get(axis.name))
            for axis, heading in zip(study.axes, study.headings, strict=True)
        }
        for row in members.to_dict("records")
    ]  # fmt: skip
    return pd.DataFrame(rows, dtype=object)
