"""The 179 English stop words of nltk, from its archive in the data folder."""

from functools import cache
from pathlib import Path
from zipfile import ZipFile, is_zipfile

from rse_study.data.text_files import SET_DATA
from rse_study.data.wordnet import FOLDER
from rse_study.errors import InputError, MissingFile

ARCHIVE = FOLDER / "corpora" / "stopwords.zip"
MEMBER = "stopwords/english"


@cache
def english_stopwords(data_dir: Path) -> frozenset[str]:
    """Read the stop words, which are in lower case."""
    path = data_dir / ARCHIVE
    if not path.is_file():
        remedy = f"{SET_DATA}, or wordnet alone: rse-study data fetch wordnet"
        raise MissingFile("no stop words", where=str(path), rule="attacks leave them alone", remedy=remedy)
    if not is_zipfile(path) or MEMBER not in ZipFile(path).namelist():
        rule, remedy = f"must be a zip archive with {MEMBER}", "Fetch it again"
        raise InputError("holds no stop words", where=str(path), rule=rule, remedy=remedy)
    with ZipFile(path) as archive:
        return frozenset(archive.read(MEMBER).decode("utf-8").split())
