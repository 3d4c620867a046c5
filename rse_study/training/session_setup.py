"""The setup of a cell's session: encoder, batches, networks, optimiser."""

from pathlib import Path
from typing import Any

import torch

from rse_study.collectives import Collectives
from rse_study.data.batches import Batches
from rse_study.data.synonyms import Synonyms
from rse_study.data.tokenised import TokenisedCorpus, vocabulary_fingerprint
from rse_study.errors import InputError
from rse_study.methods.method import RunContext
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.generators import check_same_tokenizer, load_generator
from rse_study.models.loading import load_encoder
from rse_study.models.rtd import Generator
from rse_study.streams import Streams
from rse_study.training.arithmetic import Arithmetic
from rse_study.training.checkpoint import Publish, keep_local
from rse_study.training.materials import Materials
from rse_study.training.recorded_step import CudaGraphs
from rse_study.training.session import Session
from rse_study.training.shared_files import open_outputs
from rse_study.training.trial import Trial


def open_session(
    trial: Trial,
    seed: int,
    materials: Materials,
    directory: Path,
    collectives: Collectives,
    device: torch.device,
    publish: Publish = keep_local,
) -> Session:
    """Load all that a worker needs; InputError if something does not fit together."""
    require_equal_shares(trial, collectives.size)
    streams, arithmetic = Streams(seed), Arithmetic(trial.precision, device)
    encoder, tokenizer = load_encoder(materials.base, trial.encoder.pooling, trial.encoder.revision)
    encoder.chunk_size = trial.chunk_size  # also for its copies: D, and the target of DCL
    batches = _batches(trial, materials, tokenizer, streams, collectives)
    networks = trial.method.networks(encoder, streams, collectives).to(device, arithmetic.dtype).train()
    if trial.compiled:
        for reader in (module for module in networks.modules() if isinstance(module, SentenceEncoder)):
            reader.compile_passes()
    generator = _generator(trial, materials, tokenizer)
    synonyms = Synonyms.open(Path(materials.synonyms)) if trial.method.needs_synonyms else None
    run = RunContext(
        streams,
        collectives,
        arithmetic.autocast,
        generator and generator.to(device),
        synonyms,
        open_outputs(trial, seed, materials, collectives, device),
        seeds_passes=not trial.graphed,
    )
    adam = trial.optimizer
    # Weight decay acts on every parameter, biases and LayerNorms included. Decision 0015.
    optimizer = torch.optim.AdamW(
        networks.parameters(),
        lr=adam.lr,
        betas=(adam.beta1, adam.beta2),
        eps=adam.epsilon,
        weight_decay=adam.weight_decay,
        fused=True,
    )
    state = trial.method.state(networks, streams)
    return Session(
        trial,
        networks,
        state,
        optimizer,
        arithmetic,
        batches,
        run,
        tokenizer,
        materials,
        directory,
        device,
        publish,
        CudaGraphs() if trial.graphed and device.type == "cuda" else None,
    )


def _batches(
    trial: Trial, materials: Materials, tokenizer: Any, streams: Streams, collectives: Collectives
) -> Batches:
    corpus = TokenisedCorpus.open(materials.corpus)
    if corpus.meta.vocabulary_fingerprint != vocabulary_fingerprint(tokenizer):
        raise InputError(
            "the corpus was tokenised with another vocabulary",
            where=str(materials.corpus),
            rule=f"its ids must be those of {materials.base}",
            remedy="Tokenise it again",
        )
    rank, size = collectives.rank, collectives.size
    return Batches(corpus, trial.batch_size, streams, rank, size, are_fixed=trial.graphed)


def _generator(trial: Trial, materials: Materials, tokenizer: Any) -> Generator | None:
    if not trial.method.generator:
        return None
    generator = load_generator(materials.generator, materials.generator_revision)
    check_same_tokenizer(generator.tokenizer, tokenizer)
    generator.chunk_size = trial.chunk_size
    return generator


def require_equal_shares(trial: Trial, workers: int) -> None:
    """Raise InputError unless so many workers can train, with an equal share each."""
    if trial.batch_size % workers != 0:
        raise InputError(
            f"batch_size = {trial.batch_size}",
            where="trial",
            rule=f"must be a multiple of the {workers} workers: each takes an equal share",
            remedy="Change batch_size or the number of workers",
        )
    if trial.graphed and workers > 1:
        rule, remedy = "records the steps of one worker", "Use one worker, or graphed: false"
        raise InputError(f"graphed: true with {workers} workers", where="trial", rule=rule, remedy=remedy)
