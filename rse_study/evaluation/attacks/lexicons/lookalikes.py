"""Characters that are taken for one another: those that look alike, and those next to each other on a keyboard."""

from pathlib import Path

from rse_study.data.typos import LetterTable, lookalikes, neighbouring_keys


def homoglyphs(data_dir: Path) -> LetterTable:
    """ASCII letters to what looks like them (Unicode's confusables). Raises InputError."""
    return lookalikes(data_dir)


def keyboard(data_dir: Path) -> LetterTable:
    """Letters to the letters next to them, in lower case and in upper. Raises InputError."""
    # Digits would end a word instead of misspelling it.
    near = {
        key: tuple(other for other in others if other.isalpha())
        for key, others in neighbouring_keys(data_dir).items()
    }
    return near | {key.upper(): tuple(map(str.upper, others)) for key, others in near.items()}
