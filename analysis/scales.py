"""The wording of verdicts about a paper's claims at each scale of a study."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ScaleWords:
    """The wording at one `paper.scale`."""

    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Replacements for the usual words of a verdict."""
    limits: str = ""
    """A warning about what its verdicts do not prove."""
    caption: str = ""
    """A line below tables that compare with a paper's."""


SCALES = {
    "paper": ScaleWords(),
    "mini": ScaleWords(
        {"reproduced": "same direction here", "contradicted": "other direction here"},
        "Mini scale: a direction here, with a two-layer encoder, proves nothing about BERT-base.",
        "A study at mini scale: its numbers are no reproduction of the paper's.",
    ),
    "minilm": ScaleWords(
        {"reproduced": "same direction on MiniLM", "contradicted": "other direction on MiniLM"},
        "MiniLM scale: six layers that were fine-tuned on sentence pairs with supervision before, and a budget of a "
        "minute. Training moves what such an encoder knows already; a direction here need not be that of BERT-base, "
        "which has seen no pairs.",
        "A study on MiniLM, which was fine-tuned on sentence pairs: its numbers are no reproduction of the paper's.",
    ),
}
