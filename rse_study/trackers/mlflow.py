"""Tracking with MLflow: study = experiment, trial = parent run, cell = nested run."""

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import copysign, isinf
from typing import Any

from rse_study.errors import InputError, Unavailable, first_line
from rse_study.trackers.content import CellState, TrackedCell, TrackedPoint, TrackedStudy, TrackedTrial
from rse_study.trackers.names import accepted_name
from rse_study.trackers.packages import import_extra
from rse_study.trackers.tracker import Holding

USUAL_URI = "sqlite:///mlflow.db"  # default of `mlflow ui` and `mlflow server` in this folder
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",  # the default of 7 takes minutes if the server is down
}
REFUSED = r"[^/\w.\- :]"
MOST_METRICS, MOST_TAGS = 1000, 100  # per request
LONGEST_TAG = 5000  # characters; limit of older servers for an experiment's tags
LARGEST = 1.7976931348623157e308  # its SQL store replaces infinities by this
STATUSES: Mapping[CellState, str] = {
    "running": "RUNNING",
    "interrupted": "SCHEDULED",  # the next run resumes it
    "failed": "FAILED",
    "complete": "FINISHED",
    "stopped_early": "KILLED",
}
TRIAL, CELL, DIGEST = "rse_study.trial", "rse_study.cell", "rse_study.digest"


class MlflowTracker:
    """Runs in an MLflow store or on a server, tagged with the cells' identities."""

    def __init__(self, place: str) -> None:
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        self._mlflow = import_extra("mlflow", "mlflow", "mlflow-skinny")
        self._entities = import_extra("mlflow.entities", "mlflow", "mlflow-skinny")
        logging.getLogger("alembic").setLevel(logging.WARNING)
        self._uri = place or os.environ.get("MLFLOW_TRACKING_URI", "") or USUAL_URI
        self._experiment = ""
        self._trials: dict[str, Any] = {}
        self._cells: dict[str, Any] = {}
        self._parents: dict[str, str] = {}
        self._holdings: dict[str, Holding] = {}
        try:
            self._client = self._mlflow.MlflowClient(tracking_uri=self._uri)
            self._client.search_experiments(max_results=1)
        except Exception as error:  # a store may raise any error of its database driver
            remedy = "Name a store that is there: sqlite:///mlflow.db, http://HOST:5000"
            raise InputError(first_line(error), where=f"--uri {self._uri}", remedy=remedy) from None

    @property
    def next_step(self) -> str:
        is_server = self._uri.startswith(("http:", "https:"))
        return f"open {self._uri}" if is_server else f"mlflow ui --backend-store-uri {self._uri}"

    def begin_study(self, study: TrackedStudy) -> None:
        tags = _study_tags(study)
        with self._answering():
            experiment = self._client.get_experiment_by_name(study.name)
            if experiment is None:
                self._experiment = self._client.create_experiment(study.name, tags=tags)
                return
            if experiment.lifecycle_stage != "active":
                remedy = "Restore it, or delete it for good: mlflow gc"
                raise InputError("is deleted", where=f"{self._uri}: experiment {study.name}", remedy=remedy)
            for name, value in tags.items():
                if experiment.tags.get(name) != value:
                    self._client.set_experiment_tag(experiment.experiment_id, name, value)
            if self._experiment != experiment.experiment_id:
                self._experiment = experiment.experiment_id
                self._list_runs()

    def begin_trial(self, trial: TrackedTrial) -> None:
        with self._answering():
            if trial.key not in self._trials:
                self._trials[trial.key] = self._create(trial.name, trial.started, {TRIAL: trial.key})
            run = self._trials[trial.key]
            self._log(run, trial.name, trial.params, {"rse_study.label": trial.label})
        self._parents |= {cell.identity: run.info.run_id for cell in trial.cells}

    def begin_cell(self, cell: TrackedCell) -> Holding:
        """Find or create the nested run; read its history if the copy is incomplete."""
        if cell.identity in self._holdings:
            return self._holdings[cell.identity]
        with self._answering():
            if cell.identity not in self._cells:
                tags = {CELL: cell.identity, "mlflow.parentRunId": self._parents[cell.identity]}
                self._cells[cell.identity] = self._create(cell.name, cell.started, tags)
            run = self._cells[cell.identity]
            digest = run.data.tags.get(DIGEST, "")
            if digest == cell.digest:
                return Holding(digest=digest)
            series = {name: self._history(run.info.run_id, name) for name in run.data.metrics}
        names = {self.metric_name(name) for name in cell.scores}
        points = {(name, t): value for name in series if name not in names for t, value in series[name]}
        scores = {name: series[name][-1][1] for name in series if name in names}
        self._holdings[cell.identity] = Holding(points, scores, digest)
        return self._holdings[cell.identity]

    def metric_name(self, name: str) -> str:
        return accepted_name(name, REFUSED)

    def stored_value(self, value: float) -> float:
        """Replace infinities by the largest float, as MLflow's SQL store does; keep NaN."""
        return copysign(LARGEST, value) if isinf(value) else value

    def add_points(self, cell: TrackedCell, points: Sequence[TrackedPoint]) -> None:
        numbers = [(name, value, point) for point in points for name, value in point.values.items()]
        self._log_metrics(cell, numbers)
        self._holdings[cell.identity].points |= {
            (self.metric_name(name), point.t): self.stored_value(value) for name, value, point in numbers
        }

    def add_scores(self, cell: TrackedCell, scores: Mapping[str, float]) -> None:
        end = TrackedPoint(cell.last_step, cell.ended or cell.started, scores)
        self._log_metrics(cell, [(name, value, end) for name, value in scores.items()])
        self._holdings[cell.identity].scores |= {
            self.metric_name(name): self.stored_value(value) for name, value in scores.items()
        }

    def discard_cell(self, cell: TrackedCell) -> None:
        """Delete the run; MLflow can restore it."""
        with self._answering():
            self._client.delete_run(self._cells.pop(cell.identity).info.run_id)
        del self._holdings[cell.identity]

    def end_cell(self, cell: TrackedCell) -> None:
        """Set name, values and status, then the tag that marks the copy as complete."""
        run = self._cells[cell.identity]
        with self._answering():
            self._log(run, cell.name, cell.params, _cell_tags(cell))
            self._end(run, cell.state, cell.ended)
            self._client.set_tag(run.info.run_id, DIGEST, cell.digest)
        self._holdings[cell.identity].digest = cell.digest

    def end_trial(self, trial: TrackedTrial) -> None:
        with self._answering():
            self._end(self._trials[trial.key], trial.state, trial.ended)

    def close(self) -> None:
        """Do nothing: no connection is open between requests."""

    def _list_runs(self) -> None:
        token = None
        while token != "":
            page = self._client.search_runs([self._experiment], max_results=1000, page_token=token)
            for run in page:
                tags = run.data.tags
                if CELL in tags:
                    self._cells[tags[CELL]] = run
                elif TRIAL in tags:
                    self._trials[tags[TRIAL]] = run
            token = page.token or ""

    def _create(self, name: str, started: float, tags: Mapping[str, str]) -> Any:
        return self._client.create_run(self._experiment, _milliseconds(started), dict(tags), name)

    def _history(self, run_id: str, name: str) -> list[tuple[int, float]]:
        history = self._client.get_metric_history(run_id, name)
        return [(metric.step, self.stored_value(metric.value)) for metric in history]

    def _log_metrics(self, cell: TrackedCell, numbers: Sequence[tuple[str, float, TrackedPoint]]) -> None:
        metrics = [
            self._entities.Metric(self.metric_name(name), value, _milliseconds(point.at), point.t)
            for name, value, point in numbers
        ]
        run_id = self._cells[cell.identity].info.run_id
        with self._answering():
            for first in range(0, len(metrics), MOST_METRICS):
                self._client.log_batch(run_id, metrics=metrics[first : first + MOST_METRICS])

    def _log(self, run: Any, name: str, params: Mapping[str, Any], tags: Mapping[str, str]) -> None:
        """Add what the run lacks, without a request if it lacks nothing."""
        texts = {accepted_name(key, REFUSED): str(value) for key, value in params.items()}
        named = {**tags, "mlflow.runName": name}
        new = {key: value for key, value in texts.items() if run.data.params.get(key) != value}
        changed = {key: value for key, value in named.items() if run.data.tags.get(key) != value}
        for first in range(0, max(len(new), len(changed)), MOST_TAGS):
            part = slice(first, first + MOST_TAGS)
            self._client.log_batch(
                run.info.run_id,
                params=[self._entities.Param(*item) for item in list(new.items())[part]],
                tags=[self._entities.RunTag(*item) for item in list(changed.items())[part]],
            )
        run.data.params.update(new)
        run.data.tags.update(changed)

    def _end(self, run: Any, state: CellState, ended: float | None) -> None:
        if ended is None:
            self._client.update_run(run.info.run_id, STATUSES[state])
        else:
            self._client.set_terminated(run.info.run_id, STATUSES[state], _milliseconds(ended))

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except self._mlflow.exceptions.MlflowException as error:
            remedy = "Give the command again: what is there is not copied twice"
            raise Unavailable(f"{self._uri}: {first_line(error)}", remedy) from None


