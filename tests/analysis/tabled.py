"""Grids that repeat a paper's table, in real ledgers; their numbers are made up."""

from pathlib import Path

from rse_study.results.ledger import Ledger
from rse_study.results.records import (
    AxisRecord,
    CellRecord,
    EvaluationRow,
    Measure,
    ObjectiveRecord,
    StudyRecord,
)
from rse_study.results.result_file import Point, Result, write_result
from rse_study.results.schema import cell_folder
from tests.analysis.searched import measure, run

OBJECTIVE = ObjectiveRecord(metric="dev", label="STS-B dev, Spearman x100", evaluation="STS-B/dev/all")
FAILED, PLANNED, RUNNING = "failed", "planned", "running"  # what a cell may have instead of a score


def proposal_of(name):
    """The axes' values in the name of a row, "rho = 0.5, norm = l2"; none in a label."""
    pairs = [part.split(" = ") for part in name.split(", ")] if " = " in name else []
    return {axis: value if value[0].isalpha() else float(value) for axis, value in pairs}


def study_of(
    rows,
    num_seeds,
    *,
    name="tabled",
    baseline="",
    paper=None,
    num_cells=None,
    evaluations=(),
    less=(),
    encoder="",
):
    """The record of such a study. `less`: metrics that their evaluation calls better where they are smaller."""
    axes = {axis: [] for row in rows for axis in proposal_of(row)}
    for row in rows:
        for axis, value in proposal_of(row).items():
            axes[axis].append(value)
    resolved = {"name": name, "grid": {"axes": axes, "rows": {}, "baseline": baseline}}
    return StudyRecord(
        name=name,
        question="Which row is best?",
        kind="grid",
        objective=OBJECTIVE,
        axes=tuple(
            AxisRecord(
                name=axis, symbol=axis, paths=(axis,), kind="choice", choices=tuple(dict.fromkeys(values))
            )
            for axis, values in axes.items()
        ),
        num_cells=len(rows) * num_seeds if num_cells is None else num_cells,
        evaluations=("STS-B/test", *evaluations),
        measures=tuple(Measure(name=metric, metric=metric, direction="minimize") for metric in less),
        resolved=resolved
        | ({"paper": paper} if paper else {})
        | ({"base": {"encoder": {"name": encoder}}} if encoder else {}),
    )


def cell_of(trial, name, seed):
    """A cell as it is planned."""
    proposal = proposal_of(name)
    return CellRecord(
        identity=f"{trial:032x}{seed:032x}",
        trial=trial,
        seed=seed,
        stage="grid",
        label="" if proposal else name,
        config={"trial": trial},
        proposal=proposal,
    )


def make(folder: Path, rows, seeds=None, **study) -> Path:
    """A ledger with these rows: scores by seed, or what became of the cell. On the test split each has a point less."""
    with Ledger.open(folder) as ledger:
        fill(ledger, rows, seeds, **study)
    return folder


def fill(ledger, rows, seeds=None, **study):
    """Freeze, plan and end every cell."""
    num_seeds = len(next(iter(rows.values()))) if rows else 0
    seeds = range(num_seeds) if seeds is None else seeds
    ledger.freeze(study_of(rows, num_seeds, **study))
    for trial, (name, scores) in enumerate(rows.items()):
        for seed, score in zip(seeds, scores, strict=True):
            cell = cell_of(trial, name, seed)
            ledger.plan([cell])
            end(ledger, cell, score)


def end(ledger, cell, score):
    """What became of a cell. Its objective is that of the last step; the best was seen before."""
    if score == PLANNED:
        return
    if score in (RUNNING, FAILED):
        ledger.start(cell.identity, executor="inline", workers=1, threads=1)
        if score == FAILED:
            fail(ledger, cell, "step 3: the loss is not finite")
        return
    steps = zip((20, 40, 60), (float(score) - 5, float(score) + 5, float(score)), strict=True)
    run(ledger, cell, "complete", tuple(Point(t=t, metrics={"dev": dev, "loss": 1.0}) for t, dev in steps))
    ledger.record_evaluations([measure(cell.identity, "STS-B/test", float(score) - 1)])


def fail(ledger, cell, reason):
    """A loss that is not finite leaves a result that says so, on the disk and in the ledger."""
    failed = Result(
        identity=cell.identity, seed=cell.seed, config=cell.config, status="failed", reason=reason
    )
    write_result(cell_folder(ledger.study_dir, cell.identity), failed)
    ledger.record_result(failed)


def add(folder, scores):
    """Record what evaluations found: {metric: {row or baseline: scores by seed, or its one score}}.

    Rows are those of the ledger, in its order; None is no score.
    """
    with Ledger.open(folder) as ledger:
        cells = {(cell.label, cell.seed): cell.identity for cell in ledger.cells()}
        for metric, rows in scores.items():
            for name, values in rows.items():
                by_subject = (
                    {cells[name, seed]: value for seed, value in enumerate(values)}
                    if isinstance(values, tuple)
                    else {name: values}
                )
                ledger.record_evaluations(
                    [scored(metric, *one) for one in by_subject.items() if one[1] is not None]
                )
    return folder


def scored(metric, subject, value):
    """A score by the name of its metric, task/split or preset/aggregation."""
    task, how, aggregation = metric.split("/", 2)
    split, preset = (how, "") if how == "test" else ("test", how)
    return EvaluationRow(
        subject=subject,
        task=task,
        split=split,
        preset=preset,
        aggregation=aggregation,
        value=value,
        num_examples=500,
        degenerate=value != value,
    )
