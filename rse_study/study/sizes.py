"""How many sentences and pairs there are: all that a plan asks of the data."""

from pathlib import Path

from rse_study.data import builtin
from rse_study.data.corpus import Builtin, Corpus, read_corpus
from rse_study.data.readers import read_sts
from rse_study.errors import InputError, MissingFile


class Sizes:
    """Counts of corpora and of graded pairs, each made once. Nothing is built."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._sentences: dict[Corpus, int] = {}
        self._pairs: dict[str, int | None] = {}
        self.supposed: list[str] = []  # what was not there to be counted, in words

    def num_sentences(self, corpus: Corpus) -> int:
        """Distinct sentences; of a corpus that is not here its limit. Raises InputError where it has none."""
        if corpus not in self._sentences:
            self._sentences[corpus] = self._count(corpus)
        return self._sentences[corpus]

    def num_pairs(self, name: str) -> int | None:
        """Pairs of a task/split; None where its files are not here."""
        if name not in self._pairs:
            self._pairs[name] = self._count_pairs(name)
        return self._pairs[name]

    @property
    def missing(self) -> tuple[str, ...]:
        """Pairs that were asked for and are not here."""
        return tuple(name for name, number in self._pairs.items() if number is None)

    def _count(self, corpus: Corpus) -> int:
        source = corpus.source
        if isinstance(source, Builtin):  # distinct by construction: it need not be drawn to be counted
            return min(source.num_sentences, corpus.limit or source.num_sentences)
        try:
            return len(read_corpus(corpus, self._data_dir).sentences)
        except MissingFile as problem:
            if not corpus.limit:
                raise
            self.supposed.append(
                f"{problem.where} is not here: supposed to hold {corpus.limit:,} sentences, its limit"
            )
            return corpus.limit

    def _count_pairs(self, name: str) -> int | None:
        task, split = name.split("/")
        if task == "builtin":
            return builtin.NUM_PAIRS
        try:
            return len(read_sts(task, split, self._data_dir).first)
        except InputError:
            return None
