"""A fault at every write of a small study, then the same command.

    python -m tests.faults.every_write [WALK ...] [KIND ...] [N]

Everything is as in a run but Ray, whose part is a loop in this process, and (unless `real`) the arithmetic of steps
and of vectors. A line for each thing that did not hold.
"""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from rse_study.cli.terminal import errors
from rse_study.cli.verbs.run import conclude
from rse_study.methods.method import Mean, StepOutcome
from rse_study.models.embedder import Embedder
from rse_study.on_ray import driver, scoring
from rse_study.on_ray.nodes.elastic import Losses
from rse_study.on_ray.runtime import RayRuntime
from rse_study.on_ray.scoring import Scoring
from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.workers import coordinator, worker
from rse_study.on_ray.workers import evaluations as worker_evaluations
from rse_study.results.files.schema import MODEL_FOLDER
from rse_study.results.reader import Reader
from rse_study.storage.folders import files_of, fingerprint_of_folder, get_folder, put_folder
from rse_study.storage.storage import Storage
from rse_study.training import loop
from rse_study.training.session import Session
from tests.faults.drivers import contents
from tests.faults.faulty_disk import KINDS, Fault, Outcome, run
from tests.faults.run_here import Teller
from tests.on_ray.world import STUDY, checked_of, few, grid_of, make_materials

GRID = grid_of(
    STUDY, name="faulty", grid={"axes": {"rho": [0.0, 1.0]}}, baselines=[], evaluations=["builtin/test"]
) | {"keep_models": "final"}


class NoCoordinator:
    """What a driver and its workers ask of the coordinator, where nobody else is there."""

    name = ""

    def __init__(self, *asked: Any) -> None:
        pass

    def nodes_of(self, cell: str) -> set[str]:
        return set()

    def num_groups(self) -> int:
        return 0

    def expect(self, *asked: Any) -> None:
        pass

    enter = keep_groups = decide = expect


class HereRuntime(RayRuntime):
    """A runtime whose cells run in this process, one after the other."""

    def open(self, resources):
        """There is room."""

    def run(self, queue, resources, callback):
        losses = Losses(callback, NoCoordinator().nodes_of, hold_seconds=0.0)
        searcher = CellSearcher(queue, self.payloads, NoCoordinator(), callback, lambda: 1, losses, self)
        for number in range(100):
            trial = f"{number}"
            config = searcher.suggest(trial)
            if not isinstance(config, dict):
                return
            worker.ray.tune.report = partial(_report, searcher, trial)
            try:
                worker.run_inline(config, queue.evaluations)
                searcher.on_trial_complete(trial)
            except Exception:  # Tune's: the trial has failed
                searcher.on_trial_complete(trial, error=True)


def _report(searcher: CellSearcher, trial: str, result: dict[str, Any]) -> None:
    """Report as Tune does, which flattens."""
    flat = {f"metrics/{name}": value for name, value in result.get("metrics", {}).items()}
    searcher.on_trial_result(trial, {**result, **flat})


def _task(payload, evaluations):
    return payload, evaluations


def _as_they_come(tasks, closing, check):
    for payload, evaluations in tasks:
        yield worker_evaluations.evaluate_cell(payload, *evaluations)


def _carried(scoring, evaluation):
    return evaluation


