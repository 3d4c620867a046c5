"""Numbers of sentences to train and score on: all the data that a plan needs."""

from pathlib import Path
from typing import TYPE_CHECKING

from rse_study.data import builtin
from rse_study.data.corpus import Builtin, Corpus, read_corpus
from rse_study.data.location import study_folders
from rse_study.data.readers import read_dev
from rse_study.downstream.settings import Settings
from rse_study.errors import InputError, MissingFile

if TYPE_CHECKING:
    from rse_study.study.planning.evaluation_size import EvaluationSize


class DataSizes:
    """Cached counts of corpora and of scored sentences; nothing is built."""

    def __init__(self, data_dir: Path, settings: Settings | None = None, beside: Path = Path()) -> None:
        """Count with the evaluations' `settings`; corpora may lie in `beside`, the study's folder."""
        self._data_dir, self._settings, self._beside = data_dir, settings, beside
        self._sentences: dict[Corpus, int] = {}
        self._scored: dict[str, EvaluationSize | None] = {}
        self.supposed: list[str] = []  # assumed sizes of missing data, in words

    def num_sentences(self, corpus: Corpus) -> int:
        """Return a corpus' number of distinct sentences; its limit if it is missing."""
        if corpus not in self._sentences:
            self._sentences[corpus] = self._count(corpus)
        return self._sentences[corpus]

    def num_scored(self, name: str) -> float:
        """Return the sentences an evaluation or a dev split embeds; 0 if missing."""
        size = self.size_of(name)
        return 0.0 if size is None else size.scored

    def size_of(self, name: str) -> "EvaluationSize | None":
        """Return how much an evaluation or dev split computes; None if missing."""
        if name not in self._scored:
            self._scored[name] = self._measured(name)
        return self._scored[name]

    @property
    def missing(self) -> tuple[str, ...]:
        """Requested evaluations whose files are missing."""
        return tuple(name for name, number in self._scored.items() if number is None)

    def _count(self, corpus: Corpus) -> int:
        source = corpus.source
        if isinstance(source, Builtin):  # distinct by construction: count without drawing
            return min(source.num_sentences, corpus.limit or source.num_sentences)
        try:
            return len(read_corpus(corpus, self._data_dir, self._beside).sentences)
        except MissingFile as problem:
            if not corpus.limit:
                raise
            self.supposed.append(
                f"{problem.where} is not here: assumed to hold {corpus.limit:,} sentences, its limit"
            )
            return corpus.limit

    def _measured(self, name: str) -> "EvaluationSize | None":
        # These import evaluation code, which takes seconds.
        from rse_study.downstream.registry import read_evaluation
        from rse_study.study.planning.evaluation_size import EvaluationSize, size_of

        task, _, split = name.rpartition("/")
        if task == "builtin":
            return EvaluationSize(name, 2 * builtin.NUM_PAIRS)
        try:
            if split == "dev":
                pairs = read_dev(task, *study_folders(self._beside, self._data_dir))
                return EvaluationSize(name, pairs.num_sentences)
            return size_of(read_evaluation(name, self._data_dir, self._settings))
        except InputError:
            return None
