"""Words and letters in the data folder: WordNet, synonyms, stop words, near keys.

lexicon/wordnet/nltk_data                     WordNet and stop words, as nltk publishes them
lexicon/counter_fitting/ppdb_synonyms.txt     two words a line
lexicon/typo/keyboard_en.json                 {character: characters on neighbouring keys}, a US keyboard
lexicon/homoglyph/confusables_ascii.json      {ASCII letter or digit: characters that look like it}, Unicode UTS 39
"""

import json
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

from rse_study.data.text_files import SET_DATA, find_file, find_set_file, read_lines
from rse_study.errors import InputError, MissingFile
from rse_study.spec import hash_file

FOLDER = Path("lexicon/wordnet/nltk_data")
ARCHIVE = Path("corpora/wordnet.zip")
MEMBER = "wordnet/data.noun"
MOST_BYTES = 2**28  # WordNet has 36 MB


def nltk_archive(data_dir: Path, archive: Path, member: str, what: str) -> Path:
    """Return an archive of words that nltk publishes; MissingFile if there is none."""
    path = data_dir / archive
    if not path.is_file():
        rule, remedy = "words come from it", f"{SET_DATA}, or wordnet alone: rse-study data fetch wordnet"
        raise MissingFile(f"no {what}", where=str(path), rule=rule, remedy=remedy)
    sizes = (
        {entry.filename: entry.file_size for entry in ZipFile(path).infolist()} if is_zipfile(path) else {}
    )
    if member not in sizes or sum(sizes.values()) > MOST_BYTES:
        rule = f"must be a zip archive with {member}, and have at most {MOST_BYTES >> 20} MiB unpacked"
        raise InputError(f"holds no {what}", where=str(path), rule=rule, remedy="Fetch it again")
    return path


def wordnet_archive(data_dir: Path) -> Path:
    """Return the archive nltk reads; raise MissingFile if there is none."""
    return nltk_archive(data_dir, FOLDER / ARCHIVE, MEMBER, "WordNet")


def wordnet_fingerprint(data_dir: Path) -> str:
    """sha256 (hex) of the archive."""
    return hash_file(wordnet_archive(data_dir))


def synonyms_of(word: str, data_dir: Path) -> tuple[str, ...]:
    """Return other single words of the word's synsets, in lower case, sorted."""
    reader = _reader(wordnet_archive(data_dir).resolve())
    found = {name.lower() for synset in reader.synsets(word) for name in synset.lemma_names()}
    return tuple(sorted(name for name in found if name.isalpha() and name != word.lower()))


@lru_cache(maxsize=2**16)
def lemmas_of(word: str, data_dir: Path) -> tuple[str, ...]:
    """Return all lemmas of the word's synsets, sorted, as WordNet writes them."""
    reader = _reader(wordnet_archive(data_dir).resolve())
    return tuple(sorted({name for synset in reader.synsets(word) for name in synset.lemma_names()}))


@cache
def _reader(archive: Path) -> Any:
    """Open an archive; nltk does not find one behind a symbolic link."""
    # nltk takes seconds to import, so import it on first use.
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class English(WordNetCorpusReader):
        def map_wn(self, version: str = "wordnet") -> None:
            """Skip the map between versions: slow, and only words of other languages need it."""

    folder = str(archive.parents[1])
    nltk.data.path.insert(0, folder)  # nltk looks nowhere else
    with warnings.catch_warnings():  # about missing other languages
        warnings.simplefilter("ignore", UserWarning)
        return English(nltk.data.find("corpora/wordnet.zip/wordnet/", [folder]), None)


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
