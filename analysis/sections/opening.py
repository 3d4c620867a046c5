"""The opening: the question, how far the study has got, what to beware of."""

import pandas as pd

from analysis import page
from analysis.contents import Contents
from analysis.formats import counted, join_words
from analysis.search import confirm_plan, num_confirmed

ORDER = ("complete", "stopped_early", "failed", "running")


def opening(contents: Contents) -> str:
    """Title, question, counts and caution."""
    study = contents.study
    aim = "higher" if study.objective.direction == "maximize" else "lower"
    parts = [f"<h1>{page.escape(study.title or study.name)}</h1>"]
    if study.question:
        parts.append(page.paragraph(study.question, "question"))
    parts.append(page.paragraph(f"{states(contents)} Objective: {contents.label} ({aim} is better)."))
    return "\n".join([*parts, page.paragraph(caution(contents), "note")])


def counts(cells: pd.DataFrame, num_planned: int) -> dict[str, int]:
    """Count cells by status; those the next run takes up are `missing`.

    So are planned ones that the ledger does not have.
    """
    found = cells["status"].value_counts()
    known = {status: int(found.get(status, 0)) for status in ORDER}
    return known | {"missing": max(0, max(num_planned, len(cells)) - sum(known.values()))}


def states(contents: Contents) -> str:
    """How many cells of each stage are where, in sentences."""
    study = contents.study
    if study.kind == "grid":
        cells = contents.stage("grid")
        rows, seeds = cells["trial"].nunique(), cells["seed"].nunique()
        shape = f"Grid of {counted(rows, 'row')} x {counted(seeds, 'seed')}" if rows else "Grid"
        return state(shape, counts(cells, study.num_cells))
    parts = [state("Search", counts(contents.stage("search"), study.num_trials), "trials")]
    planned = num_confirmed(confirm_plan(study))
    if planned or len(contents.stage("confirm")):
        parts.append(state("Confirmation", counts(contents.stage("confirm"), planned)))
    return " ".join(parts)


def state(what: str, numbers: dict[str, int], unit: str = "cells") -> str:
    """Return "Search: 7 of 16 trials complete, 8 stopped early, 1 failed, 0 missing."

    Parameters
    ----------
    what
        Search, Grid of ..., Confirmation.
    numbers
        By `counts`.
    unit
        trials or cells.
    """
    complete, missing = numbers["complete"], numbers["missing"]
    between = [
        f"{numbers[status]} {text}"
        for status, text in (("stopped_early", "stopped early"), ("failed", "failed"), ("running", "running"))
        if numbers[status]
    ]
    parts = [f"{complete} of {sum(numbers.values())} {unit} complete", *between, f"{missing} missing"]
    return f"{what}: {', '.join(parts)}."


def caution(contents: Contents) -> str:
    """What the numbers of this study cannot say."""
    study = contents.study
    if study.kind == "grid":
        return (
            "A grid selects nothing: all its cells are results, each row on the same seeds. A difference between rows "
            "that is no larger than the spread over seeds says nothing."
        )
    num = int(contents.stage("search")["status"].isin(["complete", "stopped_early"]).sum())
    text = (
        f"{counted(num, 'trial')} {'rank' if num != 1 else 'ranks'} nothing: each ran once with one seed; the best was "
        f"selected on the very score shown ({contents.label}), so that score flatters it. "
        if num
        else "Nothing has ended yet. "
    )
    seeds = confirm_plan(study).get("seeds", ())
    if not seeds:
        return text + "This study confirms nothing: it proposes, and none of its numbers is a result."
    where = f" on {join_words(study.evaluations)}" if study.evaluations else ""
    others = f"other {'seed' if len(seeds) == 1 else 'seeds'}: {join_words(seeds)}{where}"
    return f"{text}Only the confirmed values ({others}) are results."
