"""Evaluations of a frozen encoder as files: their data and what is asked of them as JSON, nothing pickled."""

import json
from pathlib import Path
from typing import Any

from rse_study.data.labelled import Labelled
from rse_study.data.pairs import StsPairs
from rse_study.evaluation.evaluations import OfVectors
from rse_study.evaluation.kinds.probing import Transfer
from rse_study.evaluation.kinds.similarity import Similarity
from rse_study.evaluation.kinds.sphere import Sphere
from rse_study.evaluation.kinds.steadiness import Steadiness

FILE = "evaluation.json"


def store(evaluation: OfVectors, folder: Path) -> None:
    """Write to a folder that is there."""
    content = {"kind": type(evaluation).__name__, **_content(evaluation)}
    (folder / FILE).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def read_stored(folder: Path) -> OfVectors:
    """What `store` wrote: equal data, equal scores."""
    content = json.loads((folder / FILE).read_text(encoding="utf-8"))
    kind = content.pop("kind")
    if kind == Transfer.__name__:
        return Transfer(tuple(Labelled.from_json(split) for split in content["task"]), content["preset"])
    if kind == Steadiness.__name__:
        return Steadiness(**content)
    of_pairs: dict[str, type[Similarity] | type[Sphere]] = {"Similarity": Similarity, "Sphere": Sphere}
    return of_pairs[kind](StsPairs.from_json(content["pairs"]))


def _content(evaluation: OfVectors) -> dict[str, Any]:
    if isinstance(evaluation, Transfer):
        return {"task": [split.to_json() for split in evaluation.task], "preset": evaluation.preset}
    if isinstance(evaluation, Steadiness):
        fields = ("task", "split", "texts", "changed")
        return {name: getattr(evaluation, name) for name in fields}
    assert isinstance(evaluation, Similarity | Sphere), evaluation
    return {"pairs": evaluation.pairs.to_json()}
