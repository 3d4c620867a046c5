"""Optimiser steps of trials whose budget counts epochs of a corpus."""

from pathlib import Path

from rse_study.data.corpus import Builtin, Corpus, read_corpus
from rse_study.errors import MissingFile
from rse_study.training.materials import Materials, PrepareMaterials
from rse_study.training.trial import Trial


class DataSizes:
    """Cached numbers of a corpus' sentences."""

    def __init__(self, data_dir: Path, beside: Path = Path()) -> None:
        """Count in the data folder, or `beside`, in the study's folder."""
        self._data_dir, self._beside = data_dir, beside
        self._sentences: dict[Corpus, int] = {}
        self.supposed: list[str] = []
        """assumed sizes of missing corpora, in words"""

    def num_steps(self, trial: Trial) -> int:
        """Return the steps of a cell that runs its full budget."""
        if trial.budget.unit != "epochs":
            return trial.num_steps(0)
        return trial.num_steps(self.num_sentences(trial.corpus) // trial.batch_size)

    def num_sentences(self, corpus: Corpus) -> int:
        """Return a corpus' number of distinct sentences; its limit if it is missing."""
        if corpus not in self._sentences:
            self._sentences[corpus] = self._count(corpus)
        return self._sentences[corpus]

    def counting(self, prepare: PrepareMaterials) -> PrepareMaterials:
        """Return a function that prepares materials, whose corpora are not read again."""

        def prepared(trial: Trial) -> Materials:
            materials = prepare(trial)
            if materials.num_sentences:
                self._sentences[trial.corpus] = materials.num_sentences
            return materials

        return prepared

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
