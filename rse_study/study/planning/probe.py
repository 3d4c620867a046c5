"""Timing of a few real steps on this machine."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median

import torch

from rse_study.activity import ProgressCallback
from rse_study.errors import InputError
from rse_study.results.records import Verdict
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.parts import Resources
from rse_study.study.planning.footprint import trials_of
from rse_study.study.planning.measured import Conditions, TimedWork, work_of
from rse_study.training.loop import Progress, train_in_process
from rse_study.training.materials import Materials, PrepareMaterials
from rse_study.training.trial import Budget, Selection, Trial

MOST_STEPS, FEWEST_STEPS = 6, 3
GRAPHED_STEPS = 40  # on a GPU: those of each shape that are not replayed are far fewer than those that are
PATIENCE_S = 15.0  # per trial; after that the fewest steps are enough


def probe(
    checked: CheckedStudy, prepare: PrepareMaterials, on_progress: ProgressCallback = lambda done, total: None
) -> tuple[TimedWork, ...]:
    """Train the cheapest, the base and the dearest trial for a few steps.

    Each runs with one worker and the study's threads, in a temporary folder.
    """
    resources = checked.study.resources
    if resources.gpus and not torch.cuda.is_available():
        rule, remedy = "this machine has none", "Probe where the study will run"
        raise InputError(f"resources.gpus = {resources.gpus:g}", where="--probe", rule=rule, remedy=remedy)
    trials, timed = list(dict.fromkeys(probed(checked))), list[TimedWork]()
    on_progress(0, len(trials))
    for trial in trials:
        timed.append(_time(trial, prepare(trial), resources))
        on_progress(len(timed), len(trials))
    return tuple(timed)


def probed(checked: CheckedStudy) -> tuple[Trial, Trial, Trial]:
    """Return the cheapest, the base and the dearest trial of a grid or a search."""
    trials = trials_of(checked)
    return min(trials, key=_size), checked.study.base, max(trials, key=_size)


def _size(trial: Trial) -> float:
    """Return the operations of a step, up to the factor P."""
    return trial.step_work * trial.batch_size * trial.max_length


def _time(trial: Trial, materials: Materials, resources: Resources) -> TimedWork:
    timer = StepTimer(GRAPHED_STEPS if trial.graphed and resources.gpus else MOST_STEPS)
    with tempfile.TemporaryDirectory(prefix="rse-study-probe-") as folder:
        train_in_process(
            _shortened(trial),
            0,
            materials,
            Path(folder),
            threads=resources.threads,
            report=timer.report,
            device="cuda" if resources.gpus else "cpu",
        )
    card = torch.cuda.get_device_name() if resources.gpus else ""
    conditions = Conditions.of(trial, 1, resources.threads, resources.gpus)
    return TimedWork(conditions, timer.seconds_per_step, work_of(trial, 1), card=card)


def _shortened(trial: Trial) -> Trial:
    """Return a trial that reports after every step and skips dev scores; it never runs to its end."""
    selection = Selection(dev=trial.selection.dev, every=10 * MOST_STEPS)
    budget = Budget(unit="steps", amount=2 * GRAPHED_STEPS)
    changes = {"budget": budget, "selection": selection, "report_every": 1}
    return trial.model_copy(update=changes)


@dataclass
class StepTimer:
    """Times of steps; the first is left out, for it allocates what others need."""

    most: int = MOST_STEPS
    clock: Callable[[], float] = time.perf_counter
    times: list[float] = field(default_factory=list)

    def report(self, progress: Progress) -> Verdict | None:
        """Record the time; stop after the most steps, or after a few slow ones."""
        if progress.t == 0:
            return None
        self.times.append(self.clock())
        is_late = self.times[-1] - self.times[0] > PATIENCE_S
        return "stop" if progress.t >= (FEWEST_STEPS if is_late else self.most) else None

    @property
    def seconds_per_step(self) -> float:
        """Median of all steps but the first: recording one takes longer than replaying it."""
        return median(later - earlier for earlier, later in pairwise(self.times))
