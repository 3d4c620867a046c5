"""Axis letters of every tensor signature, said once.

b sentences of this worker, g sentences of the global batch, l tokens, d features, p positives, k sites, v vocabulary.
Masks are bool, True = real token.
"""

from jaxtyping import Bool, Float, Int
from torch import Tensor

Embeddings = Float[Tensor, "b l d"]
Sentences = Float[Tensor, "b d"]
TokenMask = Bool[Tensor, "b l"]
TokenIds = Int[Tensor, "b l"]
Scalar = Float[Tensor, ""]
