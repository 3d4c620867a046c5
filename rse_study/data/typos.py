"""Tables of characters that letters are mistaken for: nearby keys, look-alikes.

lexicon/typo/keyboard_en.json                 {character: characters on neighbouring keys}, a US keyboard
lexicon/homoglyph/confusables_ascii.json      {ASCII letter or digit: characters that look like it}, Unicode UTS 39
"""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from rse_study.data.text_files import find_set_file, read_lines
from rse_study.errors import InputError

KEYBOARD = "lexicon/typo/keyboard_en.json"
LOOKALIKES = "lexicon/homoglyph/confusables_ascii.json"
LetterTable = dict[str, tuple[str, ...]]


@cache
def neighbouring_keys(data_dir: Path) -> LetterTable:
    """Return the letters and digits beside each letter, reached without Shift."""
    return _letters(_read(KEYBOARD, data_dir), lambda near: near.isalnum())


@cache
def lookalikes(data_dir: Path) -> LetterTable:
    """Return the characters that look like an ASCII letter, in either case."""
    return _letters(_read(LOOKALIKES, data_dir), lambda alike: True)


def _letters(table: LetterTable, is_wanted: Callable[[str], bool]) -> LetterTable:
    # The keyboard's table counts "a" among the neighbours of "a".
    chosen = {
        key: tuple(c for c in found if c != key and is_wanted(c))
        for key, found in table.items()
        if key.isalpha()
    }
    return {key: found for key, found in chosen.items() if found}


def _read(below: str, data_dir: Path) -> LetterTable:
    path = find_set_file(below, data_dir)
    try:
        content = json.loads("\n".join(read_lines(path)))
    except json.JSONDecodeError as error:
        raise _refused(f"is no JSON ({error})", path) from None
    if not isinstance(content, dict):
        raise _refused(f"holds a {type(content).__name__}", path)
    return {key: _characters(key, found, path) for key, found in content.items()}


def _characters(key: str, found: object, path: Path) -> tuple[str, ...]:
    """Return an entry's characters; a single one may lack brackets."""
    listed = [found] if isinstance(found, str) else found
    if not isinstance(listed, list) or not all(
        isinstance(c, str) and len(c.strip()) == 1 for c in (key, *listed)
    ):
        raise _refused(f"{key!r}: {found!r}"[:80], path)
    return tuple(c.strip() for c in listed)


def _refused(what: str, path: Path) -> InputError:
    rule = "one JSON object: a character and a list of characters each"
    return InputError(what, where=str(path), rule=rule, remedy="Fetch it again")
