"""Fine-tuning of a whole encoder: its settings, read without torch."""

from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from rse_study.spec import Spec, field


class FineTuning(Spec):
    """How a classifier is trained: AdamW, warm-up, linear decay to 0.

    The dev data are scored after every epoch.
    """

    lr: PositiveFloat = 2e-05
    """AdamW's, at the end of the warm-up"""
    epochs: PositiveInt = 3
    """passes over the training texts"""
    batch_size: PositiveInt = 32
    """texts; one batch of an epoch may hold fewer"""
    max_length: int = field(128, ge=4, le=512)
    """tokens; also what the trained classifier reads. The default is less for an encoder that reads fewer"""
    warmup: float = field(0.1, ge=0, lt=1)
    """share of all steps in which the rate rises"""
    weight_decay: NonNegativeFloat = 0.01
    """not on biases and norms"""
    max_norm: PositiveFloat = 1.0
    """of all gradients together"""
    dropout: float = field(0.1, ge=0, lt=1)
    """before the linear map; the encoder has its own"""
    dev_share: float = field(0.1, gt=0, lt=1)
    """of the training texts, where there are no dev data"""
    patience: NonNegativeInt = 0
    """epochs without a better dev score to end after; 0: never"""
    precision: Literal["float32", "tf32", "bf16", "fp16"] = field("float32", neutral="float32")
    """of matrix products, as a trial's; the trained classifier answers in float32"""
    adversarial: NonNegativeFloat = field(0.0, neutral=0.0)
    """l2 length of a step up the gradient on a text's word embeddings (FGM, Miyato et al. 2017), at which the loss
    counts as much as at the text; 0: no such step"""
    augmented: float = field(0.0, ge=0, le=1, neutral=0.0)
    """share of the words of each training text that WordNet synonyms replace in a copy (BERT+DA), which trains, too"""
    keep: Literal["best", "last"] = "best"
    """the epoch whose weights are kept, by dev score"""

    def rate(self, step: int, num_steps: int) -> float:
        """Return the learning rate of a step, counted from 0."""
        warm_up = max(1, round(self.warmup * num_steps))
        return self.lr * min((step + 1) / warm_up, (num_steps - step) / max(1, num_steps - warm_up))
