"""Record of a study in its ledger, and provenance of its runs."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from rse_study.data.attack_sets import name_of
from rse_study.data.labelled import StsPairs
from rse_study.evaluation.evaluations import Evaluation
from rse_study.evaluation.sts import Similarity, aggregation_of, title_of
from rse_study.results.records import COSTS
from rse_study.results.study_record import AxisRecord, ObjectiveRecord, StudyRecord
from rse_study.spec import hash_file
from rse_study.study.checking.edges import checks_of
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study
from rse_study.study.definition.domains import Int
from rse_study.study.definition.parts import Objective, Resources
from rse_study.study.definition.space import Axis
from rse_study.training.arithmetic import provenance
from rse_study.training.materials import Materials


def study_record(
    checked: CheckedStudy,
    dev: StsPairs,
    evaluations: Sequence[Evaluation] = (),
    judges: Sequence[Evaluation] = (),
    own_baselines: dict[str, str] | None = None,
) -> StudyRecord:
    """Return the resolved study, with every default and every axis written out."""
    study = checked.study
    trials = [row.trial for row in checked.rows] or [branch.base for _, branch in checked.space.branches()]
    first, *others = (objective_record(one, study, dev) for one in study.all_objectives)
    return StudyRecord(
        name=study.name,
        question=study.question,
        objective=first,
        other_objectives=tuple(others),
        kind="search" if study.grid is None else "grid",
        axes=tuple(_axis_record(axis, is_of_grid=study.grid is not None) for axis in checked.space.axes),
        num_trials=len(checked.rows) or study.num_trials,
        num_cells=checked.num_cells,
        rungs=checked.rungs,
        evaluations=study.evaluation_names,
        measures=tuple(measure for evaluation in evaluations for measure in evaluation.measures),
        fingerprints={one.name: one.fingerprint for one in (*judges, *evaluations)} | (own_baselines or {}),
        search_seed=study.search_seed,
        checks=checks_of(trials),
        unchecked=tuple(dict.fromkeys(one.method.name for one in trials if not one.method.checks)),
        resolved=study.resolved(),
        **_file(Path(checked.where)),
    )


def _file(path: Path) -> dict[str, str]:
    is_file = path.is_file()
    return {"file": str(path.resolve()), "file_hash": hash_file(path)} if is_file else {}


def objective_record(objective: Objective, study: Study, dev: StsPairs) -> ObjectiveRecord:
    """Return an objective as the ledger records it."""
    label, evaluation = _label(objective.metric, study, dev)
    return ObjectiveRecord(**objective.model_dump(), label=label, evaluation=evaluation)


def _label(metric: str, study: Study, dev: StsPairs) -> tuple[str, str]:
    """Return a metric's display name, and the metric that measures the same on baselines."""
    if metric in COSTS:
        return COSTS[metric], ""
    if metric == "loss":
        return "training loss", ""
    if metric in ("dev", "dev/kept"):
        of = " of the kept checkpoint" if metric == "dev/kept" else ""
        return f"{title_of(dev)}{of}, Spearman x100", f"{dev.name}/{dev.split}/{aggregation_of(dev)}"
    replayed = study.base.replayed
    if metric == "robust/accuracy":
        task, what = name_of(replayed.labelled), name_of(replayed.labelled)
    else:
        task = next(iter(dev.parts()))  # of several sets the first is attacked
        what = f"{task} {dev.split}"
    figure = metric.removeprefix("robust/").replace("spearman", "Spearman")
    return f"{what} under {replayed.recipe}, {figure} x100", metric.replace("robust", f"{task}/replayed")


def provenance_of(
    materials: Materials, resources: Resources, evaluations: Sequence[Evaluation] = ()
) -> dict[str, Any]:
    """Return the provenance of this run: versions, machine, data, code."""
    pairs = [materials.dev, *(one.pairs for one in evaluations if isinstance(one, Similarity))]
    copies = [f"{one.name}/{one.split}" for one in pairs if one.variant == "senteval"]
    return provenance(torch.device("cpu")) | {
        "threads": resources.threads,
        "workers": resources.workers,
        "gpus": resources.gpus,
        "materials": dict(materials.fingerprints),
        **({"texts as SentEval has them": ", ".join(copies)} if copies else {}),
        "code": _code_revision(),
    }


def _axis_record(axis: Axis, *, is_of_grid: bool) -> AxisRecord:
    domain = axis.domain
    shared = {"name": axis.name, "symbol": axis.symbol, "paths": axis.paths, "when": domain.when}
    if domain.scale == "none" or is_of_grid:  # in a grid, an integer axis is a list, too
        return AxisRecord(kind="choice", choices=tuple(domain.values()), **shared)
    low, high = domain.edges()
    kind = "int" if isinstance(domain, Int) else "float"
    return AxisRecord(kind=kind, low=low, high=high, log=domain.scale == "log", **shared)


def _code_revision() -> str:
    """Return `git describe` of a checkout; an installed wheel has only its version."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return "installed"
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"
