"""One training step: ours, the plain transcription's and sentence-transformers'."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoModelForMaskedLM

from benchmarks.cases import Case
from benchmarks.plain import PlainBatch, PlainRobustSentEmbed, draw
from rse_study.assets.tokenised import synonym_table
from rse_study.data import data_dir
from rse_study.data.builtin import graded_pairs
from rse_study.data.tokenised import tokenise
from rse_study.methods import DEFAULT, METHODS
from rse_study.models.loading import load_tokenizer, quiet_loading
from rse_study.tensors import Collectives
from rse_study.training.materials import Materials
from rse_study.training.session import Session
from rse_study.training.session_setup import open_session
from rse_study.training.trial import Trial

Pooling = Literal["cls", "mean"]


@dataclass(frozen=True, kw_only=True)
class StepShape:
    """The encoder and the data of a step."""

    encoder: Path
    """folder that `save_encoder` wrote"""
    sentences: list[str]
    batch_size: int
    length: int
    """the longest sentence in tokens"""
    pooling: Pooling
    seed: int
    device: str = "cpu"
    """of all but sentence-transformers' step"""
    trial: Mapping[str, Any] = field(default_factory=dict)
    """further settings of our trial"""


def open_ours(case: Case, shape: StepShape, folder: Path) -> Session:
    """Open a cell's session as a study does; its `advance` takes a step."""
    pooling = METHODS[case.method.get("name", DEFAULT)].needs_pooling or shape.pooling
    trial = Trial.model_validate(
        {
            "method": dict(case.method),
            "encoder": {"name": str(shape.encoder), "pooling": pooling},
            "batch_size": shape.batch_size,
            "max_length": shape.length,
            "selection": {"dev": "builtin"},
            **shape.trial,
        }
    )
    tokenizer = load_tokenizer(str(shape.encoder))
    corpus = folder / f"corpus-{shape.length}"
    if not corpus.exists():
        tokenise(shape.sentences, tokenizer, shape.length, corpus)
    needs_synonyms = trial.method.needs_synonyms
    materials = Materials(
        corpus=corpus,
        base=str(shape.encoder),
        dev=graded_pairs("dev"),
        generator=str(shape.encoder),
        synonyms=str(synonym_table(folder, tokenizer, data_dir())) if needs_synonyms else "",
    )
    return open_session(
        trial, shape.seed, materials, folder / "cell", Collectives(), torch.device(shape.device)
    )


class PlainStep:
    """A step of the plain transcription on the sentences of the session's same step."""

    def __init__(
        self,
        case: Case,
        shape: StepShape,
        session: Session,
        kind: type[PlainRobustSentEmbed] = PlainRobustSentEmbed,
    ) -> None:
        assert case.plain is not None
        torch.manual_seed(shape.seed)
        self._shape, self._session = shape, session
        self._tokenizer = load_tokenizer(str(shape.encoder))
        with quiet_loading():
            backbone = AutoModel.from_pretrained(shape.encoder, add_pooling_layer=False)
            generator = AutoModelForMaskedLM.from_pretrained(shape.encoder) if case.plain.lambda2 else None
        precision = shape.trial.get("precision", "float32")
        settings = replace(case.plain, pooling=shape.pooling, precision=precision)
        generator = generator and generator.to(shape.device)
        mask_token_id = self._tokenizer.mask_token_id
        self.model = kind(backbone, settings, generator, mask_token_id).to(shape.device)
        self._batches: dict[int, PlainBatch] = {}

    def __call__(self, number: int) -> Tensor:
        batch = self.batch(number)
        return self.model.step(batch, draw(batch, self.model))

    def batch(self, number: int) -> PlainBatch:
        """Return the sentences of a step, tokenised once and padded to the longest."""
        if number not in self._batches:
            texts = batch_texts(self._session, self._shape, number)
            found = self._tokenizer(
                texts,
                padding=True,
                truncation=True,
                max_length=self._shape.length,
                return_tensors="pt",
                return_special_tokens_mask=True,
            ).to(self._shape.device)
            mask = found["attention_mask"].bool()
            perturbable = mask & ~found["special_tokens_mask"].bool()
            self._batches[number] = PlainBatch(found["input_ids"], mask, perturbable)
        return self._batches[number]


class LibraryStep:
    """A SimCSE step of sentence-transformers: each sentence is its own positive."""

    def __init__(self, shape: StepShape, session: Session) -> None:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
        from sentence_transformers.sentence_transformer.modules import Dense, Transformer
        from sentence_transformers.sentence_transformer.modules import Pooling as PoolingModule

        torch.manual_seed(shape.seed)
        self._shape, self._session = shape, session
        with quiet_loading():
            words = Transformer(str(shape.encoder), max_seq_length=shape.length)
        width = words.get_embedding_dimension()
        pooling = PoolingModule(width, pooling_mode=shape.pooling)
        head = Dense(width, width, activation_function=nn.Tanh())
        self.model: Any = SentenceTransformer(modules=[words, pooling, head], device="cpu").train()
        self._loss = MultipleNegativesRankingLoss(self.model, scale=20.0)
        self._optimizer = torch.optim.AdamW(self.model.parameters(), lr=7e-6, weight_decay=0.0)
        self._features: dict[int, dict[str, Tensor]] = {}

    def __call__(self, number: int) -> float:
        features = self._tokenised(number)
        loss: Tensor = self._loss([dict(features), dict(features)], None)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad()
        return loss.item()

    def _tokenised(self, number: int) -> dict[str, Tensor]:
        if number not in self._features:
            texts = batch_texts(self._session, self._shape, number)
            self._features[number] = self.model.preprocess(texts)
        return self._features[number]


def batch_texts(session: Session, shape: StepShape, number: int) -> list[str]:
    """Return the sentences of the session's global batch at a step, from 0."""
    return [shape.sentences[place] for place in session.batches.sentences(number)]
