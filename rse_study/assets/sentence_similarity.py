"""The sentence encoder of attacks' similarity constraint: MiniLM, in place of USE."""

from rse_study.assets.minilm import minilm_folder
from rse_study.errors import InputError
from rse_study.evaluation.attacks.resources import NamedModel
from rse_study.evaluation.vectors import Embed
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder


def sentence_similarity() -> NamedModel[Embed] | None:
    """MiniLM where it is installed; recipes that need it say so where it is not."""
    try:
        folder = minilm_folder()
    except InputError:
        return None
    embed: Embed = Embedder(*load_encoder(folder))
    return NamedModel("minilm", embed)
