"""The confirmed trials of a search: its only values that are results."""

from collections.abc import Mapping

import pandas as pd

from analysis import page
from analysis.contents import BASE, Contents
from analysis.formats import show_number, show_signed
from analysis.phrases import counted, join_words, show_status
from analysis.scores import (
    NOT_MEASURED,
    degenerate_note,
    differences,
    is_higher_better,
    scores,
    seeds_of,
    show_scores,
)
from analysis.search import confirmed, trials
from analysis.sections.grid import steps_of
from analysis.sections.scores import above_text, dots, row_classes


def confirmation(contents: Contents) -> str:
    """Return section "Confirmed"; "" if the study confirms nothing."""
    plan, cells = contents.study.confirm_settings, confirmed(contents)
    if not plan.seeds and cells.empty:
        return ""
    frame = scores(contents, cells)
    tests = [measure for measure in dict.fromkeys(frame["measure"]) if measure != contents.label]
    decimals, detailed = contents.decimals_by_measure, tests or [contents.label]
    shown = show_scores(frame, "range", decimals, every_seed=detailed)
    has_scores = frame["value"].notna().any()
    table = page.table(shown, row_classes(frame), name="confirmed") if has_scores else ""
    steps = steps_of(contents, cells, "confirmed-steps")
    return page.section(
        "Confirmed",
        page.paragraph(f"{explained(contents, frame)} {missing_text(contents, cells, frame)}".strip()),
        table,
        page.paragraph(degenerate_note(frame)),
        page.paragraph(above_text(contents, frame)),
        dots(contents, frame, "confirmed"),
        gains(contents, frame),
        "".join(["<h3>Step by step</h3>", *steps] if steps else []),
    )


def explained(contents: Contents, frame: pd.DataFrame) -> str:
    """Say what was confirmed; "" before anything is."""
    seeds = seeds_of(frame)
    if not seeds:
        return ""
    table, has_base = trials(contents), (frame["kind"] == "base").any()
    who = "The base and the best of the search" if has_base else "The best of the search"
    if (table["best"] & (table["label"] == BASE)).any():
        base = "It and the best" if has_base else "The best"
        who = f"The search's best trial was the base itself. {base} of the others"
    return f"{who}, trained anew with {counted(len(seeds), 'seed')} that selected nothing."


def gains(contents: Contents, frame: pd.DataFrame) -> str:
    """Return each confirmed trial minus the base, seed by seed."""
    rows = list(dict.fromkeys(frame.loc[frame["kind"] == "row", "row"]))
    found = {row: differences(frame, row, BASE) for row in rows}
    parts = [
        f"<h3>{page.escape(row)} minus the {BASE}, seed by seed</h3>"
        + gain_table(part, contents.decimals_by_measure, f"gains-{page.anchor_name(row)}")
        + page.paragraph(gain_text(contents, part))
        for row, part in found.items()
        if len(part)
    ]
    return "".join(parts)


def gain_table(part: pd.DataFrame, decimals: Mapping[str, int], name: str) -> str:
    """Return a row per measure: each seed's difference and their mean, with signs."""
    wide = part.pivot_table(index="measure", columns="seed", values="difference", sort=False)
    shown = {"": list(wide.index)}
    for seed in sorted(wide.columns):
        shown[f"seed {seed}"] = [
            show_signed(value, decimals[measure]) for measure, value in wide[seed].items()
        ]
    means = wide.mean(axis=1)
    shown["mean"] = [show_signed(value, decimals[measure]) for measure, value in means.items()]
    return page.table(pd.DataFrame(shown, dtype=object), name=name)


def gain_text(contents: Contents, part: pd.DataFrame) -> str:
    """Say what this many seeds show about the first measure."""
    measure = part["measure"].iloc[0]
    found = part.loc[part["measure"] == measure, "difference"]
    num_better = int(((found > 0) if is_higher_better(contents, measure) else (found < 0)).sum())
    told = f"On {measure} it is better with {num_better} of {counted(len(found), 'seed')}."
    if len(found) == 1:
        return f"{told} One seed says nothing about how much chance is in it."
    if len(found) == 2:
        return f"{told} Two seeds give no interval: they cannot tell a gain from chance."
    spread = show_number(found.std(), contents.decimals_by_measure[measure])
    return f"{told} Standard deviation of the differences: {spread}."


def missing_text(contents: Contents, cells: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Say what is still missing in the confirmation."""
    plan = contents.study.confirm_settings
    if cells.empty:
        best = "the best trial" if plan.num_best == 1 else f"the best {plan.num_best} trials"
        who = f"{best} and the base" if plan.baseline == "base" else best
        return f"Planned, not done yet: {who} with {join_words(f'seed {seed}' for seed in plan.seeds)}."
    open_cells = cells[cells["status"] != "complete"]
    texts = [
        f"{name}, seed {seed} ({show_status(status)})"
        for name, seed, status in open_cells[["name", "seed", "status"]].values
    ]
    unplanned = plan.num_cells - len(cells)
    if unplanned > 0:
        texts.append(f"{counted(unplanned, 'cell')} not even begun")
    bare = frame[(frame["kind"] != "baseline") & (frame["status"] == NOT_MEASURED)]
    texts += [
        f"{row} with seed {seed} on {measure}"
        for row, seed, measure in bare[["row", "seed", "measure"]].values
    ]
    return f"Missing: {'; '.join(texts)}." if texts else ""
