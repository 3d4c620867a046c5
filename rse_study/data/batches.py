"""Batches of a corpus, functions of the step alone: draws, masks and synonyms."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.corpus import check_batch
from rse_study.data.tokenised import TokenisedCorpus
from rse_study.spec import fingerprint_of
from rse_study.streams import Streams
from rse_study.tensors import Bool, Float, Int, Tensor, sent, torch


@dataclass(frozen=True)
class RealTokens:
    """Indices from the real tokens to their positions among all b * l, and back."""

    mask: Bool[Tensor, "b l"]
    flat: Int[Tensor, " T"]
    """flat indices of the real tokens among all b * l"""
    back: Int[Tensor, " n"]
    """for each of the b * l, its index among the T; for padding any index"""
    numbers: Int[Tensor, " T"]
    """1, 2, ... over the real tokens of each sentence"""
    types: Int[Tensor, " T"]
    """0: every token belongs to the first sentence of its row"""
    _biases: dict["torch.dtype", Tensor] = field(default_factory=dict)

    @classmethod
    def of(cls, mask: Bool[Tensor, "b l"], flat: Int[Tensor, " T"] | None = None) -> "RealTokens":
        """Look the real tokens up, which waits for a GPU, unless `flat` is known."""
        flat = mask.flatten().nonzero().squeeze(1) if flat is None else flat
        among = torch.arange(len(flat), device=mask.device)
        # Neighbours at padding, too: a GPU reads them faster than one token many times.
        anywhere = torch.arange(mask.numel(), device=mask.device) % len(flat)
        numbers = mask.cumsum(1).flatten().index_select(0, flat)
        return cls(mask, flat, anywhere.index_copy(0, flat, among), numbers, torch.zeros_like(flat))

    def bias(self, dtype: "torch.dtype") -> Float[Tensor, "b 1 1 l"]:
        """Return what attention adds to its scores: 0, and -inf at padding."""
        if dtype not in self._biases:
            self._biases[dtype] = self.mask[:, None, None].to(dtype).log()
        return self._biases[dtype]


Make = Callable[["Batch", int], tuple[Tensor, ...]]
"""Draws for a batch on the CPU and a step; nothing else that it reads may change between two steps."""
NUM_SHAPES = 16
"""of batches whose shapes are fixed: real tokens are rounded up to a multiple of this part of b * l"""


@dataclass
class Draws:
    """The draws of one step by name; how each is made is known from the steps before."""

    host: "Batch | None"
    """the step's batch on the CPU; None: all is made, since a recorded step would repeat what it draws"""
    step: int
    device: "torch.device"
    makers: dict[str, Make]
    """of all steps"""
    made: dict[str, tuple[Tensor, ...]] = field(default_factory=dict)

    def take(self, name: str, make: Make) -> tuple[Tensor, ...]:
        if name not in self.made:
            self.makers[name] = make
            self._make(name)
        return self.made[name]

    def make_all(self) -> None:
        """Make all that was needed in earlier steps."""
        for name in self.makers:
            self._make(name)

    def _make(self, name: str) -> None:
        assert self.host is not None, f"{name} is drawn inside a recorded step"
        self.made[name] = sent_all(self.makers[name](self.host, self.step), self.device)


def sent_all(values: tuple[Tensor, ...], device: "torch.device") -> tuple[Tensor, ...]:
    """Copy CPU values to a device without waiting for the GPU."""
    return tuple(sent(each, device) for each in values)


@dataclass(frozen=True)
class Chosen:
    """Tokens that are chosen, or that stand among others of which only some count."""

    flat: Int[Tensor, " n"]
    counts: Bool[Tensor, " n"] | None = None
    """None: all do"""

    def of(self, values: Tensor) -> Tensor:
        """Pick from values [b l ...], [n ...]; 0 for tokens that do not count."""
        picked = values.flatten(0, 1)[self.flat]
        if self.counts is None:
            return picked
        return picked.masked_fill(~self.counts.view(-1, *[1] * (picked.dim() - 1)), 0)

    def ones(self, dtype: "torch.dtype") -> Tensor:
        """Return 1 for each token that counts, [n]."""
        return torch.ones_like(self.flat, dtype=dtype) if self.counts is None else self.counts.to(dtype)


