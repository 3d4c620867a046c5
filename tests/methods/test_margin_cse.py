"""MarginCSE equals a loop over anchors and negatives, loss and gradients, in float64."""

import pytest
import torch

from rse_study.methods.margin_cse import MarginCSE
from tests.methods.contract import Example, require_reference
from tests.reference.contrastive_reference import contrastive, cosine

EXAMPLES = {"MarginCSE": Example(MarginCSE(margin=0.5, weight=0.7, temperature=0.5), 1)}


def reference(method, networks, batch, run, step):
    """The loss, sentence by sentence; without dropout both views are the same."""
    embeddings, vectors = networks.encoder.word_embeddings(batch.ids), []
    for i in range(len(batch.ids)):
        real = batch.mask[i]
        pooled = networks.encoder(embeddings[i][real][None], real[real][None], batch.ids[i][real][None])
        vectors.append(networks.head(pooled)[0][0])
    z = torch.stack(vectors)
    loss = contrastive(z, [z], [z], temperature=method.temperature)
    for i in range(len(z)):
        worst = torch.stack([cosine(z[i], z[j]) for j in range(len(z)) if j != i]).max()
        missing = method.margin - cosine(z[i], z[i]) + worst
        if missing > 0:
            loss = loss + method.weight * missing / len(z)
    return loss


@pytest.mark.parametrize(("margin", "weight"), [(0.0, 1.0), (0.2, 2.0), (2.0, 1.0), (0.5, 0.0)])
def test_a_step_is_the_formula_at_any_margin(margin, weight):
    require_reference(reference, MarginCSE(margin=margin, weight=weight, temperature=0.5))
