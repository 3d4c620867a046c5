"""SG-OPT (Kim et al. 2021, section 3, L^opt3): each sentence against every layer of the frozen copy, by loops.

Called `c` and `h` as there: c_i is the trained encoder's vector of sentence i, h_{i,k} the frozen copy's after layer k.
"""

import math

import torch
from torch import Tensor, nn

from .contrastive_reference import cosine


def sentence(batch, i: int) -> Tensor:
    """The ids [1 l] of the batch's i-th sentence, without padding."""
    return batch.ids[i : i + 1, : int(batch.mask[i].sum())]


def trained_vector(encoder, ids: Tensor) -> Tensor:
    """c [d], pooled as the encoder pools."""
    return encoder(encoder.word_embeddings(ids), torch.ones_like(ids, dtype=torch.bool), ids)[0]


def layer_vectors(encoder, ids: Tensor) -> list[Tensor]:
    """h_0, ..., h_l [d], constants: the largest value of each feature over the tokens, special ones included."""
    vectors = []
    with torch.no_grad():
        found = encoder.backbone(
            inputs_embeds=encoder.word_embeddings(ids), output_hidden_states=True
        ).hidden_states
    for hidden in found:  # the embedding block's output first
        largest = hidden[0, 0]
        for token in hidden[0, 1:]:
            largest = torch.where(token > largest, token, largest)
        vectors.append(largest)
    return vectors


def project(head: nn.Module, x: Tensor) -> Tensor:
    """f(x) = W2 GELU(W1 x + b1) + b2 of one [d] vector, GELU(u) = u Phi(u)."""
    first, second = (module for module in head.modules() if isinstance(module, nn.Linear))
    u = first.weight @ x + first.bias
    return second.weight @ (u * (1 + torch.erf(u / math.sqrt(2))) / 2) + second.bias


def distance(trained: nn.Module, frozen: nn.Module) -> Tensor:
    """||theta_T - theta_F||_2^2 over all parameters of the backbones."""
    theirs, total = dict(frozen.named_parameters()), torch.zeros((), dtype=torch.float64)
    assert theirs, "a backbone without parameters"
    for name, parameter in trained.named_parameters():
        total = total + ((parameter - theirs[name].detach()) ** 2).sum()
    return total


def reference(method, networks, batch, run, step) -> Tensor:
    """L = 1/(b (l + 1)) sum_i sum_k L_{i,k} + weight * ||theta_T - theta_F||_2^2."""
    ids = [sentence(batch, i) for i in range(len(batch.ids))]
    c = [project(networks.head, trained_vector(networks.encoder, one)) for one in ids]
    h = [[project(networks.head, x) for x in layer_vectors(networks.other, one)] for one in ids]
    loss, count = torch.zeros((), dtype=torch.float64), 0
    for i, anchor in enumerate(c):
        similar = [[cosine(anchor, x) / method.temperature for x in layers] for layers in h]
        for own in similar[i]:
            # -log(phi / (phi + sum)) = log(1 + sum / phi), which keeps the digits of a small loss.
            others = torch.zeros((), dtype=torch.float64)
            for m, layers in enumerate(similar):
                if m != i:
                    for other in layers:
                        others = others + torch.exp(other - own)
            loss, count = loss + torch.log1p(others), count + 1
    return loss / count + method.weight * distance(networks.encoder.backbone, networks.other.backbone)
