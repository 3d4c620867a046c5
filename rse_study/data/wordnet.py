"""WordNet's synonyms, read by nltk from a folder of the data."""

import warnings
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

from rse_study.errors import InputError, MissingFile
from rse_study.spec import hash_file

FOLDER = Path("lexicon/wordnet/nltk_data")
ARCHIVE = Path("corpora/wordnet.zip")
MEMBER = "wordnet/data.noun"


def wordnet_archive(data_dir: Path) -> Path:
    """The archive nltk reads. Raises MissingFile where it is absent."""
    path = data_dir / FOLDER / ARCHIVE
    if not path.is_file():
        remedy = "Put nltk's wordnet.zip there, and name the data folder by RSE_STUDY_DATA"
        raise MissingFile("no WordNet", where=str(path), rule="synonyms come from it", remedy=remedy)
    if not is_zipfile(path) or MEMBER not in ZipFile(path).namelist():
        rule, remedy = f"must be a zip archive with {MEMBER}", "Fetch it again"
        raise InputError("is not WordNet", where=str(path), rule=rule, remedy=remedy)
    return path


def wordnet_fingerprint(data_dir: Path) -> str:
    """sha256 (hex) of the archive."""
    return hash_file(wordnet_archive(data_dir))


def synonyms_of(word: str, data_dir: Path) -> tuple[str, ...]:
    """Other single words of the word's synsets, in lower case and alphabetical order.

    No antonyms, no phrases.
    """
    reader = _reader(wordnet_archive(data_dir))
    found = {name.lower() for synset in reader.synsets(word) for name in synset.lemma_names()}
    return tuple(sorted(name for name in found if name.isalpha() and name != word.lower()))


@lru_cache(maxsize=2**16)
def lemmas_of(word: str, data_dir: Path) -> tuple[str, ...]:
    """All lemmas of all the word's synsets, in alphabetical order.

    As WordNet writes them: case and underscores stay.
    """
    reader = _reader(wordnet_archive(data_dir))
    return tuple(sorted({name for synset in reader.synsets(word) for name in synset.lemma_names()}))


@cache
def _reader(archive: Path) -> Any:
    # nltk takes seconds to import: only where a word is looked up.
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class English(WordNetCorpusReader):
        def map_wn(self, version: str = "wordnet") -> None:
            """No map between versions: words of other languages alone need it, and it takes as long as all the rest."""

    folder = str(archive.parents[1])
    nltk.data.path.insert(0, folder)  # it reads from nowhere else
    with warnings.catch_warnings():  # that other languages are not there
        warnings.simplefilter("ignore", UserWarning)
        return English(nltk.data.find("corpora/wordnet.zip/wordnet/", [folder]), None)
