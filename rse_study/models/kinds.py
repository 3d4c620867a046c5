"""Names of model parts that a configuration chooses from."""

from typing import Literal

HeadKind = Literal["none", "linear_tanh", "batch_norm"]
NormKind = Literal["power", "batch", "none"]
"""the normalisation of DCL's projection and predictor"""
