"""Masked-LM training of small models, and their accuracy beside the unigram's."""

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from pydantic import NonNegativeInt, PositiveFloat, PositiveInt
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch import Tensor, nn

from rse_study.activity import graceful_interrupt
from rse_study.assets.store import came_with_archive, steps_of
from rse_study.data.batches import Batch, Batches, mask_tokens, rtd_mask
from rse_study.data.tokenised import TokenisedCorpus, tokenise
from rse_study.errors import InputError, first_line
from rse_study.models.loading import quiet_loading
from rse_study.models.pooling import in_mode
from rse_study.models.rtd import masked_logits
from rse_study.spec import Spec, field
from rse_study.streams import Streams
from rse_study.training import checkpoint
from rse_study.training.arithmetic import torch_threads


class MaskedAccuracy(Spec):
    """Share of masked held-out tokens that are guessed, 20% masked as in RTD."""

    model: float
    unigram: float
    """always the commonest token of the training sentences"""
    num_tokens: int


@torch.no_grad()
def masked_accuracy(model: Any, held_out: TokenisedCorpus, training: TokenisedCorpus) -> MaskedAccuracy:
    """Measure accuracy where RTD would mask, beside that of the commonest token."""
    batches = Batches(held_out, min(64, len(held_out)), Streams(0))
    commonest = _commonest(training)
    num_right = num_unigram = num_tokens = 0
    with in_mode(model, training=False):
        for step in range(batches.num_batches):
            batch = batches.batch(step)
            masked = rtd_mask(batch, Streams(0), step)
            hidden = batch.ids.masked_fill(masked, held_out.meta.mask_id)
            truth = batch.ids[masked]
            num_right += int((masked_logits(model, hidden, masked, batch.mask).argmax(-1) == truth).sum())
            num_unigram += int((truth == commonest).sum())
            num_tokens += len(truth)
    total = max(1, num_tokens)
    return MaskedAccuracy(model=num_right / total, unigram=num_unigram / total, num_tokens=num_tokens)


def _commonest(corpus: TokenisedCorpus) -> int:
    counts = torch.bincount(torch.from_numpy(corpus.ids[:].astype("int64")))
    special = [i for i in corpus.meta.special_ids if i < len(counts)]
    counts[special] = 0
    return int(counts.argmax())


HELD_OUT_EVERY = 20
MAX_HELD_OUT = 500
CHECKPOINT_SECONDS = 60.0
POOL = 16  # batches sorted by length together
TrainingCallback = Callable[[int, int, float], None]  # steps done, steps in all, loss


class MaskedLMTraining(Spec):
    """Budget of a masked-LM training: AdamW, a tenth of warm-up, linear decay."""

    num_steps: PositiveInt = 1500
    max_epochs: PositiveInt = 6
    """a small corpus gets fewer steps: at most so many passes"""
    batch_size: PositiveInt = 64
    max_length: int = field(64, ge=4)
    lr: PositiveFloat = 1e-3
    seed: NonNegativeInt = 0

    def steps_for(self, num_batches: int) -> int:
        return min(self.num_steps, self.max_epochs * num_batches)


def split(sentences: list[str]) -> tuple[list[str], list[str]]:
    """Split into (training, held out): every 20th sentence is held out, at most 500."""
    held_out = sentences[::HELD_OUT_EVERY][:MAX_HELD_OUT]
    num_spread = len(held_out) * HELD_OUT_EVERY
    kept = [s for i, s in enumerate(sentences) if i % HELD_OUT_EVERY or i >= num_spread]
    return kept, held_out


