"""The sentence encoder of attacks' similarity constraint: MiniLM instead of USE."""

from rse_study.assets.minilm import minilm_folder
from rse_study.errors import InputError
from rse_study.evaluation.attacks.resources import NamedModel
from rse_study.evaluation.vectors import Embed
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder


def sentence_similarity() -> NamedModel[Embed] | None:
    """Load MiniLM; None if it is not installed, which recipes that need it report."""
    try:
        folder = minilm_folder()
    except InputError:
        return None
    embed: Embed = Embedder(*load_encoder(folder))
    return NamedModel("minilm", embed)
