"""What a saved encoder's folder says about itself: pooling, template and maximum length."""

import json
from pathlib import Path

from rse_study.errors import InputError
from rse_study.models.pooling import PoolingKind
from rse_study.spec import Spec

FILE_NAME = "sentence_pooling.json"


class StoredPooling(Spec):
    """Kept beside the weights: how their token vectors become a sentence vector."""

    pooling: PoolingKind
    template: str = ""


def store_pooling(directory: Path, pooling: StoredPooling) -> None:
    """Write the pooling beside the weights in `directory`."""
    (directory / FILE_NAME).write_text(pooling.model_dump_json(indent=2) + "\n", encoding="utf-8")


def stored_pooling(directory: Path) -> StoredPooling:
    """Our own record, else sentence-transformers'; InputError where the folder has neither."""
    if (directory / FILE_NAME).is_file():
        return StoredPooling.model_validate_json((directory / FILE_NAME).read_text(encoding="utf-8"))
    written = _read(directory / "1_Pooling" / "config.json")
    if written.get("pooling_mode") in ("cls", "mean"):
        return StoredPooling(pooling=written["pooling_mode"])
    if written.get("pooling_mode_cls_token"):
        return StoredPooling(pooling="cls")
    if written.get("pooling_mode_mean_tokens"):
        return StoredPooling(pooling="mean")
    raise InputError(
        "no pooling is recorded beside the weights",
        where=str(directory),
        rule="cls, mean, first_last and prompt give different vectors",
        remedy="Say which one: pooling = cls ...",
    )


def stored_max_length(directory: Path) -> int | None:
    """sentence-transformers' own limit in tokens, where the folder has one."""
    length = _read(directory / "sentence_bert_config.json").get("max_seq_length")
    return int(length) if length else None


def _read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
