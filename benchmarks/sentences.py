"""Sentences to measure on: Wikipedia's and STS-B's, else the built-in ones."""

from dataclasses import dataclass

from rse_study.data import builtin, data_dir
from rse_study.data.corpus import Corpus, TextFiles, read_corpus
from rse_study.data.readers import read_sts
from rse_study.errors import MissingFile

WIKIPEDIA = "wiki/wiki1m_head/wiki1m_for_simcse.head.txt"


@dataclass(frozen=True)
class Texts:
    """Sentences with the name of their source."""

    name: str
    sentences: list[str]


def training_texts() -> Texts:
    """Return sentences of Wikipedia, else of the built-in grammar."""
    try:
        corpus = Corpus(source=TextFiles(paths=(WIKIPEDIA,)), limit=0)
        return Texts("Wikipedia", read_corpus(corpus, data_dir()).sentences)
    except MissingFile:
        return Texts("built-in corpus", builtin.corpus())


def similarity_texts() -> Texts:
    """Return both sides of STS-B's test pairs, else of the built-in pairs."""
    try:
        pairs = read_sts("STS-B", "test", data_dir())
    except MissingFile:
        pairs = builtin.graded_pairs("test")
    return Texts(f"{pairs.name}/{pairs.split}", [*pairs.first, *pairs.second])
