"""A classifier on a sentence encoder: pooled vector, dropout, one linear map."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rse_study.errors import InputError
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.initialisation import seeded_linear
from rse_study.models.text_classifier import Inputs


class Classifier(nn.Module):
    """A sentence encoder with a linear head, fine-tuned as a whole."""

    def __init__(
        self, encoder: SentenceEncoder, num_outputs: int, dropout: float, generator: torch.Generator
    ) -> None:
        """Draw the head's weights from `generator`; raise InputError for prompt pooling."""
        super().__init__()
        if encoder.pooling == "prompt":
            rule = "a classifier reads bare texts and pairs, and a template is neither"
            raise InputError("pooling 'prompt'", rule=rule, remedy="Use cls, mean or first_last pooling")
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.head = seeded_linear(encoder.hidden_size, num_outputs, generator)

    def forward(self, inputs: Inputs, embeddings: Float[Tensor, "b l e"] | None = None) -> Tensor:
        """Return [b c]: logits per class, or a regression's values in its one column.

        `embeddings` are read in place of the tokens' word embeddings.
        """
        return self.head(self.dropout(self.pooled(inputs, embeddings)))

    def pooled(
        self, inputs: Inputs, embeddings: Float[Tensor, "b l e"] | None = None
    ) -> Float[Tensor, "b d"]:
        """Return the vectors that the head reads."""
        if embeddings is None:
            embeddings = self.encoder.word_embeddings(inputs.ids)
        # Attacks compare scores of texts with the same tokens, which must tie exactly. Decision 0025.
        return self.encoder(embeddings, inputs.mask, types=inputs.types, keeps_padding=True)
