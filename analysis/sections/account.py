"""The last sections of a report: cells, cost, how it ran, failures, provenance."""

import json
import re
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from analysis import page
from analysis.comparison_table import NOT_AGAIN
from analysis.contents import Contents
from analysis.cost import costs, lost_attempts
from analysis.figures.attempts import draw_reasons, draw_timeline, reasons_data, timeline_data
from analysis.figures.pareto import draw_pareto, pareto_data
from analysis.formats import counted, show_brief, show_duration, show_status, show_time, show_value
from analysis.scores import show_score
from rse_study.results.bit_equality import describe_machines, describe_stale
from rse_study.results.device_time import INCLUDED
from rse_study.results.export import citation_of
from rse_study.results.study_record import StudyRecord
from rse_study.search.state import STAGES

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")
MANY = 12  # rows above which a table is folded
PARETO = (
    "Pareto front: no cell is both better and cheaper than one on it. Cells that were stopped early are hollow, and "
    "never on it. Training seconds are those of training and scoring alone, times devices, on a machine that may "
    "have been busy; the ledger does not count operations."
)
LANES = (
    "Each bar is an attempt at a cell; bars above each other ran at the same time. The ledger does not record where "
    "an attempt ran: a line of the figure is not a machine."
)


def cells(contents: Contents) -> str:
    """Return section "Cells", with cells that left the study folded."""
    retired = contents.cells[contents.cells["retired"].astype(bool)]
    if contents.cells.empty:
        return page.section("Cells", page.paragraph("None yet."))
    parts = [page.table(show_cells(contents, by_stage(contents.current)), kind="long", name="cells")]
    if len(retired):
        note = page.paragraph("They belong to an earlier revision only, and are in no table or figure above.")
        summary = f"{counted(len(retired), 'retired cell')}"
        parts.append(
            page.folded(
                summary, note, page.table(show_cells(contents, retired), kind="long", name="retired-cells")
            )
        )
    return page.section("Cells", *parts)


