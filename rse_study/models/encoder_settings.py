"""Records in a saved encoder's folder: pooling, template and maximum length."""

import json
from pathlib import Path
from typing import Any

from transformers.utils import cached_file

from rse_study.errors import InputError
from rse_study.models.pooling import PoolingKind
from rse_study.spec import Spec

FILE_NAME = "sentence_pooling.json"


class StoredPooling(Spec):
    """The record beside the weights: how token vectors become a sentence vector."""

    pooling: PoolingKind
    template: str = ""


def store_pooling(directory: Path, pooling: StoredPooling) -> None:
    """Write the pooling beside the weights in `directory`."""
    (directory / FILE_NAME).write_text(pooling.model_dump_json(indent=2) + "\n", encoding="utf-8")


def stored_pooling(path_or_name: str | Path, revision: str = "main") -> StoredPooling:
    """Read the pooling from our own record, else from sentence-transformers'."""
    name = str(path_or_name)
    ours = _read(name, FILE_NAME, revision)
    if ours:
        return StoredPooling(**ours)
    theirs = _read(name, "1_Pooling/config.json", revision)
    for kind in ("cls", "mean"):
        flag = "pooling_mode_cls_token" if kind == "cls" else "pooling_mode_mean_tokens"
        if theirs.get("pooling_mode") == kind or theirs.get(flag):
            return StoredPooling(pooling=kind)
    raise InputError(
        "no pooling is recorded beside the weights",
        where=name,
        rule="cls, mean, first_last and prompt give different vectors",
        remedy="Say which one is meant.",
    )


def stored_template(path_or_name: str | Path, revision: str = "main") -> str:
    """Read the template of prompt pooling; empty if none is recorded."""
    ours = _read(str(path_or_name), FILE_NAME, revision)
    return StoredPooling(**ours).template if ours else ""


def stored_max_length(path_or_name: str | Path, revision: str = "main") -> int | None:
    """Read sentence-transformers' own limit in tokens, if there is one."""
    length = _read(str(path_or_name), "sentence_bert_config.json", revision).get("max_seq_length")
    return int(length) if length else None


def _read(name: str, file: str, revision: str) -> dict[str, Any]:
    """Read a JSON file of a folder or hub repository; empty if there is none."""
    path = cached_file(
        name,
        file,
        revision=revision,
        _raise_exceptions_for_gated_repo=False,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    return json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
