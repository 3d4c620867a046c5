"""A classifier over a sentence encoder, fine-tuned as a whole.

Pooled vector, dropout, one linear map.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rse_study.errors import InputError
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.initialisation import seeded_linear
from rse_study.models.text_inputs import Inputs


class Classifier(nn.Module):
    """Scores of each class, or one number, from the encoder's own pooling."""

    def __init__(
        self, encoder: SentenceEncoder, num_outputs: int, dropout: float, generator: torch.Generator
    ) -> None:
        """`generator` draws the linear map's weights (stream init). Raises InputError for prompt pooling."""
        super().__init__()
        if encoder.pooling == "prompt":
            rule = "a classifier reads bare texts and pairs, and a template is neither"
            raise InputError("pooling 'prompt'", rule=rule, remedy="Use cls, mean or first_last pooling")
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.head = seeded_linear(encoder.hidden_size, num_outputs, generator)

    def forward(self, inputs: Inputs) -> Float[Tensor, "b c"]:
        """Logits, or values where the one output is a number."""
        embeddings = self.encoder.word_embeddings(inputs.ids)
        # Attacks compare scores of texts whose tokens may be the same: they must tie. Decision 0025.
        pooled = self.encoder(embeddings, inputs.mask, types=inputs.types, keeps_padding=True)
        return self.head(self.dropout(pooled))
