"""Reading of YAML 1.2: `1e-5` is a number, `off`/`no`/`on` are strings."""

import re
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rse_study.errors import InputError, MissingFile

RULE = "the file must be valid YAML 1.2"
OTHER_VERSION = re.compile(r"^%YAML[ \t]+(?!1\.2\b).*", re.MULTILINE)  # whose rules read 1e-5 as a text


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file; raise InputError if there is none."""
    try:
        text = path.read_text(encoding="utf-8")
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


def parse_yaml(text: str, *, where: str) -> dict[str, Any]:
    """Return the mapping in a YAML text; `where` names its source in errors."""
    other = OTHER_VERSION.search(text)
    if other:
        line = f"{where}:{text.count(chr(10), 0, other.start()) + 1}"
        raise InputError(other.group(), where=line, rule=RULE, remedy="Remove the line")
    try:
        content = deepcopy(_load(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark
        line = f"{where}:{mark.line + 1}" if mark else where
        problem = (error.problem or "not valid YAML").split("\n")[0]
        raise InputError(
            problem, where=line, rule=RULE, remedy="Correct the line, or the one before"
        ) from None
    except YAMLError as error:
        remedy = "Correct the file"
        raise InputError(str(error).split("\n")[0], where=where, rule=RULE, remedy=remedy) from None
    except RecursionError:
        raise InputError("nested too deeply", where=where, rule=RULE, remedy="Correct the file") from None
    if not isinstance(content, dict):
        remedy = "See the shipped files for examples: `rse-study studies`"
        raise InputError(
            "the file holds no mapping", where=where, rule="it must be `key: value` lines", remedy=remedy
        )
    return content


@lru_cache(maxsize=128)
def _load(text: str) -> Any:
    """Parse a text, cached because most shipped studies share base files."""
    return YAML(typ="safe", pure=True).load(text)
