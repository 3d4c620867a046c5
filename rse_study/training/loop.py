"""The training loop: a generator of Progress that may stop anywhere and goes on from its last checkpoint."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch

from rse_study.collectives import Collectives
from rse_study.errors import InputError, NonFiniteLoss
from rse_study.results.result_file import FILE_NAME, Point, Result, read_result, write_result
from rse_study.training.checkpoint import Account
from rse_study.training.materials import Materials, identity_of
from rse_study.training.provenance import provenance
from rse_study.training.session import Session, open_session
from rse_study.training.trial import Trial


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
) -> Iterator[Progress]:
    """Train one cell. Every worker runs this; rank 0 writes `directory`: checkpoint/, model/ and result.json.

    Yields a point before training, every `report_every` steps, at every look at the dev pairs and at the end.
    Simply call it again to go on after an interruption; a finished cell yields its last point only.
    Raises InputError where configuration and data do not fit, NonFiniteLoss where the loss is lost.
    """
    identity = identity_of(trial, seed, materials)
    finished = _finished(directory, identity)
    if finished is not None:
        last = finished.history[-1].t
        if finished.status == "failed":
            raise NonFiniteLoss.parse(finished.reason)
        yield Progress(last, last, dict(finished.final), is_final=True)
        return
    session = open_session(
        trial, seed, materials, directory, collectives or Collectives(), torch.device(device)
    )
    account = session.resume(identity)
    yield from _from(account, session, seed, checkpoint_seconds)


def _from(account: Account, session: Session, seed: int, checkpoint_seconds: float) -> Iterator[Progress]:
    begun = saved = time.monotonic()
    earlier = account.seconds
    if not account.history:
        yield _note(account, session, _before(session))
    if account.t == session.num_steps:  # stopped after the last checkpoint, before its result
        _conclude(account, session, seed)
        yield Progress(account.t, account.t, account.history[-1]["metrics"], is_final=True)
    for step in range(account.t, session.num_steps):
        try:
            outcome = session.advance(step)
        except NonFiniteLoss as loss:
            _conclude(account, session, seed, failure=str(loss))
            raise
        account.t, account.seconds = step + 1, earlier + time.monotonic() - begun
        metrics = session.measure(outcome, account)
        progress = _note(account, session, metrics) if metrics else None
        is_last = account.t == session.num_steps
        if is_last or time.monotonic() - saved >= checkpoint_seconds:
            session.save(account)
            saved = time.monotonic()
        if is_last:
            _conclude(account, session, seed)
        if progress is not None:
            yield progress


def _before(session: Session) -> dict[str, float]:
    """The dev score of the base as it comes; rank 0 looks for all."""
    return session.look() if session.run.collectives.rank == 0 else {}


def _note(account: Account, session: Session, metrics: dict[str, float]) -> Progress:
    account.history.append({"t": account.t, "metrics": metrics})
    return Progress(account.t, session.num_steps, metrics, is_final=account.t == session.num_steps)


def _conclude(account: Account, session: Session, seed: int, failure: str = "") -> None:
    """result.json, by rank 0, before anybody is told that the cell is complete or has failed."""
    if session.run.collectives.rank != 0:
        return
    history = tuple(Point(**point) for point in account.history)
    best = {} if account.best is None else {"dev/kept": account.best, "dev/kept_t": float(account.best_t)}
    result = Result(
        identity=account.identity,
        seed=seed,
        config=session.trial.model_dump(mode="json"),
        status="failed" if failure else "complete",
        reason=failure,
        history=history,
        final=history[-1].metrics | best,
        provenance=provenance(session.device) | {"materials": session.materials.fingerprints},
        duration_s=account.seconds,
    )
    write_result(session.directory, result)


def _finished(directory: Path, identity: str) -> Result | None:
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
