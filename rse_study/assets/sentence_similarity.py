"""The sentence encoder of attacks' similarity constraint: MiniLM instead of USE."""

from rse_study.assets.minilm import minilm_folder
from rse_study.errors import InputError
from rse_study.evaluation.attacks.resources import NamedModel
from rse_study.evaluation.vectors import Embed
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder


def sentence_similarity(device: str = "cpu") -> NamedModel[Embed] | None:
    """Load MiniLM onto a device; None if not installed, which its recipes report."""
    try:
        folder = minilm_folder()
    except InputError:
        return None
    encoder, tokenizer = load_encoder(folder)
    embed: Embed = Embedder(encoder.to(device), tokenizer)
    return NamedModel("minilm", embed)
