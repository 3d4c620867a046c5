"""What a configuration may choose of the models, by name."""

from typing import Literal

HeadKind = Literal["none", "linear_tanh", "batch_norm"]
"""of the training-only head"""
NormKind = Literal["power", "batch", "none"]
"""of DCL's projection and predictor"""
