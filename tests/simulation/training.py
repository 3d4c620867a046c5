"""Training and scoring, replaced by pure functions of a cell's settings. The loop around them is the real one."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rse_study.errors import NonFiniteLoss
from rse_study.evaluation.evaluations import Evaluation
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.schema import CHECKPOINT_FOLDER, MODEL_FOLDER
from rse_study.results.records import EvaluationRow
from rse_study.spec import fingerprint_of
from rse_study.training.arithmetic import provenance
from rse_study.training.checkpoint import TrainState

STATE = "state.json"


def number_of(*content: Any) -> float:
    """Return a number from 0 to 1 that depends on the content alone."""
    return int(fingerprint_of(list(content))[:8], 16) / 0xFFFFFFFF


def dev_of(trial: Any, seed: int, t: int) -> float:
    """Return the dev score after step `t`: an effect of the settings, one of the seed, and both together."""
    settings = fingerprint_of(trial.identity())
    whole = 40 + 12 * number_of(settings) + 3 * number_of("seed", seed) + number_of(settings, seed)
    return round(whole - 8 / (t + 1), 6)


def is_diverging(trial: Any, seed: int) -> bool:
    """Whether its loss becomes NaN: one cell in twenty."""
    return number_of("diverges", trial.identity(), seed) < 0.05


class SimulatedSession:
    """What `training.loop` asks of a Session; a step takes time and computes nothing."""

    def __init__(self, sleep, step_seconds, trial, seed, materials, directory, group, device, publish):
        self.trial, self.materials, self.directory = trial, materials, directory
        self.device, self.publish = device, publish
        self._sleep, self._step_seconds = sleep, step_seconds
        self.run = SimpleNamespace(collectives=group, streams=SimpleNamespace(seed=seed))
        self.networks = SimpleNamespace(parameters=list)
        self.evaluate_dev = lambda: {"dev": dev_of(trial, seed, 0)}

    @property
    def num_steps(self) -> int:
        return self.trial.num_steps(1)

    def resume(self, identity: str) -> TrainState:
        kept = sorted((self.directory / CHECKPOINT_FOLDER).glob(f"step-*/{STATE}"))
        state = TrainState(**json.loads(kept[-1].read_text())) if kept else TrainState(identity)
        assert state.identity == identity
        return state

    def note_machine(self, state: TrainState) -> None:
        state.provenance = provenance(self.device)

    def advance(self, step: int) -> None:
        self._sleep(self._step_seconds())

    def measure(self, outcome: None, state: TrainState) -> dict[str, float]:
        seed = self.run.streams.seed
        if is_diverging(self.trial, seed) and state.t == 2:
            raise NonFiniteLoss("the loss is not finite", state.t)
        if state.t == self.num_steps:
            write_whole(self.directory / MODEL_FOLDER / "weights", state.identity)
        return {"dev": dev_of(self.trial, seed, state.t), "loss": 1.0 / (state.t + 1)}

    def save(self, state: TrainState) -> None:
        folder = self.directory / CHECKPOINT_FOLDER
        write_whole(folder / f"step-{state.t:09d}" / STATE, json.dumps(state.__dict__))
        for older in sorted(folder.glob("step-*"))[:-1]:
            shutil.rmtree(older)
        self.publish(CHECKPOINT_FOLDER)

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""


def simulated_scores(model: Any, asked: list[Evaluation], on_progress: Any) -> list[EvaluationRow]:
    """Return a score of the cell on each evaluation."""
    rows = []
    for number, one in enumerate(asked, start=1):
        task, _, split = one.name.partition("/")
        value = round(100 * number_of(model.subject, one.name), 6)
        of_what = {"subject": model.subject, "task": task, "split": split, "fingerprint": one.fingerprint}
        rows.append(EvaluationRow(**of_what, value=value, num_examples=40))
        on_progress(number, len(asked))
    return rows


def simulated_model(payload: Any, here: Any, scratch: Path) -> SimpleNamespace:
    """Stand for the model of a cell."""
    return SimpleNamespace(subject=payload.cell)
