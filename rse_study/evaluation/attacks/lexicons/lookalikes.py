"""Tables of characters taken for one another: by their look, or by a slip."""

from pathlib import Path

from rse_study.data.typos import LetterTable, lookalikes, neighbouring_keys


def homoglyphs(data_dir: Path) -> LetterTable:
    """ASCII letters to what looks like them (Unicode's confusables).

    Raises InputError, MissingFile where the table cannot be read.
    """
    return lookalikes(data_dir)


def keyboard(data_dir: Path) -> LetterTable:
    """Letters to the letters next to them on a keyboard, in either case.

    Raises InputError, MissingFile where the table cannot be read.
    """
    # Digits would end a word instead of misspelling it.
    near = {
        key: tuple(other for other in others if other.isalpha())
        for key, others in neighbouring_keys(data_dir).items()
    }
    return near | {key.upper(): tuple(map(str.upper, others)) for key, others in near.items()}
