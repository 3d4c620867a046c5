"""Tokens of a batch that are masked, or replaced by synonyms."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rse_study.data.batches import Batch
from rse_study.spec import fingerprint_of
from rse_study.streams import Streams
from rse_study.tensors import Bool, Int, Tensor, torch


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
