"""Batches of a tokenised corpus, a function of the step alone."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from rse_study.data.corpus import check_batch
from rse_study.data.real_tokens import RealTokens
from rse_study.data.tokenised import TokenisedCorpus
from rse_study.errors import InputError
from rse_study.streams import Streams
from rse_study.tensors import Bool, Int, Tensor, sent, torch


@dataclass(frozen=True)
class Batch:
    """One worker's share of a global batch."""

    ids: Int[Tensor, "b l"]
    mask: Bool[Tensor, "b l"]
    perturbable: Bool[Tensor, "b l"]
    """real and not special"""
    rows: Int[Tensor, " b"]
    """index of the sentence in the global batch, before it is sorted by length"""
    num_rows: int
    """sentences of the global batch, over all workers"""
    host: "Batch | None" = None
    """the batch on the CPU, for random draws and counts; None: this one is on the CPU"""

    def to(self, device: "torch.device | str") -> "Batch":
        to = torch.device(device)
        return Batch(
            ids=sent(self.ids, to),
            mask=sent(self.mask, to),
            perturbable=sent(self.perturbable, to),
            rows=sent(self.rows, to),
            num_rows=self.num_rows,
            host=self.on_host,
        )

    @property
    def on_host(self) -> "Batch":
        """The batch on the CPU, where reading does not wait for a GPU."""
        return self.host or self

    @cached_property
    def real_places(self) -> RealTokens:
        return RealTokens.of(self.mask, self.places_of(self.on_host.mask))

    @cached_property
    def perturbable_places(self) -> Int[Tensor, " n"]:
        return self.places_of(self.on_host.perturbable)

    def places_of(self, chosen: Bool[Tensor, "b l"]) -> Int[Tensor, " n"]:
        """Return flat indices of tokens chosen on the CPU, on the batch's device."""
        return sent(chosen.flatten().nonzero().squeeze(1), self.ids.device)

    def repeated(self, times: int) -> "Batch":
        """Repeat the batch; each repetition continues the numbering of its rows."""
        return Batch(
            ids=self.ids.repeat(times, 1),
            mask=self.mask.repeat(times, 1),
            perturbable=self.perturbable.repeat(times, 1),
            rows=torch.cat([self.rows + i * self.num_rows for i in range(times)]),
            num_rows=self.num_rows,
            host=self.host and self.host.repeated(times),
        )

    def all_perturbable(self) -> "Batch":
        """Return the batch with special tokens perturbable, too."""
        return replace(self, perturbable=self.mask, host=self.host and self.host.all_perturbable())


class Batches:
    """Global batches: every epoch is a fresh permutation, cut into batches.

    The last incomplete batch is dropped. A global batch is sorted by length (stable) and dealt to the workers in turn,
    so which sentences share a batch depends on seed and step only, never on the number of workers.
    """

    def __init__(
        self, corpus: TokenisedCorpus, batch_size: int, streams: Streams, rank: int = 0, size: int = 1
    ) -> None:
        check_batch(batch_size, len(corpus))
        if batch_size < size:
            what = f"a batch of {batch_size} sentences for {size} workers"
            raise InputError(
                what, rule="every worker needs a sentence", remedy="Raise batch_size or use fewer workers"
            )
        self.corpus, self.batch_size, self.rank, self.size = corpus, batch_size, rank, size
        self.num_batches = len(corpus) // batch_size
        self._streams = streams
        self._is_special = np.zeros(corpus.meta.vocabulary_size, bool)
        self._is_special[list(corpus.meta.special_ids)] = True
        self._permutation = lru_cache(maxsize=2)(self._draw_permutation)

    def sentences(self, step: int) -> Int[np.ndarray, " g"]:
        """Return the sentences in a step's global batch, unsorted."""
        epoch, position = divmod(step, self.num_batches)
        return self._permutation(epoch)[position * self.batch_size : (position + 1) * self.batch_size]

    def batch(self, step: int) -> Batch:
        """Return this worker's rows of a step's global batch, padded to their longest."""
        sentences = self.sentences(step)
        rows = np.argsort(self.corpus.lengths[sentences], kind="stable")[self.rank :: self.size]
        ids, mask = self._padded(sentences[rows])
        return Batch(
            ids=torch.from_numpy(ids.astype(np.int64)),
            mask=torch.from_numpy(mask),
            perturbable=torch.from_numpy(mask & ~self._is_special[ids]),
            rows=torch.from_numpy(rows),
            num_rows=self.batch_size,
        )

    def _padded(
        self, sentences: Int[np.ndarray, " b"]
    ) -> tuple[Int[np.ndarray, "b l"], Bool[np.ndarray, "b l"]]:
        lengths = self.corpus.lengths[sentences]
        column = np.arange(lengths.max())
        mask = column < lengths[:, None]
        places = np.where(mask, self.corpus.offsets[sentences][:, None] + column, 0)
        return np.where(mask, self.corpus.ids[places], self.corpus.meta.pad_id), mask

    def _draw_permutation(self, epoch: int) -> Int[np.ndarray, " n"]:
        return torch.randperm(len(self.corpus), generator=self._streams.generator("order", epoch)).numpy()
