"""Accuracy of a masked LM at masked tokens, beside the unigram's."""

from typing import Any

import torch

from rse_study.data.batches import Batches
from rse_study.data.masking import rtd_mask
from rse_study.data.tokenised import TokenisedCorpus
from rse_study.models.modes import in_mode
from rse_study.models.rtd import masked_logits
from rse_study.spec import Spec
from rse_study.streams import Streams


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