class Recorded:
    """Training and scoring without their arithmetic: the weights of a step and the vectors of a text are known.

    What is read and written is the same, and a checkpoint or a model that is not what it was shows in all that follows.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, tuple[Session, list[torch.Tensor]]] = {}
        self._open, loop.open_session = loop.open_session, self.open_session
        Session.advance, Embedder.__call__ = self.advance, self.vectors
        worker_evaluations.load_encoder = self.load_encoder

    def open_session(self, trial, seed, materials, directory, group, target, publish):
        key = json.dumps([trial.model_dump(mode="json"), seed])
        if key not in self._sessions:
            session = self._open(trial, seed, materials, directory, group, target, publish)
            self._sessions[key] = session, [one.detach().clone() for one in session.networks.parameters()]
        session, first = self._sessions[key]
        with torch.no_grad():
            for parameter, value in zip(session.networks.parameters(), first, strict=True):
                parameter.copy_(value)
        session.optimizer.state.clear()
        return replace(session, directory=directory, publish=publish)

    @staticmethod
    def advance(session: Session, step: int) -> StepOutcome:
        with torch.no_grad():
            for parameter in session.networks.parameters():
                parameter.mul_(1 + 0.01 * (step + 1 + session.run.streams.seed))
                session.optimizer.state[parameter] = {"exp_avg": parameter.detach().clone()}
        return StepOutcome(torch.tensor(1.0), {"loss": Mean(torch.tensor(1.0 / (step + 1)), 1.0)})

    @staticmethod
    def vectors(embedder: Embedder, sentences: Sequence[str]) -> np.ndarray:
        weight = next(embedder.encoder.parameters()).detach().flatten()[-12:].numpy()
        return np.stack([np.sin(99 * weight * (1 + sum(one.encode()) % 97)) for one in sentences])

    def load_encoder(self, model: Path, pooling: str):
        session, _ = next(iter(self._sessions.values()))
        encoder = session.networks.encoder
        encoder.backbone.load_state_dict(load_file(Path(model) / "model.safetensors"), strict=False)
        return encoder, session.tokenizer


class Walk:
    """A command over a folder, and what must hold after each fault."""

    def __init__(self, home: Path) -> None:
        self.root, self.begun = home / "store", home / "begun"
        self.folder = self.root / "faulty"
        self.begun.mkdir(parents=True)

    def command(self) -> int:
        raise NotImplementedError

    def state(self) -> Any:
        """What must be the same after a fault and the same command as without it."""
        raise NotImplementedError

    def committed(self, said: str) -> set[str]:
        """What was said to be done, which must not be done again."""
        return set()

    def begun_again(self, said: str) -> set[str]:
        return set()

    def guarded(self) -> int:
        return errors._run(self.command)

    def reset(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.begun, self.root)

    def undisturbed(self) -> Outcome:
        self.reset()
        with redirect_stdout(StringIO()):  # what is imported now, no child must import
            assert self.guarded() == 0
        self.reset()
        whole = run(self.guarded, self.root)
        assert whole.code == 0, whole.said
        self.whole = self.state()
        return whole

    def suffer(self, fault: Fault) -> tuple[bool, list[str]]:
        """Run with the fault and again without; whether it came to the fault, and what did not hold."""
        self.reset()
        hurt = run(self.guarded, self.root, fault)
        wrong = []
        last = hurt.said.strip().splitlines()[-1:] or [""]
        if hurt.code not in (None, 0, errors.BAD_INPUT, errors.INCOMPLETE):
            wrong.append(f"code {hurt.code}: {last[0]}")
        elif hurt.code and not (". " in last[0] and "Traceback" not in hurt.said):
            wrong.append(f"no line with a remedy: {hurt.said[-300:]}")
        again = run(self.guarded, self.root)
        if again.code != 0:
            wrong.append(f"again: code {again.code}: {again.said[-300:]}")
        elif (now := self.state()) != self.whole:
            wrong.append(f"another end: {_difference(self.whole, now)}")
        repeated = self.committed(hurt.said) & self.begun_again(again.said)
        if repeated:
            wrong.append(f"committed and run again: {repeated}")
        if hurt.code is not None and fault.kind != "EROFS":
            drafts = [path for path in self.root.rglob(".*") if path.is_file()]
            wrong += [f"left behind: {path.relative_to(self.root)}" for path in drafts]
        at = hurt.calls[fault.at - 1] if len(hurt.calls) >= fault.at else "-"
        return len(hurt.calls) >= fault.at, [f"{fault.kind} at {fault.at} ({at}): {one}" for one in wrong]

    def walk(self, kinds: tuple[str, ...] = KINDS, step: int = 1) -> Iterator[tuple[Fault, list[str]]]:
        """Every kind at every `step`-th call, each kind beginning at another."""
        num_calls = self.num_calls = len(self.undisturbed().calls)
        for place, kind in enumerate(kinds):
            for at in range(1 + place * step // len(kinds), num_calls + 1, step):
                reached, wrong = self.suffer(Fault(kind, at))
                if reached:
                    yield Fault(kind, at), wrong


class StudyWalk(Walk):
    """The command `run` but for Ray: cells with checkpoint, model, items and scores, ledger."""

    def __init__(self, home: Path, *, real: bool = False) -> None:
        super().__init__(home)
        self.checked, self.materials = checked_of(GRID), make_materials(home / "world")
        scoring.start_scoring, scoring.as_they_come, Scoring._carry = _task, _as_they_come, _carried
        driver.RayRuntime, coordinator.CoordinatorClient = HereRuntime, NoCoordinator
        worker.train = partial(loop.train, checkpoint_seconds=0.0)
        if not real:
            Recorded()

    def command(self) -> int:
        driver.run_study(
            self.checked, self.folder, lambda trial: self.materials, few, Teller(partial(print, flush=True))
        )
        with Reader(self.folder) as reader:
            return conclude(reader)

    def state(self) -> Any:
        models = [
            f"{path.parent.name}/{fingerprint_of_folder(path)}" for path in self.folder.rglob(MODEL_FOLDER)
        ]
        names = {name for name in files_of(self.folder) if name.split("/")[0] == "cells"}
        damaged = {name for name in names if ".damaged" in name}
        return contents(self.folder) | {"models": sorted(models), "files": sorted(names - damaged)}

    def committed(self, said: str) -> set[str]:
        return {
            line.split()[1]
            for line in said.splitlines()
            if line.startswith("ended ") and line.endswith("complete")
        }

    def begun_again(self, said: str) -> set[str]:
        return {line.split()[1] for line in said.splitlines() if line.startswith("started ")}


class StorageWalk(Walk):
    """A folder that is stored, stored again with other files, and brought back."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.folders = [self.begun / name for name in ("first", "second")]
        for folder in self.folders:
            folder.mkdir()
            for name in ("weights", "vocabulary"):
                (folder / name).write_text(f"{name} of the {folder.name}" * 100)
        self.whole_folders = {fingerprint_of_folder(folder): folder.name for folder in self.folders}
        self.copy = self.root / "copy"

    def command(self) -> int:
        storage = Storage(str(self.root / "storage"), patience_s=0.1)
        storage.require()
        for folder in self.folders:
            put_folder(storage, "model", self.root / folder.name)
            self.bring(storage)
        return 0

    def bring(self, storage: Storage) -> None:
        if get_folder(storage, "model", self.copy):
            assert fingerprint_of_folder(self.copy) in self.whole_folders

    def state(self) -> Any:
        self.bring(Storage(str(self.root / "storage"), patience_s=0.1))
        return {"copy": self.whole_folders[fingerprint_of_folder(self.copy)]}


