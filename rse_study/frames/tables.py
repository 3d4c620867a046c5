"""Public frames of a ledger's tables; retired cells are left out."""

import pandas as pd

from rse_study.results.device_time import gpus_per_worker, num_devices
from rse_study.results.frame_columns import with_columns
from rse_study.results.reader import HAS_RESULT, Reader
from rse_study.results.records import BASELINES
from rse_study.results.row_names import names_of_cells

OF_A_CELL = ["row", "stage", "trial", "seed"]


def cells_frame(reader: Reader) -> pd.DataFrame:
    """Return one row per cell, by trial and seed, with a column per axis at the end."""
    study, cells = reader.study(), _named_cells(reader)
    last = reader.last_points(study.objective.metric)
    axes = {
        heading: [proposal.get(axis.name) for proposal in cells["proposal"]]
        for axis, heading in zip(study.axes, study.headings, strict=True)
    }
    status = cells["identity"].map(reader.statuses_for_next_run())
    values = {
        "status": status,
        "objective": cells["identity"].map(last["value"]).astype(float).where(status.isin(HAS_RESULT)),
        "t": cells["identity"].map(last["t"]),
        "started": times(cells["started"]),
        "ended": times(cells["ended"]),
    }
    return with_columns(cells.assign(**values), "cells").assign(
        **{heading: pd.Series(column, dtype=object).infer_objects() for heading, column in axes.items()}
    )


def metrics_frame(reader: Reader) -> pd.DataFrame:
    """Return one row per metric value, by trial, seed and step."""
    return with_columns(_beside_cell(reader, reader.metrics()), "metrics")


def attempts_frame(reader: Reader) -> pd.DataFrame:
    """Return one row per attempt, by trial, seed and number."""
    attempts = _beside_cell(reader, reader.attempts())
    started, ended = times(attempts["started"]), times(attempts["ended"])
    seconds = (ended - started).dt.total_seconds()
    devices = num_devices(attempts, gpus_per_worker(reader.cells()["provenance"], reader.provenance()))
    return with_columns(
        attempts.assign(started=started, ended=ended, duration_s=seconds, device_s=seconds * devices),
        "attempts",
    )


def evaluations_frame(reader: Reader) -> pd.DataFrame:
    """Return one row per score of a cell or a baseline."""
    study, rows = reader.study(), reader.evaluations()
    cells = _named_cells(reader).set_index("identity")
    is_cell = rows["subject"].isin(cells.index)
    rows = rows[is_cell | rows["subject"].isin(list(BASELINES))].reset_index(drop=True)
    own = cells[OF_A_CELL].reindex(rows["subject"]).reset_index(drop=True)
    kind = rows["subject"].isin(cells.index).map({True: "cell", False: "baseline"})
    return with_columns(
        rows.assign(
            kind=kind,
            row=own["row"].where(own["row"].notna(), rows["subject"].map(BASELINES)),
            stage=own["stage"].where(own["stage"].notna(), ""),
            trial=own["trial"],
            seed=own["seed"],
            less_is_better=[study.is_less_better(metric) for metric in rows["metric"]],
        ),
        "evaluations",
    )


def importance_frame(reader: Reader) -> pd.DataFrame:
    """Return one row per axis and evaluator, most important first."""
    study, rows = reader.study(), reader.importance()
    headings = study.heading_of
    return with_columns(rows.assign(axis=[headings.get(name, name) for name in rows["axis"]]), "importance")


def times(stamps: pd.Series) -> pd.Series:
    """Parse the ledger's ISO 8601 times (UTC); an empty one becomes NaT."""
    return pd.to_datetime(stamps.where(stamps != "", None), utc=True, format="ISO8601")


def _named_cells(reader: Reader) -> pd.DataFrame:
    cells = reader.cells()
    return cells.assign(row=names_of_cells(reader.study(), cells))


def _beside_cell(reader: Reader, frame: pd.DataFrame) -> pd.DataFrame:
    """Add the row name and stage of each entry's cell."""
    cells = _named_cells(reader).set_index("identity")
    own = cells[["row", "stage"]].reindex(frame["cell"])
    return frame.assign(row=own["row"].to_numpy(), stage=own["stage"].to_numpy())
