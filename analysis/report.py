"""The report of a search: one self-contained HTML file made from its ledger."""

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd

from analysis import page, tables
from analysis.figures.history import draw_history, history_data
from analysis.figures.slices import draw_slice, slice_data
from rse_study.results.reader import Reader
from rse_study.results.records import StudyRecord


def write_report(study_dir: Path, out: Path | None = None) -> Path:
    """Write the study's report (by default `report.html` in its folder) and say where it is."""
    path = study_dir / "report.html" if out is None else out
    with Reader(study_dir) as reader:
        html = render(reader)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(html, encoding="utf-8")
    draft.replace(path)
    return path


def render(reader: Reader) -> str:
    """The report as HTML: a function of the ledger and nothing else."""
    study, table, scores = reader.study(), tables.trials(reader), tables.baselines(reader)
    label = study.objective.label or study.objective.metric
    sections = [
        _opening(study, table, label),
        _trials(study, table, scores),
        page.section("History", _history(study, table, scores, label)),
        page.section("One axis at a time", *_slices(study, table, label)),
        _failures(reader),
        page.section("Cost", _key_values(tables.costs(reader))),
        _provenance(reader),
    ]
    return page.page(study.title or study.name, sections)


def _opening(study: StudyRecord, table: pd.DataFrame, label: str) -> str:
    complete = int((table["status"] == "complete").sum())
    aim = "higher" if study.objective.direction == "maximize" else "lower"
    state = f"{complete} of {max(study.num_trials, len(table))} trials complete. Objective: {label} ({aim} is better)."
    parts = [f"<h1>{page.escape(study.title or study.name)}</h1>"]
    if study.question:
        parts.append(page.paragraph(study.question, "question"))
    return "\n".join([*parts, page.paragraph(state), page.paragraph(caution(complete, label), "note")])


def caution(num_trials: int, label: str) -> str:
    """What the numbers of a search cannot say."""
    return (
        f"{num_trials} trials rank nothing: each ran once, with one seed. The best one was selected on the very "
        f"score shown ({label}), so that score flatters it. A search proposes; only runs with other seeds, on pairs "
        "that selected nothing, decide."
    )


def _trials(study: StudyRecord, table: pd.DataFrame, scores: pd.DataFrame) -> str:
    shown = tables.show_trials(study, table, scores)
    classes = ["baseline"] * len(scores) + ["best" if best else "" for best in table["best"]]
    unmeasured = scores.loc[scores["value"].isna(), "label"].tolist()
    remarks = [
        "Baselines first; * marks the best complete trial.",
        *(f"{text}." for text in tables.beaten(table, scores, study.objective.direction)),
    ]
    if unmeasured:
        remarks.append(f"Not measured in this run: {', '.join(unmeasured)}.")
    legend = page.paragraph(" ".join(remarks))
    return page.section("Trials", legend, page.table(shown, classes))


def _history(study: StudyRecord, table: pd.DataFrame, scores: pd.DataFrame, label: str) -> str:
    frame = history_data(table, study.objective.direction)
    return page.figure(draw_history(frame, scores, label), "history")


def _slices(study: StudyRecord, table: pd.DataFrame, label: str) -> list[str]:
    note = (
        f"{label} of the complete trials against the values of one axis. All other values differ from dot to dot, "
        "so a slope seen here may belong to another axis."
    )
    drawn = [
        page.figure(draw_slice(slice_data(table, heading), axis, heading), f"slice-{number}")
        for number, (axis, heading) in enumerate(zip(study.axes, study.headings, strict=True))
    ]
    return [page.paragraph(note), page.grid(drawn)]


def _failures(reader: Reader) -> str:
    failed = tables.failures(reader)
    content = page.paragraph("None.") if failed.empty else page.table(failed, kind="plain")
    return page.section("Failures", content)


def _provenance(reader: Reader) -> str:
    runs, resolved = reader.provenance(), reader.study().resolved
    parts = [page.paragraph(f"{len(runs)} run(s) of the study; the last one:")] if runs else []
    if runs:
        parts.append(_key_values({key: _plain(value) for key, value in runs[-1].items()}))
    study = page.escape(json.dumps(resolved, indent=2, ensure_ascii=False))
    details = (
        f'<details><summary>The study as it was run</summary><pre class="scroll">{study}</pre></details>'
    )
    return page.section("Provenance", *parts, details)


def _key_values(content: dict[str, str]) -> str:
    frame = pd.DataFrame(list(content.items()), columns=["what", "value"])
    return page.table(frame, kind="plain")


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
