"""The training loop: a generator of Progress, which resumes to the same bits."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch

from rse_study.errors import InputError, NonFiniteLoss, first_line
from rse_study.results.bit_equality import SIMILARITY_DIGITS, UNLIKE
from rse_study.results.files.result_file import (
    FILE_NAME,
    ITEMS_FILE,
    PARAMETERS,
    WORK,
    Point,
    Result,
    read_result,
    write_result,
)
from rse_study.results.files.schema import CHECKPOINT_FOLDER, MODEL_FOLDER
from rse_study.results.records import Verdict
from rse_study.tensors import Collectives
from rse_study.training import checkpoint
from rse_study.training.arithmetic import torch_threads
from rse_study.training.checkpoint import Publish, TrainState, keep_local
from rse_study.training.materials import Materials, identity_of
from rse_study.training.session import Session
from rse_study.training.session_setup import open_session, scores_of_base
from rse_study.training.trial import Trial

FULL = "the GPU's memory is full"
OTHER_WORDS = ("CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED")
"""of errors that are no torch.OutOfMemoryError, for memory that torch does not manage"""


@contextmanager
def full_memory_named() -> Iterator[None]:
    """Raise InputError where CUDA runs out of memory: it would again the next time."""
    try:
        yield
    except RuntimeError as error:
        text = str(error)
        if not isinstance(error, torch.OutOfMemoryError) and not any(words in text for words in OTHER_WORDS):
            raise
        rule = "weights, optimizer state and activations of a batch must all fit at once"
        remedy = (
            "Compute fewer sentences at a time (chunk_size: 16 with graphed: false, of the base or of one row; a study"
            " that has begun needs another name for that), or give a cell more of a GPU (resources.gpus)"
        )
        raise InputError(f"{FULL} ({first_line(error)[:300]})", rule=rule, remedy=remedy) from None


def finished(directory: Path, identity: str) -> Result | None:
    """Read the result of an ended cell; InputError if it is damaged or another cell's."""
    if not (directory / FILE_NAME).exists():
        return None
    result = read_result(directory)
    if result.identity != identity:
        raise checkpoint.another_configuration("result", directory)
    return result


def conclude(
    state: TrainState,
    session: Session,
    status: Literal["complete", "failed", "stopped_early"],
    reason: str = "",
) -> None:
    """Write result.json, on rank 0, before anybody learns how the cell ended."""
    if session.run.collectives.rank != 0:
        return
    history = tuple(Point(**point) for point in state.history)
    best = {} if state.best is None else {"dev/kept": state.best, "dev/kept_t": float(state.best_t)}
    result = Result(
        identity=state.identity,
        seed=session.run.streams.seed,
        config=session.trial.model_dump(mode="json"),
        status=status,
        reason=reason,
        history=history,
        final=history[-1].metrics | best,
        provenance=state.provenance | _costs_and_origin(state, session),
        duration_s=state.seconds,
    )
    write_result(session.directory, result)
    session.publish(ITEMS_FILE)
    session.publish(MODEL_FOLDER)
    session.publish(FILE_NAME)
    if status == "complete":
        checkpoint.remove(session.directory / CHECKPOINT_FOLDER)
        session.publish(CHECKPOINT_FOLDER)


def _costs_and_origin(state: TrainState, session: Session) -> dict[str, Any]:
    return {
        "materials": session.materials.fingerprints,
        PARAMETERS: sum(part.numel() for part in session.networks.parameters()),
        WORK: session.trial.cost.work * state.t,
        SIMILARITY_DIGITS: state.similarity_digits,
        UNLIKE: state.unlike,
    }


SAVING_SHARE = 20  # each second spent on writing or sending a checkpoint is followed by this many without one
Points = Generator["Progress", Verdict | None, None]
Report = Callable[["Progress"], Verdict | None]


class DifferentCheckpoints(InputError):
    """The workers of a cell found different checkpoints in its folder."""


@dataclass(frozen=True)
class Progress:
    """One point of a run."""

    t: int
    num_steps: int
    """of the full budget"""
    metrics: dict[str, float] = field(default_factory=dict)
    """by name; empty on workers that measure nothing"""
    is_final: bool = False
    """whether this is the last point of the full budget"""


