"""Tracking with Weights & Biases: study = group, cell = run, stage = job type."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.results.files.atomic import read_sealed, write_sealed
from rse_study.results.files.lock import take_lock
from rse_study.trackers.content import TrackedCell, TrackedPoint, TrackedStudy, TrackedTrial
from rse_study.trackers.names import accepted_name
from rse_study.trackers.packages import import_extra
from rse_study.trackers.tracker import Holding

USUAL_PROJECT = "rse-study"
QUIET = {"WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false", "WANDB_CONSOLE": "off"}
SETTINGS = {
    "console": "off",
    "disable_code": True,
    "disable_git": True,
    "disable_job_creation": True,
    "silent": True,
    "x_disable_machine_info": True,
    "x_disable_meta": True,
    "x_disable_stats": True,
    "x_save_requirements": False,
}
"""Settings without console, code and machine metrics: this process only copies."""
NOTE = "copied.json"
REFUSED = "[^-_.a-zA-Z0-9]"


@dataclass
class _OpenRun:
    """A run being written, and the content of all its folders."""

    run: Any
    holding: Holding


class WandbTracker:
    """Runs with stable ids; offline without an API key.

    A changed cell's folder is rewritten, or if already synced complemented by another folder of the same run.
    """

    def __init__(self, place: str) -> None:
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        self._wandb = import_extra("wandb", "wandb")
        self._place = Path(place or ".")
        self._mode = self._chosen_mode()
        self._project = os.environ.get("WANDB_PROJECT", "") or USUAL_PROJECT
        self._lock: Any = None
        self._study: TrackedStudy | None = None
        self._trials: dict[str, TrackedTrial] = {}
        self._holdings: dict[str, Holding] = {}
        self._open: dict[str, _OpenRun] = {}

    @property
    def next_step(self) -> str:
        if self._mode == "online":
            return f"open the project {self._project} on your server"
        return f"wandb login; wandb sync {self._folder}"

    @property
    def _folder(self) -> Path:
        return self._place / "wandb"

    def begin_study(self, study: TrackedStudy) -> None:
        self._study = study
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            what = f"cannot be made: {error.strerror}"
            raise InputError(what, where=f"--dir {self._folder}", remedy="Name another folder") from None
        # Two processes copying one study would delete each other's folders.
        self._lock = self._lock or take_lock(self._folder / f".{accepted_name(study.name, REFUSED)}.lock")

    def begin_trial(self, trial: TrackedTrial) -> None:
        self._trials |= {cell.identity: trial for cell in trial.cells}

    def begin_cell(self, cell: TrackedCell) -> Holding:
        """Return the content of the run's folders; delete those that can be rewritten."""
        if cell.identity in self._open:
            return self._open[cell.identity].holding
        holding = Holding()
        for folder in self._folders(cell):
            note = _note_in(folder)
            if note.digest == cell.digest:
                return note
            if _is_sent(folder):
                holding.points |= note.points
                holding.scores |= note.scores
            else:
                shutil.rmtree(folder)
        self._holdings[cell.identity] = holding
        return holding

    def metric_name(self, name: str) -> str:
        """Return the name unchanged: no metric begins with `_` like W&B's own."""
        return name

    def stored_value(self, value: float) -> float:
        return value

    def add_points(self, cell: TrackedCell, points: Sequence[TrackedPoint]) -> None:
        opened = self._opened(cell)
        for point in points:
            if (
                point.t >= opened.run.starting_step
            ):  # the server has earlier steps, and a run's steps only grow
                times = {"_timestamp": point.at, "_runtime": point.at - cell.started}
                opened.run.log({**point.values, **times}, step=point.t)
            opened.holding.points |= {(name, point.t): value for name, value in point.values.items()}

    def add_scores(self, cell: TrackedCell, scores: Mapping[str, float]) -> None:
        opened = self._opened(cell)
        opened.run.summary.update(dict(scores))
        opened.holding.scores |= scores

    def discard_cell(self, cell: TrackedCell) -> None:
        """Delete a folder that was not uploaded; raise InputError if it was."""
        if cell.identity in self._open:
            self._finish(cell)
        sent = [folder for folder in self._folders(cell) if _is_sent(folder)]
        if sent:
            rule = "the run was sent with other numbers than the ledger has"
            remedy = f"Delete the run {self._run_id(cell)} on the server, and this folder"
            raise InputError("cannot be changed", where=str(sent[0]), rule=rule, remedy=remedy)

    def end_cell(self, cell: TrackedCell) -> None:
        """Write the cell's state to the summary; finish the run unless the cell runs."""
        opened = self._opened(cell)
        opened.run.summary.update({"state": cell.state, "reason": cell.reason})
        opened.holding.digest = cell.digest
        if cell.state != "running":
            self._finish(cell)

    def end_trial(self, trial: TrackedTrial) -> None:
        """Do nothing: a trial is not a run."""

    def close(self) -> None:
        for opened in self._open.values():
            _write_note(opened)
        self._open.clear()
        if self._lock is not None:
            self._lock.close()

    def _chosen_mode(self) -> str:
        mode = os.environ.get("WANDB_MODE", "")
        if mode in ("online", "offline"):
            return mode
        if mode:
            remedy = "Unset it, or say offline"
            raise InputError(mode, where="WANDB_MODE", rule="nothing would be written", remedy=remedy)
        with redirect_stdout(StringIO()):
            has_key = self._wandb.login(prompt=False, verify=False)
        return "online" if has_key else "offline"

    def _run_id(self, cell: TrackedCell) -> str:
        """Include the study's name, since studies of one project may share a cell."""
        assert self._study is not None
        return accepted_name(f"{self._study.name}-{cell.identity[:16]}", REFUSED)

    def _folders(self, cell: TrackedCell) -> list[Path]:
        pattern = rf"(offline-)?run-\d{{8}}_\d{{6}}-{re.escape(self._run_id(cell))}(-\w+)?"
        return sorted(path for path in self._folder.iterdir() if re.fullmatch(pattern, path.name))

    def _opened(self, cell: TrackedCell) -> _OpenRun:
        if cell.identity not in self._open:
            run = self._wandb.init(**self._asked_of(cell))
            self._open[cell.identity] = _OpenRun(run, self._holdings.pop(cell.identity))
        return self._open[cell.identity]

    def _asked_of(self, cell: TrackedCell) -> dict[str, Any]:
        study, trial = self._study, self._trials[cell.identity]
        assert study is not None
        about = {"question": study.question, "revision": study.revision, "resolved": dict(study.resolved)}
        own = {"identity": cell.identity, "trial": trial.name, "label": trial.label, "code": cell.code}
        times = {"started": cell.started, "ended": cell.ended}
        return dict(
            mode=self._mode,
            project=self._project,
            group=study.name,
            job_type=cell.stage,
            id=self._run_id(cell),
            name=cell.name,
            resume="allow",
            reinit="create_new",
            dir=str(self._place),
            config={**cell.params, "cell": {**own, **times}, "trial": dict(cell.config), "study": about},
            settings=self._wandb.Settings(**SETTINGS),
        )

    def _finish(self, cell: TrackedCell) -> None:
        opened = self._open.pop(cell.identity)
        _write_note(opened, exit_code=int(cell.state == "failed"))


def _write_note(opened: _OpenRun, exit_code: int = 0) -> None:
    """Finish a run, then record its content once the file is complete."""
    folder = Path(opened.run.dir).parent
    opened.run.finish(exit_code=exit_code)
    points = [[name, t, repr(value)] for (name, t), value in opened.holding.points.items()]
    scores = {name: repr(value) for name, value in opened.holding.scores.items()}
    write_sealed(
        folder / NOTE, "copied", {"digest": opened.holding.digest, "points": points, "scores": scores}
    )


def _note_in(folder: Path) -> Holding:
    try:
        return read_sealed(folder / NOTE, "copied", _holding_of, missing="", remedy="")
    except InputError:
        return Holding()


def _holding_of(content: Mapping[str, Any]) -> Holding:
    points = {(name, int(t)): float(value) for name, t, value in content["points"]}
    scores = {name: float(value) for name, value in content["scores"].items()}
    return Holding(points, scores, content["digest"])


def _is_sent(folder: Path) -> bool:
    """Whether the folder was uploaded, while it was written or by `wandb sync`."""
    return not folder.name.startswith("offline-") or any(folder.glob("*.wandb.synced"))
