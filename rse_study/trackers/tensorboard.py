"""Tracking with TensorBoard: one event file per folder study/trial/cell."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.errors import InputError
from rse_study.results.files.lock import take_lock
from rse_study.trackers.content import CellState, TrackedCell, TrackedPoint, TrackedStudy, TrackedTrial
from rse_study.trackers.event_file import EventFile
from rse_study.trackers.names import folder_name
from rse_study.trackers.packages import import_extra
from rse_study.trackers.tracker import Holding

USUAL_FOLDER = "tensorboard"
ENDS: Mapping[CellState, str] = {
    "complete": "STATUS_SUCCESS",
    "stopped_early": "STATUS_SUCCESS",
    "failed": "STATUS_FAILURE",
}
"""Status for the hparams plugin, which uses only the first end of a session."""


class TensorboardTracker:
    """Event files, whose content is read before anything is added."""

    def __init__(self, place: str) -> None:
        self._folder = Path(place or USUAL_FOLDER)
        self._summary = import_extra("tensorboard.compat.proto.summary_pb2", "tensorboard").Summary
        self._tensor = import_extra("tensorboard.util.tensor_util", "tensorboard").make_tensor_proto
        self._texts = import_extra("tensorboard.plugins.text.metadata", "tensorboard")
        self._hparams = import_extra("tensorboard.plugins.hparams.summary_v2", "tensorboard").hparams_pb
        self._plugin = import_extra("tensorboard.plugins.hparams.plugin_data_pb2", "tensorboard")
        self._metadata = import_extra("tensorboard.plugins.hparams.metadata", "tensorboard")
        self._statuses = import_extra("tensorboard.plugins.hparams.api_pb2", "tensorboard").Status
        self._lock: Any = None
        self._study = Path()
        self._trials: dict[str, str] = {}
        self._files: dict[str, EventFile] = {}
        self._has_end: set[str] = set()

    @property
    def next_step(self) -> str:
        return f"tensorboard --logdir {self._folder}"

    def begin_study(self, study: TrackedStudy) -> None:
        """Create the study's folder and a text that describes the study."""
        self._study = self._folder / folder_name(study.name)
        try:
            self._study.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            what = f"cannot be made: {error.strerror}"
            raise InputError(what, where=f"--dir {self._study}", remedy="Name another folder") from None
        # Two processes appending to one file would destroy it.
        self._lock = self._lock or take_lock(self._study / ".track.lock")
        file = EventFile(self._study / "events.out.tfevents.0.study")
        text = _study_text(study)
        if text not in self._texts_in(file.read()):
            file.add([self._text_event("study", text, study.revised, study.revision)])

    def begin_trial(self, trial: TrackedTrial) -> None:
        self._trials |= {cell.identity: folder_name(trial.name) for cell in trial.cells}

    def begin_cell(self, cell: TrackedCell) -> Holding:
        """Find the cell's file by identity, or name a new one; read it."""
        file = EventFile(self._path(cell))
        self._files[cell.identity] = file
        events, holding = file.read(), Holding()
        names = {self.metric_name(name) for name in cell.scores}
        for event in events:
            for value in event.summary.value:
                if value.WhichOneof("value") != "simple_value":
                    continue
                if value.tag in names:
                    holding.scores[value.tag] = value.simple_value
                else:
                    holding.points[value.tag, event.step] = value.simple_value
        if _digest_row(cell) in (self._texts_in(events) or [""])[-1]:
            holding.digest = cell.digest
        if any(value.tag == self._metadata.SESSION_END_INFO_TAG for e in events for value in e.summary.value):
            self._has_end.add(cell.identity)
        if not any(
            value.tag == self._metadata.SESSION_START_INFO_TAG for e in events for value in e.summary.value
        ):
            values = {
                name: value if isinstance(value, bool | int | float | str) else str(value)
                for name, value in cell.params.items()
            }
            start = self._hparams(values, trial_id=cell.identity, start_time_secs=cell.started)
            file.add([dict(wall_time=cell.started, step=0, summary=start)])
        return holding

    def metric_name(self, name: str) -> str:
        return name

    def stored_value(self, value: float) -> float:
        """Round to single precision; NaN and infinities stay."""
        with np.errstate(over="ignore"):
            return float(np.float32(value))

    def add_points(self, cell: TrackedCell, points: Sequence[TrackedPoint]) -> None:
        self._files[cell.identity].add(
            dict(wall_time=point.at, step=point.t, summary=self._scalars(point.values)) for point in points
        )

    def add_scores(self, cell: TrackedCell, scores: Mapping[str, float]) -> None:
        at = cell.ended or cell.started
        self._files[cell.identity].add(
            [dict(wall_time=at, step=cell.last_step, summary=self._scalars(scores))]
        )

    def discard_cell(self, cell: TrackedCell) -> None:
        self._files.pop(cell.identity).path.unlink(missing_ok=True)
        self._has_end.discard(cell.identity)

    def end_cell(self, cell: TrackedCell) -> None:
        """End the hparams session if the cell has ended, then mark the copy as complete."""
        file, at = self._files[cell.identity], cell.ended or cell.started
        if cell.state in ENDS and cell.identity not in self._has_end:
            file.add([dict(wall_time=at, step=cell.last_step, summary=self._session_end(cell, at))])
            self._has_end.add(cell.identity)
        file.add([self._text_event("cell", _cell_text(cell), at, cell.last_step)])

    def end_trial(self, trial: TrackedTrial) -> None:
        """Do nothing: a folder has no state."""

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()

    def _path(self, cell: TrackedCell) -> Path:
        short = cell.identity[:16]
        for path in self._study.glob(f"*/*/events.out.tfevents.*.{short}"):
            return path  # the row may have been renamed
        stage = " confirm" if cell.stage == "confirm" else ""
        folder = self._study / self._trials[cell.identity] / f"seed {cell.seed}{stage} {short[:6]}"
        return folder / f"events.out.tfevents.{int(cell.started):010d}.{short}"

    def _scalars(self, values: Mapping[str, float]) -> Any:
        value = self._summary.Value
        stored = {name: self.stored_value(number) for name, number in values.items()}
        return self._summary(value=[value(tag=name, simple_value=number) for name, number in stored.items()])

    def _text_event(self, tag: str, text: str, at: float, step: int) -> dict[str, Any]:
        metadata = self._texts.create_summary_metadata(display_name=None, description=None)
        tensor = self._tensor(np.array([text.encode()], dtype=object))
        value = self._summary.Value(tag=tag, metadata=metadata, tensor=tensor)
        return dict(wall_time=at, step=step, summary=self._summary(value=[value]))

    def _texts_in(self, events: Sequence[Any]) -> list[str]:
        values = (value for event in events for value in event.summary.value)
        plugin = self._texts.PLUGIN_NAME
        texts = (value for value in values if value.metadata.plugin_data.plugin_name == plugin)
        return [value.tensor.string_val[0].decode() for value in texts]

    def _session_end(self, cell: TrackedCell, at: float) -> Any:
        status = self._statuses.Value(ENDS[cell.state])
        info = self._plugin.SessionEndInfo(status=status, end_time_secs=at)
        content = self._plugin.HParamsPluginData(session_end_info=info)
        value = self._summary.Value(
            tag=self._metadata.SESSION_END_INFO_TAG,
            metadata=self._metadata.create_summary_metadata(content),
            tensor=self._metadata.NULL_TENSOR,
        )
        return self._summary(value=[value])


def _study_text(study: TrackedStudy) -> str:
    rows = {
        "objective": f"{study.direction} {study.objective}",
        "kind": study.kind,
        "revision": str(study.revision),
        "code": study.code,
    }
    resolved = json.dumps(study.resolved, indent=1, ensure_ascii=False)
    return f"{study.question}\n\n{_table(rows)}\n\n```json\n{resolved}\n```"


def _cell_text(cell: TrackedCell) -> str:
    rows = {"state": cell.state, "reason": cell.reason, "stage": cell.stage, "code": cell.code}
    return f"{_table({**rows, 'identity': cell.identity})}\n{_digest_row(cell)}"


def _digest_row(cell: TrackedCell) -> str:
    return f"| digest | {cell.digest} |"


def _table(rows: Mapping[str, str]) -> str:
    lines = [f"| {name} | {value} |" for name, value in rows.items() if value]
    return "\n".join(["| | |", "|---|---|", *lines])
