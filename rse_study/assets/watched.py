"""Data of watched evaluations, read once and stored by content."""

from dataclasses import dataclass
from pathlib import Path

from rse_study.assets.store import build, write_meta
from rse_study.evaluation.evaluations import FrozenEvaluation
from rse_study.evaluation.registry import read_evaluation
from rse_study.evaluation.serialise import store

KIND = "evaluation"


@dataclass(frozen=True)
class Watched:
    """An evaluation's folder, for `read_stored`, and its data's fingerprint."""

    folder: Path
    fingerprint: str


def watched_evaluation(root: Path, name: str, data_dir: Path) -> Watched:
    """Read and store the evaluation of that name, which must use a frozen encoder."""
    evaluation = read_evaluation(name, data_dir)
    assert isinstance(evaluation, FrozenEvaluation), name

    def write(draft: Path) -> None:
        draft.mkdir()
        store(evaluation, draft)
        write_meta(draft, {"asset": KIND, "name": name, "fingerprint": evaluation.fingerprint})

    folder = build(root, KIND, {"name": name, "fingerprint": evaluation.fingerprint}, write)
    return Watched(folder, evaluation.fingerprint)
