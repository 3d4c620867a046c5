"""Tables of characters that look alike or are adjacent on the keyboard."""

from pathlib import Path

from rse_study.data.typos import LetterTable, lookalikes, neighbouring_keys


def homoglyphs(data_dir: Path) -> LetterTable:
    """Map ASCII letters to characters that look like them (Unicode's confusables)."""
    return lookalikes(data_dir)


def keyboard(data_dir: Path) -> LetterTable:
    """Map letters, in both cases, to the letters next to them on a keyboard."""
    # Digits would end a word instead of misspelling it.
    near = {
        key: tuple(other for other in others if other.isalpha())
        for key, others in neighbouring_keys(data_dir).items()
    }
    return near | {key.upper(): tuple(map(str.upper, others)) for key, others in near.items()}
