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
        "A study at mini scale: its numbers are not a reproduction of the paper's.",
    ),
    "minilm": ScaleWords(
        {"reproduced": "same direction on MiniLM", "contradicted": "other direction on MiniLM"},
        "MiniLM scale: this six-layer encoder had already been fine-tuned on labelled sentence pairs, and was "
        "trained here for about a minute. BERT-base, which has seen no pairs, need not behave the same way.",
        "A study on MiniLM, fine-tuned on sentence pairs: its numbers are not a reproduction of the paper's.",
    ),
}