class LengthSorted:
    """Batches of sentences of similar length, in random order: a third of the padding.

    Rows do not interact in the masked-LM loss, so any rows may share a batch, unlike in contrastive training.
    """

    def __init__(self, corpus: TokenisedCorpus, batch_size: int, streams: Streams) -> None:
        self.batch_size = min(batch_size, len(corpus))
        self.num_chunks = min(POOL, len(corpus) // self.batch_size)
        self._pools = Batches(corpus, self.batch_size * self.num_chunks, streams)
        self._streams = streams
        self.num_batches = self.num_chunks * self._pools.num_batches

    def batch(self, step: int) -> Batch:
        """Return the batch of a step: a slice of a pool sorted by length."""
        pool, place = divmod(step, self.num_chunks)
        order = torch.randperm(self.num_chunks, generator=self._streams.generator("order", pool, 1))
        start = int(order[place]) * self.batch_size
        whole, rows = self._pools.batch(pool), slice(start, start + self.batch_size)
        longest = int(whole.mask[rows].sum(1).max())
        ids, mask, perturbable = (x[rows, :longest] for x in (whole.ids, whole.mask, whole.perturbable))
        return Batch(ids, mask, perturbable, whole.rows[rows], whole.num_rows)


def train_masked_lm(
    model: Any, corpus: TokenisedCorpus, spec: MaskedLMTraining, on_progress: TrainingCallback, steps: Path
) -> None:
    """Train the parameters of `model` that require a gradient, seeded.

    15% of the tokens are predicted; of these 80% are masked, 10% random, 10% left (Devlin et al. 2019). SIGINT
    raises KeyboardInterrupt once the step is finished and saved in `steps`, a folder from which the next call goes on
    to the same bits.
    """
    streams = Streams(spec.seed)
    batches = LengthSorted(corpus, spec.batch_size, streams)
    num_steps = spec.steps_for(batches.num_batches)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=spec.lr, weight_decay=0.01)
    model.train()
    begun, saved = _resume(steps, model, optimizer), time.monotonic()
    with graceful_interrupt() as is_interrupted:
        for step in range(begun, num_steps):
            with streams.dropout(step, "mlm", 0):
                loss = _loss(model, corpus, batches.batch(step), streams.generator("mlm", step))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            for group in optimizer.param_groups:
                group["lr"] = spec.lr * rate(step, num_steps)
            optimizer.step()
            on_progress(step + 1, num_steps, float(loss.detach()))
            if is_interrupted() or time.monotonic() - saved >= CHECKPOINT_SECONDS:
                checkpoint.save(steps, checkpoint.TrainState("", step + 1), model, optimizer, {})
                saved = time.monotonic()
            if is_interrupted():
                raise KeyboardInterrupt
    model.eval()


def take_weights(model: Any, draft: Path) -> bool:
    """Give the model the weights that came with an archive; False if none did."""
    path = came_with_archive(draft.parent, draft.stem.removeprefix("."))
    if not path.is_file():
        return False
    try:
        load_model(model.eval(), path)
    except (SafetensorError, RuntimeError) as error:
        raise InputError(
            f"weights are damaged: {first_line(error)}", where=str(path), remedy="Remove it"
        ) from None
    return True


def rate(step: int, num_steps: int) -> float:
    """Return a step's share of the learning rate: up over a tenth, then down to 0."""
    warm_up = max(1, num_steps // 10)
    return min((step + 1) / warm_up, (num_steps - step) / max(1, num_steps - warm_up))


def _resume(steps: Path, model: Any, optimizer: torch.optim.Optimizer) -> int:
    """Restore the newest checkpoint in a folder, if there is one; return the steps done."""
    newest = checkpoint.latest(steps)
    if newest is None:
        return 0
    checkpoint.restore(newest, model, optimizer, {})
    return checkpoint.read_train_state(newest, "").t


def _loss(model: Any, corpus: TokenisedCorpus, batch: Batch, generator: torch.Generator) -> Tensor:
    ids, chosen = mask_tokens(
        batch.ids,
        batch.perturbable,
        mask_id=corpus.meta.mask_id,
        vocabulary_size=corpus.meta.vocabulary_size,
        generator=generator,
    )
    # Dropout keeps its old random draws, so that the bases that studies name stay the same.
    logits = masked_logits(model, ids, chosen, batch.mask, skips_padding=False)
    # A batch of very short sentences may have nothing chosen: its loss is 0, not NaN.
    summed = nn.functional.cross_entropy(logits, batch.ids[chosen], reduction="sum")
    return summed / max(1, int(chosen.sum()))


def train_and_save(
    draft: Path,
    model: Any,
    tokenizer: Any,
    sentences: list[str],
    spec: MaskedLMTraining,
    on_progress: TrainingCallback,
) -> dict[str, Any]:
    """Train on 19 of 20 sentences, measure on the rest, and save; return the record.

    If weights of the asset came with a study's archive, they are taken, and nothing is trained.
    """
    start = time.monotonic()
    training, held_out = split(sentences)
    with TemporaryDirectory() as scratch, torch_threads(1):
        kept = tokenise(training, tokenizer, spec.max_length, Path(scratch) / "training")
        left = tokenise(held_out, tokenizer, spec.max_length, Path(scratch) / "held_out")
        if not take_weights(model, draft):
            train_masked_lm(model, kept, spec, on_progress, steps_of(draft))
        accuracy = masked_accuracy(model, left, kept)
    with quiet_loading():
        model.save_pretrained(draft)
    tokenizer.save_pretrained(draft)
    return {
        "masked_accuracy": accuracy.model,
        "unigram_accuracy": accuracy.unigram,
        "num_masked_tokens": accuracy.num_tokens,
        "num_sentences": len(training),
        "num_held_out": len(held_out),
        "seconds": round(time.monotonic() - start, 1),
    }
