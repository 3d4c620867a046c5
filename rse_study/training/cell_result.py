"""The result of a cell: result.json, written by rank 0 and read by all."""

from pathlib import Path
from typing import Literal

from rse_study.errors import InputError
from rse_study.results.bit_equality import SIMILARITY_DIGITS, UNLIKE
from rse_study.results.files.evaluation_file import ITEMS_FILE
from rse_study.results.files.result_file import (
    FILE_NAME,
    PARAMETERS,
    WORK,
    Point,
    Result,
    read_result,
    write_result,
)
from rse_study.results.files.schema import CHECKPOINT_FOLDER, MODEL_FOLDER
from rse_study.training import checkpoint
from rse_study.training.checkpoint import TrainState
from rse_study.training.session import Session


def finished(directory: Path, identity: str) -> Result | None:
    """Read the result of an ended cell; InputError if it is damaged or another cell's."""
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
    trial = session.trial
    result = Result(
        identity=state.identity,
        seed=session.run.streams.seed,
        config=trial.model_dump(mode="json"),
        status=status,
        reason=reason,
        history=history,
        final=history[-1].metrics | best,
        provenance=state.provenance
        | {
            "materials": session.materials.fingerprints,
            PARAMETERS: sum(part.numel() for part in session.networks.parameters()),
            WORK: trial.method.cost.work * state.t,
            SIMILARITY_DIGITS: state.similarity_digits,
            UNLIKE: state.unlike,
        },
        duration_s=state.seconds,
    )
    write_result(session.directory, result)
    session.publish(ITEMS_FILE)
    session.publish(MODEL_FOLDER)
    session.publish(FILE_NAME)
    if status == "complete":
        checkpoint.remove(session.directory / CHECKPOINT_FOLDER)
        session.publish(CHECKPOINT_FOLDER)
