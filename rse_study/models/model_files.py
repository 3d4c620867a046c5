"""Checks of a model's files before a library opens them, whose failures are named."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rse_study.errors import InputError, first_line

AGAIN = "Download or save it again"
READ = (
    "*config.json",
    "tokenizer.json",
    "vocab.*",
    "merges.txt",
    "*_tokens*.json",
    "*.model",
    "*.index.json",
)
WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model", "*.tiktoken")
MOST_BYTES = {"config.json": 4 << 20}
"""limits of files that are read whole; of others"""
MOST_BYTES_OF_OTHERS = 64 << 20  # NLLB's tokenizer.json, among the largest, has 33 MB
PARTS = re.compile("num_(?!labels|buckets).*|.*layers?|n_heads?")
MOST_PARTS, MOST_SIZE = 1_000, 1 << 24  # of layers, heads and experts; of widths, positions and vocabularies
LFS = b"version https://git-lfs"
LONGEST_HEADER = 100_000_000  # bytes, that of safetensors itself


def require_regular(path: Path) -> None:
    """Raise InputError for a device, a folder or a broken link."""
    if not path.is_file():
        rule = "folders, devices and broken links are not read"
        raise InputError("is no regular file", where=str(path), rule=rule, remedy=AGAIN)


def check_files(folder: Path) -> None:
    """Raise InputError for a file of a model's folder that no loader should open."""
    for path in sorted(folder.iterdir()):
        if any(map(path.match, READ + WEIGHTS)):
            _check_file(path)
    for name in (
        "config.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "model.safetensors.index.json",
    ):
        if (folder / name).is_file():
            content = read_object(folder / name)
            if name == "config.json":
                _check_sizes(content, str(folder / name))
    if (folder / "adapter_config.json").exists():
        rule = "its weights are an adapter's, which change another model's"
        remedy = "Merge it (peft: merge_and_unload) and save the result"
        raise InputError("holds a PEFT adapter", where=str(folder), rule=rule, remedy=remedy)


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object; raise InputError that names the file."""
    try:
        text = path.read_bytes().decode("utf-8")
        what = "begins with a byte order mark" if text.startswith("\ufeff") else ""
        content = None if what else json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        what = f"cannot be read ({first_line(error)})"
    if what or not isinstance(content, dict):
        rule = "it must be a JSON object in UTF-8"
        raise InputError(what or "holds something else", where=str(path), rule=rule, remedy=AGAIN)
    return content


def require_tokenizer_files(name: str, folder: Path) -> None:
    """Raise InputError for a folder without a vocabulary.

    transformers would make an empty one, to which every word is unknown.
    """
    if not any(any(folder.glob(pattern)) for pattern in TOKENIZERS):
        rule = f"a tokenizer has one of {', '.join(TOKENIZERS)}"
        remedy = "Save the tokenizer there, too (tokenizer.save_pretrained)"
        raise InputError("no tokenizer is here", where=name, rule=rule, remedy=remedy)


@contextmanager
def reading(where: str, remedy: str = AGAIN, what: str = "cannot be loaded") -> Iterator[None]:
    """Turn every failure of a library's loader inside into an InputError."""
    try:
        yield
    except (InputError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # anything: a panic of tokenizers is not even an Exception
        said = f"{what} ({type(error).__name__}: {first_line(error).rstrip(':')})"
        raise InputError(said, where=where, remedy=remedy) from error


def _check_file(path: Path) -> None:
    require_regular(path)
    size, most = path.stat().st_size, MOST_BYTES.get(path.name, MOST_BYTES_OF_OTHERS)
    with path.open("rb") as stream:
        begins = stream.read(len(LFS))
    what, rule, remedy = "", "", AGAIN
    if size > most and not any(map(path.match, WEIGHTS)):
        what, rule = f"has {size:,} bytes", f"at most {most:,} are read"
    elif begins == LFS:
        what, remedy = "is a pointer of Git LFS, not the file itself", "Fetch the file: git lfs pull"
    elif path.suffix == ".safetensors":
        what = _damage(path)
    if what:
        raise InputError(what, where=str(path), rule=rule, remedy=remedy)


def _damage(path: Path) -> str:
    """Say what is wrong with a file of tensors by its header: 8 bytes of length, then JSON."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if not 0 < length <= min(size - 8, LONGEST_HEADER):
            return "is cut off or damaged: its header is not whole"
        try:
            tensors = json.loads(stream.read(length))
            ends = [one["data_offsets"][1] for name, one in tensors.items() if name != "__metadata__"]
            wanted = 8 + length + max(ends, default=0)
        except (ValueError, RecursionError, TypeError, KeyError, IndexError, AttributeError):
            return "is damaged: its header is no table of tensors"
    return "" if wanted == size else f"is cut off or damaged: it has {size:,} bytes of {wanted:,}"


def _check_sizes(value: Any, where: str, key: str = "") -> None:
    """Raise InputError for a number that would take minutes or all memory to build."""
    if isinstance(value, dict):
        for name, one in value.items():
            _check_sizes(one, where, name)
    elif isinstance(value, list):
        for one in value:
            _check_sizes(one, where, key)
    elif isinstance(value, int):
        most = MOST_PARTS if PARTS.fullmatch(key) else MOST_SIZE
        if abs(value) > most:
            rule = f"no encoder has more than {most:,}"
            raise InputError(f"{key} = {value}", where=where, rule=rule, remedy=AGAIN)
