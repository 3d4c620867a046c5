"""The 179 English stop words of nltk, from its archive in the data folder."""

from functools import cache
from pathlib import Path
from zipfile import ZipFile

from rse_study.data.wordnet import FOLDER, nltk_archive

ARCHIVE = FOLDER / "corpora" / "stopwords.zip"
MEMBER = "stopwords/english"


@cache
def english_stopwords(data_dir: Path) -> frozenset[str]:
    """Read the stop words, which are in lower case."""
    with ZipFile(nltk_archive(data_dir, ARCHIVE, MEMBER, "stop words")) as archive:
        return frozenset(archive.read(MEMBER).decode("utf-8").split())
