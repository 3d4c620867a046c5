"""Atomic file writes: a file is whole or absent, also after a power cut."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from pydantic import ValidationError

from rse_study.errors import InputError, MissingFile
from rse_study.spec import fingerprint_of

Content = TypeVar("Content")


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file atomically (texts as UTF-8), making its folder if needed."""
    make_folder(path.parent)
    with drafted(path) as draft, draft.open("wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
    return path


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """Give a file to write, which then takes the place of `path`.

    It is removed after an error.
    """
    draft = path.with_name(f".{path.name}.{uuid4().hex[:12]}")  # processes on two nodes may have the same pid
    try:
        yield draft
        sync(draft)
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    sync(path.parent)


def write_sealed(path: Path, kind: str, content: Any) -> Path:
    """Write JSON content under the key `kind`, with its checksum, atomically."""
    text = json.dumps({"checksum": fingerprint_of(content), kind: content}, indent=1, ensure_ascii=False)
    return write_whole(path, text + "\n")


def read_sealed(
    path: Path, kind: str, parse: Callable[[Any], Content], *, missing: str, remedy: str
) -> Content:
    """Read and parse a file of `write_sealed`; InputError if damaged or edited."""
    try:
        envelope = json.loads(path.read_text(encoding="utf-8"))
        content = envelope[kind]
        if envelope["checksum"] != fingerprint_of(content):
            raise InputError("content and checksum differ", where=str(path), remedy=remedy)
        return parse(content)
    except FileNotFoundError:
        raise MissingFile("no such file", where=str(path), remedy=missing) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path), remedy=remedy) from None
    except (ValueError, KeyError, TypeError, ValidationError, RecursionError) as error:
        problem = str(error).split("\n")[0]
        raise InputError(f"damaged: {problem}", where=str(path), remedy=remedy) from None


def make_folder(path: Path) -> None:
    """Make a folder and its parents, so that they outlive a power cut."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        sync(path.parent)


def replace_folder(draft: Path, folder: Path) -> None:
    """Put a complete folder in the place of another; both lie side by side."""
    for path in (*draft.rglob("*"), draft):
        sync(path)
    if folder.exists():
        shutil.rmtree(folder)
    draft.rename(folder)
    sync(folder.parent)


def sync(path: Path) -> None:
    """Flush a file or folder to disk (fsync)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
