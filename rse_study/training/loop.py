"""The training loop: a generator of Progress that takes verdicts, may stop anywhere and goes on from there."""

import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import torch

from rse_study.collectives import Collectives
from rse_study.errors import InputError, NonFiniteLoss
from rse_study.results.records import Verdict
from rse_study.results.result_file import FILE_NAME, Point, Result, read_result, write_result
from rse_study.training import checkpoint
from rse_study.training.checkpoint import TrainState
from rse_study.training.materials import Materials, identity_of
from rse_study.training.provenance import provenance
from rse_study.training.session import Session, open_session
from rse_study.training.trial import Trial
from rse_study.training.workers import require_one_view

Points = Generator["Progress", Verdict | None, None]


@dataclass(frozen=True)
class Progress:
    """One point of a run: `t` of `num_steps` optimiser steps are done."""

    t: int
    num_steps: int
    metrics: dict[str, float] = field(default_factory=dict)
    is_final: bool = False


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
) -> Points:
    """Train one cell. Every worker runs this; rank 0 writes `directory`: checkpoint/, model/ and result.json.

    Yields a point before training, every `report_every` steps, at every look at the dev pairs, wherever an evaluation
    is watched, and at the end.
    Takes "stop" for an answer, which every worker must be given alike: the cell then ends early, with its
    checkpoint kept. None goes on; the final point's answer is ignored. Simply call it again to go on after an
    interruption. A finished cell yields its last point only, but with `continues` one that was stopped early
    goes on to its full budget, as if it had never been stopped.
    Raises InputError where configuration and data do not fit, NonFiniteLoss where the loss is lost.
    """
    identity, group = identity_of(trial, seed, materials), collectives or Collectives()
    place = torch.device(device)
    ended = finished(directory, identity)
    if ended is not None and not (continues and ended.status == "stopped_early"):
        require_one_view(group, place, directory, -1)
        yield from _told(ended, directory, group)
        return
    session = open_session(trial, seed, materials, directory, group, place)
    account = session.resume(identity)
    require_one_view(group, place, directory, account.t)
    stopped_at = ended.history[-1].t if ended is not None else -1
    yield from _from(account, session, stopped_at, checkpoint_seconds)


def finished(directory: Path, identity: str) -> Result | None:
    """How the cell in this folder ended, if it has. Raises InputError where it is another one's, or damaged."""
    if not (directory / FILE_NAME).exists():
        return None
    result = read_result(directory)
    if result.identity != identity:
        raise InputError(
            "the result here is another configuration's",
            where=str(directory),
            rule="a folder belongs to one trial, one seed and one set of data",
            remedy="Choose another --out, or remove the folder to start anew",
        )
    return result


def _told(ended: Result, directory: Path, group: Collectives) -> Points:
    """What a finished cell has to say: its last point, or its failure."""
    if ended.status == "failed":
        raise NonFiniteLoss.parse(ended.reason)
    if ended.status == "complete" and group.rank == 0:
        checkpoint.remove(directory / "checkpoint")  # left by a crash behind the result
    last = ended.history[-1].t
    yield Progress(last, last, dict(ended.final), is_final=True)


def _from(account: TrainState, session: Session, stopped_at: int, checkpoint_seconds: float) -> Points:
    begun = saved = time.monotonic()
    earlier = account.seconds
    if not account.history:
        _note(account, _before(session))
    # A checkpoint's own point is shown again: a crash may have come before its verdict. Not where it was "stop".
    is_new = account.history[-1]["t"] == account.t != stopped_at
    while account.t < session.num_steps:
        if is_new and (yield _progress(account, session)) == "stop":
            session.save(account)
            _conclude(
                account, session, "stopped_early", f"stopped at step {account.t} of {session.num_steps}"
            )
            return
        is_new = _advance(account, session)
        now = time.monotonic()
        account.seconds = earlier + now - begun
        if now - saved >= checkpoint_seconds and account.t < session.num_steps:
            session.save(account)
            saved = now
    _conclude(account, session, "complete")
    yield _progress(account, session)


def _advance(account: TrainState, session: Session) -> bool:
    """One step; True where it made a point of the history."""
    try:
        outcome = session.advance(account.t)
    except NonFiniteLoss as loss:
        _conclude(account, session, "failed", str(loss))
        raise
    account.t += 1
    metrics = session.measure(outcome, account)
    if metrics:
        _note(account, metrics)
    return bool(metrics)


def _before(session: Session) -> dict[str, float]:
    """The scores of the base as it comes; rank 0 looks for all."""
    if session.run.collectives.rank != 0:
        return {}
    return session.looks.look() | session.looks.watch(0, session.num_steps)


def _note(account: TrainState, metrics: dict[str, float]) -> None:
    account.history.append({"t": account.t, "metrics": metrics})


def _progress(account: TrainState, session: Session) -> Progress:
    metrics, num_steps = account.history[-1]["metrics"], session.num_steps
    return Progress(account.t, num_steps, metrics, is_final=account.t == num_steps)


def _conclude(
    account: TrainState,
    session: Session,
    status: Literal["complete", "failed", "stopped_early"],
    reason: str = "",
) -> None:
    """result.json, by rank 0, before anybody is told how the cell ended."""
    if session.run.collectives.rank != 0:
        return
    history = tuple(Point(**point) for point in account.history)
    best = {} if account.best is None else {"dev/kept": account.best, "dev/kept_t": float(account.best_t)}
    trial, workers = session.trial, session.run.collectives.size
    result = Result(
        identity=account.identity,
        seed=session.run.streams.seed,
        config=trial.model_dump(mode="json"),
        status=status,
        reason=reason,
        history=history,
        final=history[-1].metrics | best,
        provenance=provenance(session.device, workers, trial.precision)
        | {"materials": session.materials.fingerprints},
        duration_s=account.seconds,
    )
    write_result(session.directory, result)
    if status == "complete":
        checkpoint.remove(session.directory / "checkpoint")