def by_stage(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort cells by stage: search, confirmation, path."""
    return frame.sort_values("stage", key=lambda stages: stages.map(list(STAGES).index), kind="stable")


def show_cells(contents: Contents, frame: pd.DataFrame) -> pd.DataFrame:
    """Show cells as text, one row each."""
    tries, is_search = contents.attempts.groupby("cell").size(), contents.study.kind == "search"
    rows = [
        {
            "trial" if is_search else "row": cell["name"], "seed": str(cell["seed"]), "stage": cell["stage"],
            "status": show_status(cell["status"]),
            contents.label: show_score(cell["objective"], cell["status"], contents.decimals),
            "step": show_value(cell["t"]), "time": show_duration(cell["duration_s"]),
            "attempts": str(tries.get(cell["identity"], 0)), "reason": cell["reason"],
        }
        for cell in frame.to_dict("records")
    ]  # fmt: skip
    unused = (
        ["stage"] * (not is_search) + ["reason"] * (not frame["reason"].any()) + ["attempts"] * tries.empty
    )
    return pd.DataFrame(rows, dtype=object).drop(columns=unused, errors="ignore")


def cost(contents: Contents) -> str:
    """Return section "Cost": device time, steps, attempts."""
    frame, parts = pareto_data(contents), [page.paragraph(INCLUDED), key_values(costs(contents), "cost")]
    if (frame["status"] == "complete").any():
        is_less_better = contents.study.objective.direction == "minimize"
        drawn = draw_pareto(frame, contents.label, contents.decimals, is_less_better)
        parts += [
            "<h3>Score against cost</h3>",
            page.figure(drawn, "pareto", frame),
            page.how_to_read(PARETO),
        ]
    return page.section("Cost", *parts)


def failures(contents: Contents) -> str:
    """Return section "Failures", or "" without failed cells, lost attempts or events."""
    cells, lost, events = failed_cells(contents), show_lost(contents), show_events(contents)
    if cells.empty and lost.empty and events.empty:
        return ""
    parts = (
        [page.paragraph("No cell failed.")]
        if cells.empty
        else [page.paragraph(NOT_AGAIN), page.table(cells, kind="plain long", name="failed-cells")]
    )
    reasons = reasons_data(contents, cell_names(contents))
    if len(reasons):
        parts.insert(0, page.figure(draw_reasons(reasons), "reasons", reasons))
    if len(lost):
        parts += ["<h3>Lost attempts</h3>", page.table(lost, kind="plain long", name="lost-attempts")]
    if len(events):
        table = page.table(events, kind="plain", name="events")
        parts.append(page.folded(counted(len(events), "event"), table, is_open=len(events) <= MANY))
    return page.section("Failures", *parts)


def failed_cells(contents: Contents) -> pd.DataFrame:
    """Return the failed cells with the settings of their rows and their reasons."""
    found, where = contents.current[contents.current["status"] == "failed"], cell_names(contents)
    rows = [
        (where[cell["identity"]], settings_of(contents.study, cell), show_value(cell["t"]), cell["reason"])
        for cell in found.to_dict("records")
    ]
    columns = ["cell", "settings of its row", "last step", "reason"]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    return frame if frame["last step"].any() else frame.drop(columns="last step")


def settings_of(study: StudyRecord, cell: Mapping[Hashable, Any]) -> str:
    """Return the settings of a cell's row or trial, such as `optimizer.lr = 1e+30`."""
    own = study.settings.grid.rows.get(cell["label"]) if cell["label"] else None
    values = cell["proposal"] if own is None else flat(own)
    return ", ".join(f"{name} = {show_value(value)}" for name, value in values.items())


def flat(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings by their dotted paths."""
    found: dict[str, Any] = {}
    for name, value in content.items():
        is_mapping = isinstance(value, Mapping)
        found |= flat(value, f"{prefix}{name}.") if is_mapping else {f"{prefix}{name}": value}
    return found


def show_lost(contents: Contents) -> pd.DataFrame:
    """Return lost attempts as text: cell, attempt, start, duration, reason."""
    lost, where = lost_attempts(contents.attempts, contents.cells), cell_names(contents)
    shown = lost[["cell", "number", "started", "seconds", "reason"]].assign(
        cell=[where.get(cell, cell) for cell in lost["cell"]],
        started=lost["started"].map(show_time),
        seconds=lost["seconds"].map(show_duration),
    )
    return shown.set_axis(["cell", "attempt", "started (UTC)", "lasted at most", "reason"], axis=1)


def show_events(contents: Contents) -> pd.DataFrame:
    """Return events as text, oldest first, without those of a ledger that was rebuilt."""
    where = cell_names(contents)
    rows = [
        (show_time(at), kind, where.get(cell, cell), text)
        for at, kind, cell, text in contents.events.values
        if kind != "rebuilt"
    ]
    return pd.DataFrame(rows, columns=["time (UTC)", "kind", "cell", "event"], dtype=object)


def cell_names(contents: Contents) -> dict[str, str]:
    """Return each cell's name for readers: "trial 3, seed 1", or its row and seed."""
    prefix = "trial " if contents.study.kind == "search" else ""
    found = contents.cells[["identity", "name", "seed"]].values
    return {identity: f"{prefix}{name}, seed {seed}" for identity, name, seed in found}


def revisions(contents: Contents) -> str:
    """Return section "Revisions": each revision of the study and its changes."""
    rows = [
        (str(number), show_time(at), change or ("created" if number == 1 else "as before"))
        for number, at, change in contents.revisions[["number", "at", "change"]].values
    ]
    frame = pd.DataFrame(rows, columns=["number", "date (UTC)", "change"], dtype=object)
    return page.section("Revisions", page.table(frame, kind="plain", name="revisions"))


def provenance(contents: Contents) -> str:
    """Return section "Provenance": the last run, and the study as it was frozen."""
    runs, parts = contents.provenance, []
    if runs:
        told = f"{counted(len(runs), 'run')} of the study; the last one:"
        parts = [
            page.paragraph(told),
            key_values({key: plain_text(value) for key, value in runs[-1].items()}, "provenance"),
        ]
    newest = runs or contents.cells["provenance"]
    cited = citation_of(contents.study, int(contents.revisions["number"].iloc[-1]), newest)
    parts.append(page.paragraph(f"To cite: {cited}", "citation"))
    kit = f"rse-study report {contents.study.name} --kit DIR"
    parts.append(page.paragraph(f"To reproduce: {kit} writes commands, versions and an archive."))
    parts.append(page.paragraph(describe_stale(contents.current, runs), "note"))
    parts.append(page.paragraph(describe_machines(contents.current["provenance"]), "note"))
    resolved = json.dumps(contents.study.resolved, indent=2, ensure_ascii=False)
    parts.append(page.folded("The study as it was run", f'<pre class="scroll">{page.escape(resolved)}</pre>'))
    return page.section("Provenance", *parts)


def key_values(content: dict[str, str], name: str) -> str:
    """Return a table of two columns, named for its anchor."""
    frame = pd.DataFrame(list(content.items()), columns=["item", "value"])
    return page.table(frame, kind="plain", name=name)


def plain_text(value: Any) -> str:
    """Return text as it is, times in UTC, names with their values, the rest as JSON."""
    if isinstance(value, str):
        return show_time(value) + " (UTC)" if STAMP.fullmatch(value) else value
    if isinstance(value, dict) and value and all(isinstance(part, str | int) for part in value.values()):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return json.dumps(value, ensure_ascii=False)


def how_it_ran(contents: Contents) -> str:
    """Return section "How it ran"; nothing before the first attempt."""
    attempts = timeline_data(contents, cell_names(contents))
    if attempts.empty:
        return ""
    lanes = page.figure(draw_timeline(attempts), "timeline", attempts)
    return page.section("How it ran", *budget(contents), page.paragraph(LANES), lanes)


def budget(contents: Contents) -> list[str]:
    """Return the search's budget, and whether it ended the search; empty without one."""
    shares = contents.search.budget
    if not shares:
        return []
    told = contents.search.reason_of_end or "the search's budget did not end it"
    rows = [
        (one.unit, show_brief(one.limit, 4), show_brief(one.spent, 4), show_brief(one.with_next, 4))
        for one in shares
    ]
    frame = pd.DataFrame(
        rows, columns=["search budget", "limit", "spent", "with one more cell"], dtype=object
    )
    return [
        page.paragraph(f"{told[0].upper()}{told[1:]}."),
        page.table(frame, kind="plain", name="search-budget"),
    ]