def _study_tags(study: TrackedStudy) -> dict[str, str]:
    note = f"{study.question}\n\n{study.kind}, {study.direction} {study.objective}, revision {study.revision}"
    tags = {
        "mlflow.note.content": note,
        "rse_study.question": study.question,
        "rse_study.kind": study.kind,
        "rse_study.objective": study.objective,
        "rse_study.direction": study.direction,
        "rse_study.revision": str(study.revision),
        "rse_study.code": study.code,
    }
    return tags | _pieces("rse_study.resolved", study.resolved)


def _cell_tags(cell: TrackedCell) -> dict[str, str]:
    tags = {
        "rse_study.state": cell.state,
        "rse_study.stage": cell.stage,
        "rse_study.reason": cell.reason[:LONGEST_TAG],
        "mlflow.source.name": "rse-study run",
        "mlflow.source.git.commit": cell.code,
    }
    return tags | _pieces("rse_study.config", cell.config)


def _pieces(name: str, content: Mapping[str, Any]) -> dict[str, str]:
    """Split JSON that is too long for one tag over several: name, name.2, name.3."""
    text = json.dumps(content, ensure_ascii=False)
    cuts = range(0, len(text), LONGEST_TAG)
    return {
        f"{name}.{number}" if number > 1 else name: text[first : first + LONGEST_TAG]
        for number, first in enumerate(cuts, start=1)
    }


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
