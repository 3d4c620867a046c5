"""IS-BERT (Zhang et al. 2020), one step: windows of hidden states, and every token with every sentence, by loops."""

import torch
from torch import Tensor

from .ct_reference import dot, softplus


def hidden_states(encoder, ids: Tensor) -> list[Tensor]:
    """The last hidden states [d] of a sentence's real tokens, special ones included; `ids` [1 l] has no padding."""
    found = encoder.backbone(inputs_embeds=encoder.word_embeddings(ids))
    return list(found.last_hidden_state[0])


def window(hidden: list[Tensor], i: int, weight: Tensor, bias: Tensor) -> Tensor:
    """ReLU(W [H_{i-(n-1)/2} ; ... ; H_{i+(n-1)/2}] + b) [width]; zeros stand beyond the sentence's ends.

    `weight` [width d n] has one matrix for each place of the window, the leftmost first.
    """
    n = weight.shape[2]
    total = bias
    for place in range(n):
        j = i + place - (n - 1) // 2
        if 0 <= j < len(hidden):
            total = total + weight[:, :, place] @ hidden[j]
    return torch.where(total > 0, total, torch.zeros_like(total))


def token_features(encoder, ids: Tensor) -> list[Tensor]:
    """F_i [d] of each token: its windows of 1, 3 and 5 tokens, one behind the other."""
    hidden, features = hidden_states(encoder, ids), []
    for i in range(len(hidden)):
        features.append(
            torch.cat([window(hidden, i, each.weight, each.bias) for each in encoder.convolutions])
        )
    return features


def sentence_vector(features: list[Tensor]) -> Tensor:
    """E [d], the mean of F_i over the sentence's real tokens."""
    total = torch.zeros_like(features[0])
    for token in features:
        total = total + token
    return total / len(features)


def reference(method, networks, batch, run, step) -> Tensor:
    """1/N sum softplus(-T) over a sentence's own tokens + 1/(N (b - 1)) sum softplus(T) over the other sentences'.

    T(F, E) = F . E; a batch of one sentence has no other, and no second sum.
    """
    features = []
    for i in range(len(batch.ids)):
        features.append(token_features(networks.encoder, batch.ids[i : i + 1, : int(batch.mask[i].sum())]))
    vectors = [sentence_vector(tokens) for tokens in features]
    own, others = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    num_tokens = 0
    for x, tokens in enumerate(features):
        for token in tokens:
            num_tokens += 1
            for other, vector in enumerate(vectors):
                if other == x:
                    own = own + softplus(-dot(token, vector))
                else:
                    others = others + softplus(dot(token, vector))
    return own / num_tokens + others / (num_tokens * max(len(vectors) - 1, 1))
