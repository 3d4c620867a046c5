"""Grids that repeat a paper's table, in real ledgers; their numbers are made up."""

from pathlib import Path

from analysis.comparison import read_comparison
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.reader import Reader
from rse_study.results.records import EvaluationRow, Measure
from rse_study.results.row_names import row_name
from rse_study.results.study_record import AxisRecord, ObjectiveRecord, StudyRecord
from tests.analysis.searched import measure, planned, run
from tests.results.world import begin

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
    objective=OBJECTIVE,
    factorial=False,
    until=None,
    contrasts=None,
):
    """The record of such a study. `less`: metrics that their evaluation calls better where they are smaller.

    In a factorial design every axis is a factor, and rows that are no corners have labels. `until`: bounds on the seeds
    of rows that get them until they are decided.
    """
    axes = {}
    for row in rows:
        for axis, value in proposal_of(row).items():
            axes.setdefault(axis, []).append(value)
    resolved = {"name": name, "grid": {"axes": axes, "rows": {}, "baseline": baseline}}
    if factorial:
        labelled = {row: {} for row in rows if not proposal_of(row)}
        resolved["grid"] = {"factorial": axes, "resolution": 4, "rows": labelled, "baseline": baseline}
    resolved |= {"paper": paper} if paper else {}
    resolved |= {"contrasts": contrasts} if contrasts else {}
    resolved |= {"seeds": {"until": "decided", **until}} if until else {}
    num_seeds = until["at_most"] if until else num_seeds
    resolved |= {"base": {"encoder": {"name": encoder}}} if encoder else {}
    choices = {axis: {"kind": "choice", "choices": tuple(dict.fromkeys(axes[axis]))} for axis in axes}
    return StudyRecord(
        name=name,
        question="Which row is best?",
        kind="grid",
        objective=objective,
        axes=tuple(AxisRecord(name=axis, symbol=axis, paths=(axis,), **choices[axis]) for axis in axes),
        num_trials=len(rows),
        num_cells=len(rows) * num_seeds if num_cells is None else num_cells,
        evaluations=("STS-B/test", *evaluations),
        measures=tuple(Measure(name=metric, metric=metric, direction="minimize") for metric in less),
        resolved=resolved,
    )


def cell_of(trial, name, seed):
    """A cell as it is planned."""
    return planned(trial, seed, "grid", "" if proposal_of(name) else name, proposal_of(name))


def comparison_of(folder):
    """What is read of such a study."""
    with Reader(folder) as reader:
        return read_comparison(reader)


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
        for seed, score in zip(seeds, scores, strict="until" not in study):
            end(ledger, cell_of(trial, name, seed), score)


def end(ledger, cell, score):
    """What became of a cell. Its objective is that of the last step; the best was seen before."""
    ledger.plan([cell])
    if score == RUNNING:
        begin(ledger, cell)
    elif score == FAILED:
        run(ledger, cell, "failed", (), reason="step 3: the loss is not finite")
    elif score != PLANNED:
        steps = zip((20, 40, 60), (float(score) - 5, float(score) + 5, float(score)), strict=True)
        points = tuple(Point(t=t, metrics={"dev": dev, "loss": 1.0}) for t, dev in steps)
        run(ledger, cell, "complete", points)
        ledger.record_evaluations([measure(cell.identity, "STS-B/test", float(score) - 1)])


def add(folder, scores):
    """Record what evaluations found: {metric: {row or baseline: scores by seed, or its one score}}.

    Rows are those of the ledger, in its order; None is no score.
    """
    with Ledger.open(folder) as ledger:
        cells = {
            (cell.label or row_name("", cell.proposal), cell.seed): cell.identity for cell in ledger.cells()
        }
        for metric, rows in scores.items():
            for name, values in rows.items():
                by_seed = enumerate(values) if isinstance(values, tuple) else ()
                found = {cells[name, seed]: value for seed, value in by_seed} or {name: values}
                rows = [scored(metric, *one) for one in found.items() if one[1] is not None]
                ledger.record_evaluations(rows)
    return folder


def scored(metric, subject, value):
    """A score by the name of its metric, task/split or preset/aggregation."""
    task, how, aggregation = metric.split("/", 2)
    split, preset = (how, "") if how == "test" else ("test", how)
    about = {"subject": subject, "task": task, "split": split, "preset": preset, "aggregation": aggregation}
    return EvaluationRow(**about, value=value, num_examples=500, degenerate=value != value)
