"""The body of `train`: assets, baselines, the loop with its progress, the summary."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rse_study.activity import ActivityCallback
from rse_study.cli import parameters
from rse_study.cli.arguments import materials_of, require_cache, require_device, require_folder, trial_file
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import announce, command, describe, marked, suggest
from rse_study.data import data_dir
from rse_study.data.labelled import StsPairs
from rse_study.errors import InputError, NonFiniteLoss, refuse
from rse_study.evaluation.sts import Similarity, aggregation_of, title_of
from rse_study.results.files.result_file import Result, read_result
from rse_study.results.records import BASELINES
from rse_study.study.checking.data_check import check_trial
from rse_study.study.definition.config import Baseline
from rse_study.study.definition.reading import read_spec
from rse_study.training.materials import Materials, identity_of
from rse_study.training.trial import Trial

if TYPE_CHECKING:
    from rse_study.training.loop import Progress

BEFORE_TRAINING: tuple[Baseline, ...] = ("token_overlap", "untrained")


def train_trial(
    trial: parameters.TrialArgument,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the cell; one that holds a checkpoint is resumed.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the cell.")] = 0,
    overrides: parameters.Overrides = None,
    workers: Annotated[int, typer.Option(hidden=True, help="Refused.")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="CPU threads; affect the last bits of results.")] = 1,
    device: parameters.DeviceName = "cpu",
) -> None:
    """Train one configuration on this machine, without Ray.

    Shows the dev score before and after, beside the baselines.
    """
    if workers != 1:
        rule, remedy = "trains in one process", "Run a study with resources: {executor: train, workers: N}"
        raise InputError(f"{workers} workers", where="--workers", rule=f"`train` {rule}", remedy=remedy)
    path = trial_file(trial)
    config = read_spec(Trial, path, overrides or ())
    refuse(check_trial(config, str(path), data_dir()))
    folder = out or parameters.DEFAULT_STORE / "trials" / f"{path.stem}-seed{seed}"
    beside = path.parent
    show_training(config, seed, folder, beside, threads=threads, device=device)


def show_training(trial: Trial, seed: int, out: Path, beside: Path, *, threads: int, device: str) -> None:
    """Train, or resume what lies in `out`; the corpus may lie in `beside`."""
    from rse_study.training.loop import finished, train_in_process  # torch, which a refused file does without

    require_device(device)
    require_folder(out, where="--out")
    require_cache()
    with ActivityBars() as bars:
        materials = materials_of(bars, beside, trial)
        ended = finished(out, identity_of(trial, seed, materials))
        if ended is None or ended.status == "stopped_early":
            for line in _baselines(trial, materials, device):
                bars.message(line)
            given: dict[str, Any] = {"threads": threads, "device": device, "continues": True}
            train_in_process(trial, seed, materials, out, report=report_to(bars, out.name), **given)
        else:
            bars.message(f"{out} already holds this run")
    _summarise(read_result(out), materials.dev)
    announce(f"model and result: {out}")
    suggest(command("evaluate", out), command("export", out, f"{out.name}-model"))


def report_to(callback: ActivityCallback, name: str) -> "Callable[[Progress], None]":
    """Return a callback that shows the steps of a run, with its last measurements."""
    measured: dict[str, float] = {}

    def report(progress: "Progress") -> None:
        measured.update(progress.metrics)
        callback.advanced(f"{name}: steps", progress.t, progress.num_steps, describe(measured))

    return report


def _summarise(result: Result, dev: StsPairs) -> None:
    if result.status == "failed":
        raise NonFiniteLoss.parse(result.reason)
    ends = result.history[0].metrics, result.history[-1].metrics
    before, after = (marked(f"{one['dev']:.2f}", one.get("dev/degenerate")) for one in ends)
    scores = f"{before} before, {after} after {result.history[-1].t} steps"
    announce(f"{title_of(dev)}, Spearman x100: {scores}")


def _baselines(trial: Trial, materials: Materials, device: str) -> Iterator[str]:
    """Yield the dev scores of baselines; the base before training is the run's own first point."""
    from rse_study.study.baselines import measure_baseline

    dev = materials.dev
    for name in BEFORE_TRAINING:
        for row in measure_baseline(name, trial, materials, [Similarity(dev)], device=device):
            if row.aggregation == aggregation_of(dev):
                score = marked(f"{row.value:.2f}", row.degenerate)
                yield f"{title_of(dev)}, {BASELINES[row.subject]}: {score}"