def _difference(whole: Any, now: Any) -> str:
    """Return the first part that differs."""
    for part in whole:
        if whole[part] != now[part]:
            lacks, has = (
                [one for one in whole[part] if one not in now[part]],
                [one for one in now[part] if one not in whole[part]],
            )
            return f"{part}: lacks {lacks[:2]}, has {has[:2]}"
    return ""


WALKS = {
    "storage": StorageWalk,
    "study": StudyWalk,
    "real": partial(StudyWalk, real=True),
}


def main(*asked: str) -> int:
    """Take the walks and kinds asked for, by default all of both but `real`; a number N takes every N-th call."""
    kinds = tuple(one for one in KINDS if one in asked) or KINDS
    names = [name for name in WALKS if name in asked] or [name for name in WALKS if name != "real"]
    step = next((int(one) for one in asked if one.isdigit()), 1)
    num_wrong = 0
    # In memory, where a sync costs nothing and no inode is given twice.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as home:
        for name in names:
            walk, begun, num = WALKS[name](Path(home) / name), time.monotonic(), 0
            for _, wrong in walk.walk(kinds, step):
                num, num_wrong = num + 1, num_wrong + len(wrong)
                print(*wrong, sep="\n", end="\n" * bool(wrong), flush=True)
            print(
                f"{name}: {num} faults at {walk.num_calls} calls, {time.monotonic() - begun:.0f} s",
                flush=True,
            )
    return num_wrong


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))
