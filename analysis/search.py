"""Frames about a search: its trials, its best trial and the confirming cells."""

from typing import Any

import pandas as pd

from analysis.contents import BASE, Contents
from analysis.formats import show_axis_value, show_condition, show_value
from rse_study.results.study_record import AxisRecord, StudyRecord
from rse_study.search.choice import chosen_first


def trials(contents: Contents) -> pd.DataFrame:
    """Return a row per trial of a search, or per cell of a grid.

    Columns: trial, seed, label, status, one per axis, objective, t, and so on. `best` marks the complete trial that
    the search would choose first (with several objectives, the knee of the front), and none in a grid. If trials have
    several seeds, as in searches of earlier versions, a row is the cell of a trial's first seed, with the mean, the
    total time and the number (num_seeds) of its seeds.
    """
    study = contents.study
    cells = contents.stage(study.kind) if study.kind == "grid" else contents.first_seeds
    cells = _with_further_seeds(contents, cells.reset_index(drop=True))
    columns = ["trial", "seed", "label", "status", "objective", "t", "duration_s", "reason", "identity"]
    table = cells[[*columns, "num_seeds"]]
    values = {
        heading: [proposal.get(axis.name) for proposal in cells["proposal"]]
        for axis, heading in zip(study.axes, study.headings, strict=True)
    }
    complete = set(table.loc[table["status"] == "complete", "identity"])
    chosen = [identity for identity in chosen_of(contents) if identity in complete]
    return table.assign(**values, best=table["identity"].isin(chosen[:1]))


def _with_further_seeds(contents: Contents, cells: pd.DataFrame) -> pd.DataFrame:
    if not contents.study.further_seeds:
        return cells.assign(num_seeds=1)
    searched = contents.stage("search")
    num_seeds = searched[searched["status"] == "complete"].groupby("trial")["objective"].count()
    of_trial = searched.groupby("trial")["duration_s"].sum()
    means = {one.key: one.values[0] for one in contents.search.standings if one.is_scored}
    return cells.assign(
        objective=cells["identity"].map(means).astype(float).fillna(cells["objective"]),
        duration_s=cells["trial"].map(of_trial),
        num_seeds=cells["trial"].map(num_seeds).fillna(0).clip(lower=1).astype(int),
    )


def chosen_of(contents: Contents) -> list[str]:
    """Return the identities of a search's cells in the order of choice, one per trial."""
    return chosen_first(contents.search.standings, contents.study.directions)


def confirmed(contents: Contents) -> pd.DataFrame:
    """Return the confirming cells: the base, then the best in order."""
    cells = contents.stage("confirm")
    places = ranking(contents) if len(cells) else {}
    place = [
        0 if label == BASE else places.get(n, len(places) + 1)
        for n, label in cells[["trial", "label"]].values
    ]
    names = [
        BASE if label == BASE else f"trial {trial} ({_role(contents.study, number, proposal)})"
        for trial, label, number, proposal in zip(
            cells["trial"], cells["label"], place, cells["proposal"], strict=True
        )
    ]
    return cells.assign(name=names, place=place).sort_values(["place", "trial", "seed"])


def ranking(contents: Contents) -> dict[int, int]:
    """Return every trial's rank in the search, from 1."""
    numbers = contents.cells.set_index("identity")["trial"]
    ordered = dict.fromkeys(int(numbers[identity]) for identity in chosen_of(contents))
    return {trial: place for place, trial in enumerate(ordered, start=1)}


def _role(study: StudyRecord, place: int, proposal: dict[str, Any]) -> str:
    if study.tuned:
        return f"best of {show_value(proposal[study.settings.tune_each])}"
    first = "knee of the front" if study.other_objectives else "best of the search"
    return first if place == 1 else f"no. {place} of the search"


def settings(contents: Contents, table: pd.DataFrame) -> pd.DataFrame:
    """Return the best trial's values and the base's as text, by axis."""
    base = base_values(contents)
    best = table[table["best"]].iloc[0]
    rows = [
        (
            heading,
            show_axis_value(axis, best[heading]),
            show_axis_value(axis, base.get(axis.name)),
            *_domain(axis),
            ", ".join(axis.paths),
        )
        for axis, heading in zip(contents.study.axes, contents.study.headings, strict=True)
    ]
    return pd.DataFrame(rows, columns=["axis", "best", BASE, "searched", "scale", "writes"], dtype=object)


def base_values(contents: Contents) -> dict[str, Any]:
    """Return the base's values by axis, from its trial or else from the study's file."""
    found = contents.cells.loc[contents.cells["label"] == BASE, "proposal"]
    proposal = dict(found.iloc[0]) if len(found) else {}
    return {
        axis.name: proposal[axis.name] if axis.name in proposal else _value_in_file(contents.study, axis)
        for axis in contents.study.axes
    }


def _value_in_file(study: StudyRecord, axis: AxisRecord) -> Any:
    """The base's value; None for conditional axes and for variants, which it lacks."""
    is_field = "variants" not in study.settings.search.get(axis.name, {})
    return study.settings.of_base(axis.paths[0]) if is_field and not axis.when else None


def _domain(axis: AxisRecord) -> tuple[str, str]:
    searched, scale = _values_and_scale(axis)
    return f"{searched}, if {show_condition(axis)}" if axis.when else searched, scale


def _values_and_scale(axis: AxisRecord) -> tuple[str, str]:
    if axis.kind == "choice":
        return ", ".join(show_value(choice) for choice in axis.choices), "choice"
    scale = "logarithmic" if axis.log else "linear"
    return f"{axis.low:.3g} to {axis.high:.3g}", f"{scale}, whole numbers" if axis.kind == "int" else scale