TOKENS = ("ids", "mask", "perturbable")


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
    is_fixed: bool = False
    """whether shapes are those of many other batches, and not those of these sentences: for steps that are recorded"""
    draws: Draws | None = None
    """draws that were made ahead; None: they are made where they are needed"""
    path: str = ""
    """how it came from the step's own batch"""
    derive: "Callable[[Batch], Batch]" = lambda batch: batch
    """what made it from that batch"""
    views: "tuple[Batch, ...]" = ()
    """its sentences' paraphrases, then hard negatives, padded as it is; empty: sentences are their own positives"""

    def to(self, device: "torch.device | str") -> "Batch":
        to = torch.device(device)
        own: dict[str, Any] = {name: sent(getattr(self, name), to) for name in (*TOKENS, "rows")}
        return replace(self, **own, host=self.on_host, views=tuple(view.to(device) for view in self.views))

    @property
    def texts(self) -> "tuple[Batch, ...]":
        """Its sentences, their positives, and their hard negatives if there are any."""
        return self, *(self.views or (self,))

    @property
    def on_host(self) -> "Batch":
        """The batch on the CPU, where reading does not wait for a GPU."""
        return self.host or self

    @cached_property
    def real_places(self) -> RealTokens:
        (flat,) = self.drawn("real", 0, lambda host, _: (host.places_of(host.mask),))
        return RealTokens.of(self.mask, flat)

    @cached_property
    def perturbable_places(self) -> Chosen:
        return self.chosen(lambda batch: batch.perturbable)

    def chosen(self, choose: "Callable[[Batch], Bool[Tensor, 'b l']]") -> Chosen:
        """Return the tokens chosen by masks; of fixed shapes all, of which some count."""
        if self.is_fixed:
            return Chosen(torch.arange(self.ids.numel(), device=self.ids.device), choose(self).flatten())
        return Chosen(sent(self.on_host.places_of(choose(self.on_host)), self.ids.device))

    def places_of(self, chosen: Bool[Tensor, "b l"]) -> Int[Tensor, " n"]:
        """Return flat indices of chosen tokens, of fixed shapes with some others."""
        return (self._rounded(chosen) if self.is_fixed else chosen).flatten().nonzero().squeeze(1)

    def _rounded(self, chosen: Bool[Tensor, "b l"]) -> Bool[Tensor, "b l"]:
        """Choose the first others, too, until each copy of the batch has a number that many have."""
        copies = chosen.view(-1, self.num_rows * chosen.shape[1])
        missing = -copies.sum(1, keepdim=True) % -(-copies.shape[1] // NUM_SHAPES)
        return (copies | (~copies & ((~copies).cumsum(1) <= missing))).view_as(chosen)

    def drawn(self, name: str, step: int, make: Make) -> tuple[Tensor, ...]:
        """Return what `make` draws for this batch on the CPU, on the batch's device.

        A step that is recorded has it made ahead: `make` may keep no batch, and no tensor of one.
        """
        if self.draws is None:
            return sent_all(make(self.on_host, step), self.ids.device)
        derive = self.derive
        return self.draws.take(self.path + name, lambda host, step: make(derive(host), step))

    def repeated(self, times: int) -> "Batch":
        """Stack its texts, then itself, to `times` parts that go on counting rows."""
        parts = [*self.texts, *[self] * times][:times]
        return self._derived(
            f"repeated {times}/",
            lambda batch: batch.repeated(times),
            **{name: torch.cat([getattr(part, name) for part in parts]) for name in TOKENS},
            rows=torch.cat([self.rows + i * self.num_rows for i in range(times)]),
            views=(),
        )

    def all_perturbable(self) -> "Batch":
        """Return the batch with special tokens perturbable, too."""
        return self._derived("all/", lambda batch: batch.all_perturbable(), perturbable=self.mask)

    def _derived(self, name: str, change: "Callable[[Batch], Batch]", **changed: Any) -> "Batch":
        derive = self.derive
        return replace(
            self,
            host=self.host and change(self.host),
            path=self.path + name,
            derive=lambda batch: change(derive(batch)),
            **changed,
        )


class Batches:
    """Global batches: every epoch is a fresh permutation, cut into batches.

    The last incomplete batch is dropped. A global batch is sorted by length (stable) and dealt to the workers in turn,
    so which sentences share a batch depends on seed and step only, never on the number of workers.
    """

    def __init__(
        self,
        corpus: TokenisedCorpus,
        batch_size: int,
        streams: Streams,
        rank: int = 0,
        size: int = 1,
        *,
        are_fixed: bool = False,
    ) -> None:
        check_batch(batch_size, len(corpus))
        self.corpus, self.batch_size, self.rank, self.size = corpus, batch_size, rank, size
        self.num_batches, self._are_fixed = len(corpus) // batch_size, are_fixed
        self._streams = streams
        self._is_special = np.zeros(corpus.meta.vocabulary_size, bool)
        self._is_special[list(corpus.meta.special_ids)] = True
        self._permutation = lru_cache(maxsize=2)(self._draw_permutation)

    def sentences(self, step: int) -> Int[np.ndarray, " g"]:
        """Return the sentences in a step's global batch, unsorted."""
        epoch, position = divmod(step, self.num_batches)
        return self._permutation(epoch)[position * self.batch_size : (position + 1) * self.batch_size]

    def batch(self, step: int) -> Batch:
        """Return this worker's rows of a step's global batch, padded as their views are."""
        sentences = self.sentences(step)
        rows = np.argsort(self.corpus.lengths[sentences], kind="stable")[self.rank :: self.size]
        starts = len(self.corpus) * np.arange(self.corpus.meta.num_texts)[:, None]
        padded = (np.split(part, len(starts)) for part in self._padded((sentences[rows] + starts).ravel()))
        first, *views = (
            Batch(
                ids=torch.from_numpy(ids.astype(np.int64)),
                mask=torch.from_numpy(mask),
                perturbable=torch.from_numpy(mask & ~self._is_special[ids]),
                rows=torch.from_numpy(rows),
                num_rows=self.batch_size,
                is_fixed=self._are_fixed,
            )
            for ids, mask in zip(*padded, strict=True)
        )
        return replace(first, views=tuple(views))

    def _padded(
        self, sentences: Int[np.ndarray, " b"]
    ) -> tuple[Int[np.ndarray, "b l"], Bool[np.ndarray, "b l"]]:
        lengths = self.corpus.lengths[sentences]
        column = np.arange(self.corpus.meta.max_length if self._are_fixed else lengths.max())
        mask = column < lengths[:, None]
        places = np.where(mask, self.corpus.offsets[sentences][:, None] + column, 0)
        return np.where(mask, self.corpus.ids[places], self.corpus.meta.pad_id), mask

    def _draw_permutation(self, epoch: int) -> Int[np.ndarray, " n"]:
        return torch.randperm(len(self.corpus), generator=self._streams.generator("order", epoch)).numpy()


def mask_tokens(
    ids: Int[Tensor, "*batch"],
    maskable: Bool[Tensor, "*batch"],
    *,
    mask_id: int,
    vocabulary_size: int,
    generator: "torch.Generator",
    share: float = 0.15,
) -> tuple[Int[Tensor, "*batch"], Bool[Tensor, "*batch"]]:
    """Corrupt ids and return the tokens to predict (Devlin et al. 2019, section 3.1).

    Of the chosen tokens 80% become [MASK], 10% a random token, 10% stay. All tensors are on the CPU.
    """
    chosen = (torch.rand(ids.shape, generator=generator) < share) & maskable
    fate = torch.rand(ids.shape, generator=generator)
    random_ids = torch.randint(vocabulary_size, ids.shape, generator=generator)
    corrupted = torch.where(chosen & (fate < 0.8), torch.full_like(ids, mask_id), ids)
    return torch.where(chosen & (fate >= 0.9), random_ids, corrupted), chosen


def rtd_mask(batch: Batch, streams: Streams, step: int, share: float = 0.2) -> Bool[Tensor, "b l"]:
    """Mask max(1, round(share * n)) of each row's n non-special tokens, on the CPU.

    A row's draw is without replacement, keyed by (stream, step, index in the global batch), and made over its own
    tokens, so it does not depend on padding, sorting or the number of workers. A row without such tokens gets no mask.
    """
    host = batch.on_host
    masked = torch.zeros_like(host.perturbable)
    for row, (index, perturbable) in enumerate(zip(host.rows.tolist(), host.perturbable, strict=True)):
        places = perturbable.nonzero().squeeze(1)
        if len(places):
            count = max(1, round(share * len(places)))
            order = torch.randperm(len(places), generator=streams.generator("rtd", step, index))
            masked[row, places[order[:count]]] = True
    return masked


FILE = "synonyms.npz"
PARTS = ("starts", "words", "offsets", "choices")


@dataclass(frozen=True)
class Synonyms:
    """A table of synonyms: token i may become `choices[offsets[i] : offsets[i + 1]]`."""

    starts: Bool[Tensor, " v"]
    words: Bool[Tensor, " v"]
    offsets: Int[Tensor, " w"]
    choices: Int[Tensor, " n"]

    @classmethod
    def open(cls, folder: Path) -> "Synonyms":
        with np.load(folder / FILE) as content:
            return cls(*(torch.from_numpy(content[name]) for name in PARTS))

    def save(self, folder: Path) -> None:
        np.savez(folder / FILE, **{name: getattr(self, name).numpy() for name in PARTS})

    @property
    def fingerprint(self) -> str:
        return fingerprint_of({name: getattr(self, name).tolist() for name in PARTS})

    def of(self, token: int) -> Int[Tensor, " n"]:
        """Return the tokens that may replace this one."""
        return self.choices[self.offsets[token] : self.offsets[token + 1]]

    def replaceable(self, ids: Int[Tensor, " l"], perturbable: Bool[Tensor, " l"]) -> Bool[Tensor, " l"]:
        """Return which tokens are whole words with a synonym."""
        begins = self.starts[ids] | ~perturbable
        followed = torch.cat([begins[1:], begins.new_ones(1)])
        has_any = self.offsets[ids + 1] > self.offsets[ids]
        return self._begun(ids, perturbable) & followed & has_any

    def num_words(self, ids: Int[Tensor, " l"], perturbable: Bool[Tensor, " l"]) -> int:
        """Count the words of a sentence, without punctuation."""
        return int((self._begun(ids, perturbable) & self.words[ids]).sum())

    def _begun(self, ids: Int[Tensor, " l"], perturbable: Bool[Tensor, " l"]) -> Bool[Tensor, " l"]:
        """Return which tokens begin a word; a sentence's first does even if unmarked."""
        first = perturbable & (perturbable.cumsum(0) == 1)
        return perturbable & (self.starts[ids] | first)


def with_synonyms(
    batch: Batch, synonyms: Synonyms, streams: Streams, step: int, share: float
) -> Int[Tensor, "b l"]:
    """Replace a share of each sentence's words, at least one, by synonyms.

    Words and synonyms are single tokens, so lengths stay; a sentence without such a word is unchanged. A row's draw is
    keyed by (stream views, step, index in the global batch).
    """
    return batch.drawn("twin", step, lambda host, step: (_twin(host, synonyms, streams, step, share),))[0]


def _twin(host: Batch, synonyms: Synonyms, streams: Streams, step: int, share: float) -> Int[Tensor, "b l"]:
    ids = host.ids.clone()
    for i, (row, perturbable) in enumerate(zip(host.rows.tolist(), host.perturbable, strict=True)):
        places = synonyms.replaceable(ids[i], perturbable).nonzero()[:, 0]
        count = max(1, round(share * synonyms.num_words(ids[i], perturbable)))
        generator = streams.generator("views", step, row)
        for place in places[torch.randperm(len(places), generator=generator)[:count]].tolist():
            options = synonyms.of(int(ids[i, place]))
            ids[i, place] = options[torch.randint(len(options), (), generator=generator)]
    return ids
