"""Evaluations of a frozen encoder as files: their data and what is asked of them as JSON, nothing pickled."""

import json
from pathlib import Path
from typing import Any

from rse_study.data.labelled import Labelled
from rse_study.data.pairs import StsPairs
from rse_study.evaluation.evaluations import FrozenEvaluation
from rse_study.evaluation.kinds.probing import Transfer
from rse_study.evaluation.kinds.similarity import Similarity
from rse_study.evaluation.kinds.sphere import AlignmentUniformity
from rse_study.evaluation.kinds.steadiness import Invariance

FILE = "evaluation.json"
# Tags stand in folders of assets that were made long ago: a class may be renamed, its tag stays.
_TAGS: dict[type[FrozenEvaluation], str] = {
    Similarity: "Similarity",
    AlignmentUniformity: "Sphere",
    Invariance: "Steadiness",
    Transfer: "Transfer",
}


def store(evaluation: FrozenEvaluation, folder: Path) -> None:
    """Write to a folder that is there."""
    content = {"kind": _TAGS[type(evaluation)], **_content(evaluation)}
    (folder / FILE).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def read_stored(folder: Path) -> FrozenEvaluation:
    """What `store` wrote: equal data, equal scores."""
    content = json.loads((folder / FILE).read_text(encoding="utf-8"))
    tag = content.pop("kind")
    if tag == _TAGS[Transfer]:
        return Transfer(tuple(Labelled.from_json(split) for split in content["task"]), content["preset"])
    if tag == _TAGS[Invariance]:
        return Invariance(**content)
    of_pairs = {_TAGS[kind]: kind for kind in (Similarity, AlignmentUniformity)}
    return of_pairs[tag](StsPairs.from_json(content["pairs"]))


def _content(evaluation: FrozenEvaluation) -> dict[str, Any]:
    if isinstance(evaluation, Transfer):
        return {"task": [split.to_json() for split in evaluation.task], "preset": evaluation.preset}
    if isinstance(evaluation, Invariance):
        fields = ("task", "split", "texts", "changed")
        return {name: getattr(evaluation, name) for name in fields}
    assert isinstance(evaluation, Similarity | AlignmentUniformity), evaluation
    return {"pairs": evaluation.pairs.to_json()}