def train(
    trial: Trial,
    seed: int,
    materials: Materials,
    directory: Path,
    collectives: Collectives | None = None,
    *,
    device: str = "cpu",
    checkpoint_seconds: float = 60.0,
    continues: bool = False,
    publish: Publish = keep_local,
) -> Points:
    """Train one cell and yield its points; every worker runs this.

    Yields a point before training, every `report_every` steps, at every measurement on the dev pairs, and at the
    end. The answer "stop", given to every worker alike, ends the cell early and
    keeps its checkpoint; None goes on, and the final point's answer is ignored. Call it again to resume after an
    interruption; a finished cell yields its last point only.

    Parameters
    ----------
    materials
        Data and models of the trial, ready on this machine.
    directory
        The cell's folder: rank 0 writes checkpoint/, model/ and result.json in it.
    collectives
        The workers of the cell, by default this process alone.
    checkpoint_seconds
        Time between two checkpoints (0: one after every step), longer if writing takes over a twentieth of it.
    continues
        Whether a cell that was stopped early goes on to its full budget, as if it had never been stopped.
    publish
        Called by rank 0 with the name of each file or folder that it has written or removed in the directory.

    Raises
    ------
    InputError
        If configuration and data do not fit.
    NonFiniteLoss
        If the loss is not finite at some step.
    """
    identity, group = identity_of(trial, seed, materials), collectives or Collectives()
    target = torch.device(device)
    ended = finished(directory, identity)
    if ended is not None and not (continues and ended.status == "stopped_early"):
        _require_one_view(group, target, directory, -1)
        yield from _last_point(ended, directory, group, publish)
        return
    session = open_session(trial, seed, materials, directory, group, target, publish)
    state = session.resume(identity)
    _require_one_view(group, target, directory, state.t)
    session.note_machine(state)
    stopped_at = ended.history[-1].t if ended is not None else -1
    with closing(session):
        yield from _train_from(state, session, stopped_at, checkpoint_seconds)


def drive(points: Points, report: Report) -> None:
    """Run `train(...)` to its end, answering each point with the verdict of `report`."""
    verdict: Verdict | None = None
    with closing(points), full_memory_named():
        while True:
            try:
                progress = points.send(verdict)
            except StopIteration:
                return
            verdict = report(progress)


def train_in_process(
    trial: Trial,
    seed: int,
    materials: Materials,
    directory: Path,
    *,
    threads: int = 1,
    report: Report = lambda progress: None,
    **options: Any,
) -> None:
    """Train one cell in this process to its end; `options` are those of `train`.

    `report` is called with each point; "stop" ends the cell early.
    """
    with torch_threads(threads):
        drive(train(trial, seed, materials, directory, **options), report)


def _require_one_view(collectives: Collectives, device: torch.device, directory: Path, t: int) -> None:
    """Raise DifferentCheckpoints unless all workers read one step (-1: a finished cell)."""
    if not collectives.agree(t, device):
        what = "the workers found different checkpoints"
        rule = "all workers read one folder, which rank 0 writes"
        remedy = "Keep studies on storage that all machines share (--store)"
        raise DifferentCheckpoints(what, where=str(directory), rule=rule, remedy=remedy)


def _last_point(ended: Result, directory: Path, group: Collectives, publish: Publish) -> Points:
    if ended.status == "failed":
        raise NonFiniteLoss.parse(ended.reason)
    if ended.status == "complete" and group.rank == 0:
        checkpoint.remove(directory / CHECKPOINT_FOLDER)  # left by a crash after the result was written
        publish(CHECKPOINT_FOLDER)
    last = ended.history[-1].t
    yield Progress(last, last, dict(ended.final), is_final=True)


def _train_from(state: TrainState, session: Session, stopped_at: int, checkpoint_seconds: float) -> Points:
    begun = saved = time.monotonic()
    earlier, pause = state.seconds, checkpoint_seconds
    if not state.history:
        _note(state, _measure_base(session))
    # A checkpoint's own point is yielded again, since a crash may have come before its verdict, unless it was "stop".
    is_new = state.history[-1]["t"] == state.t != stopped_at
    while state.t < session.num_steps:
        if is_new and (yield _progress(state, session)) == "stop":
            session.save(state)
            conclude(state, session, "stopped_early", f"stopped at step {state.t} of {session.num_steps}")
            return
        is_new = _advance(state, session)
        now = time.monotonic()
        state.seconds = earlier + now - begun
        if now - saved >= pause and state.t < session.num_steps:
            session.save(state)
            saved = time.monotonic()
            pause = checkpoint_seconds and max(checkpoint_seconds, SAVING_SHARE * (saved - now))
    conclude(state, session, "complete")
    yield _progress(state, session)


def _advance(state: TrainState, session: Session) -> bool:
    """Take one step; return whether it made a point of the history."""
    try:
        outcome = session.advance(state.t)
        state.t += 1
        metrics = session.measure(outcome, state)
    except NonFiniteLoss as loss:
        conclude(state, session, "failed", str(loss))
        raise
    if metrics:
        _note(state, metrics)
    return bool(metrics)


def _measure_base(session: Session) -> dict[str, float]:
    if session.run.collectives.rank != 0:
        return {}
    size = session.run.collectives.size
    return scores_of_base(session.trial, session.materials, size, session.device, session.evaluate_dev)


def _note(state: TrainState, metrics: dict[str, float]) -> None:
    state.history.append({"t": state.t, "metrics": metrics})


def _progress(state: TrainState, session: Session) -> Progress:
    metrics, num_steps = state.history[-1]["metrics"], session.num_steps
    return Progress(state.t, num_steps, metrics, is_final=state.t == num_steps)
