"""A masked-LM head for encoders without one: BERT's, tied to the word embeddings."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from rse_study.models.initialisation import seeded_linear


class MaskedLMHead(nn.Module):
    """logits = E LayerNorm(GELU(W h + c)) + bias, with E given (Devlin et al. 2019)."""

    def __init__(self, hidden: int, embedding: int, vocabulary: int, generator: torch.Generator) -> None:
        super().__init__()
        self.transform = seeded_linear(hidden, embedding, generator)
        self.norm = nn.LayerNorm(embedding)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, hidden: Float[Tensor, "m h"], table: Float[Tensor, "v e"]) -> Float[Tensor, "m v"]:
        return self.norm(F.gelu(self.transform(hidden))) @ table.T + self.bias
