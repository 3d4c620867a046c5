"""Storage of registered evaluations as JSON files, without pickle."""

import json
from pathlib import Path

from rse_study.evaluation.evaluations import FrozenEvaluation, RegisteredEvaluation
from rse_study.evaluation.registry import EVALUATIONS

FILE = "evaluation.json"


def store(evaluation: FrozenEvaluation, folder: Path) -> None:
    """Write the evaluation to an existing folder."""
    assert isinstance(evaluation, RegisteredEvaluation), evaluation
    content = {"kind": _key_of(evaluation), **evaluation.to_json()}
    (folder / FILE).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def read_stored(folder: Path) -> RegisteredEvaluation:
    """Read an evaluation written by `store`."""
    content = json.loads((folder / FILE).read_text(encoding="utf-8"))
    evaluation: RegisteredEvaluation = EVALUATIONS.get(content.pop("kind")).load().from_json(content)
    return evaluation


def _key_of(evaluation: RegisteredEvaluation) -> str:
    path = f"{type(evaluation).__module__}:{type(evaluation).__qualname__}"
    (key,) = (key for key in EVALUATIONS if EVALUATIONS.get(key).path == path)
    return key
