"""Reading of YAML 1.2: `1e-5` is a number, `off`/`no`/`on` are strings."""

import os
import re
import stat
from functools import lru_cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.scanner import Scanner, ScannerError

from rse_study.errors import InputError, MissingFile
from rse_study.spec import INTEGER_RULE, MAX_INTEGER

RULE = "the file must be valid YAML 1.2"
OTHER_VERSION = re.compile(r"^%YAML[ \t]+(?!1\.2\b).*", re.MULTILINE)  # whose rules read 1e-5 as a text
MAX_BYTES = 2**18  # of a file, which takes some 6 s; a study of 2,500 rows has 85 kB
MAX_VALUES, MAX_DEPTH = 100_000, 50  # with every alias written out
NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
TEXT_RULE = "a text has no control characters, which a terminal would obey, and no half of a pair"
LETTERS = 100  # of a text, which count as one value
LIMITS = f"at most {MAX_VALUES:,} values, {MAX_DEPTH} levels deep, count every use of an alias"
FILE_RULE = f"it must be a file of at most {MAX_BYTES // 1024} KiB"


class _Scanner(Scanner):
    """A scanner that stops at the depth limit: it looks at every open bracket again for each token."""

    def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:
        if len(self.flow_context) >= MAX_DEPTH:
            raise ScannerError(None, None, f"nested too deeply: {LIMITS}", self.reader.get_mark())
        super().fetch_flow_collection_start(TokenClass, to_push)


class _Constructor(SafeConstructor):
    """A constructor that names the line of every bad value, and merges within the limits."""

    num_merged = 0

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep=deep)
        except (ValueError, LookupError, OverflowError):
            kind = node.tag.rpartition(":")[2]
            raise ConstructorError(None, None, f"this is no valid {kind}", node.start_mark) from None

    def flatten_mapping(self, node: Any) -> Any:
        before = len(node.value)
        super().flatten_mapping(node)
        self.num_merged += max(0, len(node.value) - before)
        if self.num_merged > MAX_VALUES:
            raise ConstructorError(None, None, f"too many merged keys: {LIMITS}", node.start_mark)


# YAML 1.2 has no dates: 2026-11-01 is a text.
_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file; raise InputError if there is none."""
    try:
        text = _read_text(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        remedy = "Check the path, or see `rse-study studies`"
        raise MissingFile("no such file", where=str(path), remedy=remedy) from None
    except OSError as error:
        remedy = "Check the path and its permissions"
        raise InputError(f"cannot be read ({error.strerror})", where=str(path), remedy=remedy) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8", where=str(path), remedy="Save it as UTF-8"
        ) from None
    return parse_yaml(text, where=str(path))


def _read_text(path: Path) -> str:
    """Read a regular file of a size that a study can have; never wait for a pipe or a device."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            remedy = "Save what it says as a file, and name that"
            raise InputError("is a pipe or a device", where=str(path), rule=FILE_RULE, remedy=remedy)
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        remedy = "Check the path; a study this large is better several"
        raise InputError("is larger than that", where=str(path), rule=FILE_RULE, remedy=remedy)
    return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def parse_yaml(text: str, *, where: str) -> dict[str, Any]:
    """Return the mapping in a YAML text; `where` names its source in errors."""
    other = OTHER_VERSION.search(text)
    if other:
        line = f"{where}:{text.count(chr(10), 0, other.start()) + 1}"
        raise InputError(other.group(), where=line, rule=RULE, remedy="Remove the line")
    try:
        content = _Copier(where).copy(_load(text))
    except (YAMLError, ValueError, OverflowError, RecursionError) as error:
        problem, line, remedy = _why_no_yaml(error)
        raise InputError(problem, where=f"{where}{line}", rule=RULE, remedy=remedy) from None
    if not isinstance(content, dict):
        remedy = "See the shipped files for examples: `rse-study studies`"
        raise InputError(
            "the file holds no mapping", where=where, rule="it must be `key: value` lines", remedy=remedy
        )
    return content


def _why_no_yaml(error: Exception) -> tuple[str, str, str]:
    """Return the problem, ":" and the number of its line if that is known, and the remedy."""
    if isinstance(error, MarkedYAMLError):
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        problem = (error.problem or "not valid YAML").split("\n")[0]
        return problem, line, "Correct the line, or the one before"
    if isinstance(error, YAMLError):
        return str(error).split("\n")[0], "", "Correct the file"
    if isinstance(error, RecursionError):
        return "nested too deeply", "", "Correct the file"
    # Of ruamel's scanner, at "\UFFFFFFFF".
    return "no valid character", "", "Correct the escapes in the quoted texts"


@lru_cache(maxsize=128)
def _load(text: str) -> Any:
    """Parse a text; cached because base files are shared."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor, yaml.Scanner = _Constructor, _Scanner
    try:
        return yaml.load(text)
    except TypeError:  # of ruamel, for a list in a list
        raise YAMLError("a key must be a text or a number") from None


class _Copier:
    """Copies what was read, with a copy for each use of an alias, and refuses what no study needs."""

    def __init__(self, where: str) -> None:
        self._where, self._num_left = where, MAX_VALUES

    def copy(self, value: Any, depth: int = 0) -> Any:
        self._num_left -= 1 + (len(value) // LETTERS if isinstance(value, str) else 0)
        if self._num_left < 0 or depth > MAX_DEPTH:
            raise self._error("too many values, or nested too deeply", LIMITS, "Extend one file by another")
        if isinstance(value, dict):
            return {self.copy(key, depth + 1): self.copy(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.copy(inner, depth + 1) for inner in value]
        if not isinstance(value, str | int | float | None):
            rule = "only texts, numbers, lists and mappings are read"
            raise self._error(f"a {type(value).__name__}", rule, "Remove its tag, or its brackets")
        if isinstance(value, int) and abs(value) > MAX_INTEGER:
            raise self._error("too large an integer", INTEGER_RULE, "Write a smaller one")
        if isinstance(value, str) and (found := NO_TEXT.search(value)):
            raise self._error(f"the character {found.group()!a}", TEXT_RULE, "Take it out of the text")
        return value

    def _error(self, what: str, rule: str, remedy: str) -> InputError:
        return InputError(what, where=self._where, rule=rule, remedy=remedy)
