"""Checks of a model's files before a library opens them, whose failures are named."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rse_study.errors import InputError, first_line

AGAIN = "Download or save it again"
CONFIGS = ("config.json", "tokenizer_config.json", "generation_config.json")
READ = (*CONFIGS, "tokenizer.json", "vocab.*", "merges.txt", "*_tokens*.json", "*.model", "*.index.json")
WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model", "*.tiktoken")
MOST_BYTES = 64 << 20  # NLLB's tokenizer.json, among the largest, has 33 MB
MOST_OF_CONFIG = 4 << 20
PARTS = re.compile("num_(?!labels|buckets).*|.*layers?|n_heads?")
MOST_PARTS, MOST_SIZE = 1_000, 1 << 24  # of layers, heads and experts; of widths, positions and vocabularies
LFS = b"version https://git-lfs"


def check_files(folder: Path) -> None:
    """Raise InputError for a file of a model's folder that no loader should open."""
    for path in sorted(folder.iterdir()):
        if any(map(path.match, READ + WEIGHTS)):
            _check_file(path)
    for path in (folder / name for name in CONFIGS if (folder / name).exists()):
        _check_sizes(read_json(path, dict), str(path))
    if (folder / "adapter_config.json").exists():
        rule = "its weights are an adapter's, which change another model's"
        remedy = "Merge it (peft: merge_and_unload) and save the result"
        raise InputError("holds a PEFT adapter", where=str(folder), rule=rule, remedy=remedy)


def read_json(path: Path, kind: type) -> Any:
    """Read a JSON object or list in UTF-8; raise InputError that names the file."""
    with reading(str(path), what="cannot be read"):
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, kind):
            raise TypeError(f"a {type(content).__name__} where a {kind.__name__} is expected")
        return content


def require_regular(path: Path) -> None:
    """Raise InputError for a device, a folder or a broken link."""
    if not path.is_file():
        rule = "folders, devices and broken links are not read"
        raise InputError("is no regular file", where=str(path), rule=rule, remedy=AGAIN)


def require_tokenizer_files(folder: Path) -> None:
    """Raise InputError for a folder without a vocabulary.

    transformers would make an empty one, to which every word is unknown.
    """
    if not any(any(folder.glob(pattern)) for pattern in TOKENIZERS):
        rule, remedy = f"a tokenizer has one of {', '.join(TOKENIZERS)}", "Save the tokenizer there, too"
        raise InputError("no tokenizer is here", where=str(folder), rule=rule, remedy=remedy)


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
    size, most = path.stat().st_size, MOST_OF_CONFIG if path.name == "config.json" else MOST_BYTES
    if size > most and not any(map(path.match, WEIGHTS)):
        what, rule = f"has {size:,} bytes", f"at most {most:,} are read"
        raise InputError(what, where=str(path), rule=rule, remedy=AGAIN)
    with path.open("rb") as stream:
        if stream.read(len(LFS)) == LFS:
            what, remedy = "is a pointer of Git LFS, not the file itself", "Fetch the file: git lfs pull"
            raise InputError(what, where=str(path), remedy=remedy)


def _check_sizes(value: Any, where: str, key: str = "") -> None:
    """Raise InputError for a number that would take minutes or all memory to build."""
    for name, one in value.items() if isinstance(value, dict) else ():
        _check_sizes(one, where, name)
    for one in value if isinstance(value, list) else ():
        _check_sizes(one, where, key)
    most = MOST_PARTS if PARTS.fullmatch(key) else MOST_SIZE
    if isinstance(value, int) and abs(value) > most and "length" not in key:
        what, rule = f"{key} = {value}", f"no encoder has more than {most:,}"
        raise InputError(what, where=where, rule=rule, remedy=AGAIN)
