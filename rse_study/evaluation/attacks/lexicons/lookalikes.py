"""Characters that are taken for one another: those that look alike, and those next to each other on a keyboard."""

import json
from pathlib import Path

from rse_study.data.text_files import find_file, read_lines
from rse_study.errors import InputError

HOMOGLYPHS = "lexicon/homoglyph/confusables_ascii.json"
KEYBOARD = "lexicon/typo/keyboard_en.json"

Lookalikes = dict[str, tuple[str, ...]]


def homoglyphs(data_dir: Path) -> Lookalikes:
    """ASCII letters and digits to what looks like them (Unicode's confusables). Raises MissingFile, InputError."""
    return _read(find_file(HOMOGLYPHS, data_dir))


def keyboard(data_dir: Path) -> Lookalikes:
    """Letters to the letters next to them, in lower case and in upper. Raises MissingFile, InputError."""
    # The file also lists digits, and signs typed with shift: they would end a word instead of misspelling it.
    near = {
        key: tuple(other for other in others if other.isalpha() and other != key)
        for key, others in _read(find_file(KEYBOARD, data_dir)).items()
        if key.isalpha()
    }
    return near | {key.upper(): tuple(map(str.upper, others)) for key, others in near.items()}


def _read(path: Path) -> Lookalikes:
    try:
        content = json.loads("\n".join(read_lines(path)))
    except ValueError as error:
        raise InputError(f"is no JSON ({error})", where=str(path), remedy="Fetch it again") from None
    if not isinstance(content, dict) or not all(isinstance(value, str | list) for value in content.values()):
        rule = "an object: character to a list of characters"
        raise InputError("holds something else", where=str(path), rule=rule, remedy="Fetch it again")
    return {key: tuple(str(other).strip() for other in others) for key, others in content.items()}
