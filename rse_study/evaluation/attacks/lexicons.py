"""Word lists from the data folder: stop words, synonyms, neighbouring keys."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zipfile import ZipFile

from rse_study.data.text_files import find_file, read_lines
from rse_study.data.wordnet import FOLDER, LetterTable, neighbouring_keys, nltk_archive
from rse_study.errors import InputError

STOP_WORDS = FOLDER / "corpora" / "stopwords.zip"
ENGLISH = "stopwords/english"


@cache
def english_stopwords(data_dir: Path) -> frozenset[str]:
    """Read the stop words, which are in lower case."""
    with ZipFile(nltk_archive(data_dir, STOP_WORDS, ENGLISH, "stop words")) as archive:
        return frozenset(archive.read(ENGLISH).decode("utf-8").split())


PPDB = "lexicon/counter_fitting/ppdb_synonyms.txt"


@dataclass(frozen=True, eq=False)
class SynonymList:
    """Each word's synonyms in file order; every pair counts in both directions."""

    synonyms: dict[str, list[str]]

    @classmethod
    def open(cls, data_dir: Path) -> "SynonymList":
        path = find_file(PPDB, data_dir)
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for number, line in enumerate(read_lines(path), start=1):
            if not line.strip():
                continue
            if len(line.split()) != 2:
                rule = "two words a line"
                raise InputError(
                    "is no pair of words", where=f"{path}:{number}", rule=rule, remedy="Fetch it again"
                )
            first, second = line.split()
            found[first][second] = found[second][first] = None
        return cls({word: [other for other in others if other != word] for word, others in found.items()})

    def nearest(self, word: str, num: int) -> list[str]:
        return self.synonyms.get(word, [])[:num]


def keyboard(data_dir: Path) -> LetterTable:
    """Map letters, in both cases, to the letters next to them on a keyboard."""
    # Digits would end a word instead of misspelling it.
    near = {
        key: tuple(other for other in others if other.isalpha())
        for key, others in neighbouring_keys(data_dir).items()
    }
    return near | {key.upper(): tuple(map(str.upper, others)) for key, others in near.items()}
