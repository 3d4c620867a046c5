"""`result.json`: what a cell came to, written by its worker before anybody is told. Nothing but JSON."""

import json
import os
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError

from rse_study.errors import InputError, MissingFile
from rse_study.results.records import Record
from rse_study.spec import fingerprint_of

FILE_NAME = "result.json"


class Point(Record):
    """The metrics seen at step `t`."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    t: int
    metrics: dict[str, float]


class Result(Record):
    """How a cell ended: its history, its last metrics, and where they come from."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    identity: str
    seed: int
    config: dict[str, Any]
    status: Literal["complete", "failed", "stopped_early"] = "complete"
    reason: str = ""
    history: tuple[Point, ...] = ()
    final: dict[str, float] = Field(default_factory=dict)
    provenance: dict[str, Any] = Field(default_factory=dict)
    duration_s: float = 0.0


def write_result(directory: Path, result: Result) -> Path:
    """Write `result.json` so that a reader sees all of it or none, also after a power cut."""
    directory.mkdir(parents=True, exist_ok=True)
    content = json.loads(result.model_dump_json())
    text = json.dumps({"checksum": fingerprint_of(content), "result": content}, indent=1, ensure_ascii=False)
    path, draft = directory / FILE_NAME, directory / f".{FILE_NAME}.{os.getpid()}"
    with draft.open("w", encoding="utf-8") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)
    sync(directory)
    return path


def read_result(directory: Path) -> Result:
    """The result in `directory`. Raises InputError where it is missing, damaged or edited."""
    path = directory / FILE_NAME
    try:
        envelope = json.loads(path.read_text(encoding="utf-8"))
        content = envelope["result"]
        if envelope["checksum"] != fingerprint_of(content):
            raise InputError(
                "content and checksum differ", where=str(path), remedy="Remove it and run the cell again"
            )
        return Result.model_validate(content)
    except FileNotFoundError:
        raise MissingFile("no such file", where=str(path), remedy="Has the cell finished?") from None
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        problem = str(error).split("\n")[0]
        remedy = "Remove it and run the cell again"
        raise InputError(f"damaged: {problem}", where=str(path), remedy=remedy) from None


def sync(path: Path) -> None:
    """Have a file's or a folder's content on the disk before going on."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
