"""The setup of a session: encoder, batches, networks, and files that cells share."""

import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from rse_study.data.batches import Batches, Synonyms
from rse_study.data.tokenised import TokenisedCorpus, vocabulary_fingerprint
from rse_study.errors import InputError
from rse_study.methods.method import RunContext
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.generators import GeneratorOutputs, check_same_tokenizer, load_generator, make_room
from rse_study.models.loading import load_encoder
from rse_study.models.rtd import Generator
from rse_study.results.bit_equality import what_decides
from rse_study.results.files.atomic import read_sealed, write_sealed
from rse_study.spec import fingerprint_of
from rse_study.streams import Streams
from rse_study.tensors import Collectives
from rse_study.training.arithmetic import Arithmetic, provenance
from rse_study.training.checkpoint import Publish, keep_local
from rse_study.training.materials import Materials
from rse_study.training.own_optimizer import make_optimizer
from rse_study.training.recorded_step import CudaGraphs
from rse_study.training.session import Session
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
    asked = trial.encoder
    encoder, tokenizer = load_encoder(materials.base, asked.pooling, asked.revision, asked.prompt)
    encoder.chunk_size = trial.chunk_size  # also for its copies: D, and the target of DCL
    batches = _batches(trial, materials, tokenizer, streams, collectives)
    networks = trial.method.networks(encoder, streams, collectives).to(device, arithmetic.dtype).train()
    if trial.compiled:
        for reader in (module for module in networks.modules() if isinstance(module, SentenceEncoder)):
            reader.compile_passes()
    generator = _generator(trial, materials, tokenizer)
    outputs = open_outputs(trial, seed, materials, collectives, device)
    synonyms = Synonyms.open(Path(materials.synonyms)) if trial.method.needs_synonyms else None
    of_method = generator and generator.to(device), synonyms, outputs
    run = RunContext(streams, collectives, arithmetic.autocast, *of_method, seeds_passes=not trial.graphed)
    return Session(
        trial,
        networks,
        trial.method.state(networks, streams),
        make_optimizer(trial.optimizer, materials.optimizer, networks),
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
        what = "the corpus was tokenised with another vocabulary"
        rule, remedy = f"its ids must be those of {materials.base}", "Tokenise it again"
        raise InputError(what, where=str(materials.corpus), rule=rule, remedy=remedy)
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
        rule = f"must be a multiple of the {workers} workers: each takes an equal share"
        remedy = "Change batch_size or the number of workers"
        raise InputError(f"batch_size = {trial.batch_size}", where="trial", rule=rule, remedy=remedy)
    if trial.graphed and workers > 1:
        rule, remedy = "records the steps of one worker", "Use one worker, or graphed: false"
        raise InputError(f"graphed: true with {workers} workers", where="trial", rule=rule, remedy=remedy)


OUTPUTS_FOLDER = "generator-outputs"


def open_outputs(
    trial: Trial, seed: int, materials: Materials, collectives: Collectives, device: torch.device
) -> GeneratorOutputs | None:
    """Open the outputs that cells share; None without a generator or fingerprints."""
    if not trial.method.generator or not {"corpus", "generator"} <= materials.fingerprints.keys():
        return None
    # All that the outputs depend on: sharing cells may differ in the rest.
    key: dict[str, Any] = {
        "corpus": materials.fingerprints["corpus"],
        "generator": materials.fingerprints["generator"],
        "seed": seed,
        "batch_size": trial.batch_size,
        "chunk_size": trial.chunk_size,
        "settings": trial.method.generator_settings,
        "semantics": [trial.semantics, trial.encoder.semantics],
        "rank": collectives.rank,
        **({"graphed": True} if trial.graphed else {}),  # places in batches of another width
        # Versions, machine, precision, workers and threads: where two logits are nearly equal, they may decide.
        "decides": what_decides(provenance(device, collectives.size, trial.precision)),
    }
    root = materials.corpus.parent / OUTPUTS_FOLDER
    folder = root / fingerprint_of(key)[:32]
    with suppress(OSError):  # the corpus may be in a read-only folder
        make_room(root, folder)
    return GeneratorOutputs(folder)


SCORES_FOLDER = "scores-of-bases"
KIND = "scores"
NOT_OF_SCORES = {"corpus", "generator", "synonyms"}
"""fingerprints that decide no score before the first step"""


def scores_of_base(
    trial: Trial,
    materials: Materials,
    num_workers: int,
    device: torch.device,
    measure: Callable[[], dict[str, float]],
) -> dict[str, float]:
    """Return the scores of `measure`, or those it gave another cell of this base.

    Nothing is trained yet: only base, pooling and the evaluations decide. Nothing is shared without their
    fingerprints, nor of convolutions, which the seed draws.
    """
    if not {"base", "dev"} <= materials.fingerprints.keys() or trial.encoder.pooling == "convolved":
        return measure()
    path = (
        materials.corpus.parent
        / SCORES_FOLDER
        / f"{_key_of_scores(trial, materials, num_workers, device)[:32]}.json"
    )
    with suppress(InputError):
        return read_sealed(path, KIND, _scores, missing="It is measured", remedy="It is measured again")
    scores = measure()
    if all(map(math.isfinite, scores.values())):
        with suppress(OSError):  # the corpus may be in a read-only folder
            write_sealed(path, KIND, scores)
    return scores


def _key_of_scores(trial: Trial, materials: Materials, num_workers: int, device: torch.device) -> str:
    measured = {name: one for name, one in materials.fingerprints.items() if name not in NOT_OF_SCORES}
    return fingerprint_of(
        {
            "materials": measured,
            **trial.encoder.reading(),
            "semantics": [part.semantics for part in (trial, trial.encoder, trial.selection, trial.replayed)],
            "compiled": trial.compiled,
            "decides": what_decides(provenance(device, num_workers, trial.precision)),
        }
    )


def _scores(content: Any) -> dict[str, float]:
    return {str(name): float(value) for name, value in content.items()}
