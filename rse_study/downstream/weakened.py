"""The words that L2P-CSR's masks weaken in a kept encoder, by layer and view (L2P-CSR Figure 3)."""

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from rse_study.collectives import Alone
from rse_study.data.batches import Batch
from rse_study.data.readers import read_sts
from rse_study.data.subword_marks import MARKS
from rse_study.data.template import encode, special_ids
from rse_study.downstream.registry import WEAKENED
from rse_study.downstream.scored_model import ModelFiles
from rse_study.downstream.settings import Settings
from rse_study.evaluation.attacks.lexicons.stopwords import english_stopwords
from rse_study.evaluation.evaluations import evaluation_row
from rse_study.evaluation.vectors import Embed
from rse_study.methods.l2p_csr import L2PCSR
from rse_study.methods.method import RunContext
from rse_study.models.loading import load_encoder
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.streams import Streams
from rse_study.tensors import Bool

NUM_TEXTS, BATCH, MAX_LENGTH, SEED = 256, 64, 32, 0
METHOD = L2PCSR(head="none")
"""The paper's masks; the head of training is not kept, so that the loss they raise is that of the pooled vectors."""


@dataclass(frozen=True)
class WeakenedWords:
    """Shares x100 of word tokens that masks learnt on dev sentences weaken.

    "layer i": of all word tokens and both views, 0 is the embedding block's output. "keywords": of the tokens of no
    stop word, those weakened in any layer of either view. "complementary": of these, those weakened in one view alone.
    """

    task: str
    split: str
    texts: list[str]
    stop_words: frozenset[str]

    @classmethod
    def read(cls, name: str, data_dir: Path, settings: Settings) -> "WeakenedWords":
        pairs = read_sts(name.split("/")[0], "dev", data_dir)
        texts = list(dict.fromkeys(pairs.first))[:NUM_TEXTS]
        return cls(pairs.name, pairs.split, texts, english_stopwords(data_dir))

    @property
    def name(self) -> str:
        return f"{self.task}/{WEAKENED}"

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of([self.texts, sorted(self.stop_words), METHOD.fingerprint(), BATCH, MAX_LENGTH])

    @property
    def measures(self) -> tuple[Measure, ...]:
        labels = [*(f"layer {layer}" for layer in range(METHOD.num_sites)), "keywords", "complementary"]
        return tuple(
            Measure(name=f"{self.task} weakened, {label}", metric=f"{self.name}/{label}") for label in labels
        )

    @property
    def num_sentences(self) -> int:
        """Every ascent step encodes both views forwards and backwards."""
        return 3 * 2 * METHOD.masks.num_steps * len(self.texts)

    def score_weights(self, weights: ModelFiles, embed: Embed, subject: str) -> list[EvaluationRow]:
        encoder, tokenizer = load_encoder(weights.base, weights.pooling_of_classifiers, weights.revision)
        networks = METHOD.networks(encoder.to(weights.device), Streams(SEED), Alone())
        run = RunContext(Streams(SEED), Alone(), nullcontext)
        by_layer, of_views = [], []
        for start in range(0, len(self.texts), BATCH):
            batch, is_word, is_key = self._batch(self.texts[start : start + BATCH], tokenizer)
            masks = METHOD.token_masks(networks, batch.to(weights.device), run).cpu().numpy() == 0
            views = np.stack(np.split(masks, 2, axis=1))
            by_layer.append(views[:, :, is_word].transpose(1, 0, 2).reshape(METHOD.num_sites, -1))
            of_views.append(views.any(axis=1)[:, is_key])
        layers, keys = np.concatenate(by_layer, axis=1), np.concatenate(of_views, axis=1)
        covered = keys[:, keys.any(axis=0)]
        shares = [*layers.mean(axis=1), keys.any(axis=0).mean(), (covered.sum(axis=0) == 1).mean()]
        labels = [measure.metric.removeprefix(f"{self.name}/") for measure in self.measures]
        return [
            evaluation_row(
                self,
                subject,
                self.split,
                label,
                100 * float(share),
                len(self.texts),
                degenerate=False,
                seed=SEED,
            )
            for label, share in zip(labels, shares, strict=True)
        ]

    def _batch(
        self, texts: list[str], tokenizer: Any
    ) -> tuple[Batch, Bool[np.ndarray, "b l"], Bool[np.ndarray, "b l"]]:
        """Return a batch, which of its tokens are of words, and which of keywords."""
        rows = [torch.tensor(row) for row in encode(texts, tokenizer, MAX_LENGTH)]
        ids = pad_sequence(rows, batch_first=True, padding_value=tokenizer.pad_token_id)
        mask = torch.arange(ids.shape[1]) < torch.tensor([len(row) for row in rows])[:, None]
        is_special = torch.isin(ids, torch.tensor(special_ids(tokenizer)))
        batch = Batch(ids, mask, mask & ~is_special, torch.arange(len(rows)), len(rows))
        named = [tokenizer.convert_ids_to_tokens(row) for row in ids]
        tokens = [[token.lstrip("".join(MARKS)).lower() for token in row] for row in named]
        is_word = batch.perturbable.numpy() & [
            [any(map(str.isalnum, token)) for token in row] for row in tokens
        ]
        return batch, is_word, is_word & [[token not in self.stop_words for token in row] for row in tokens]
