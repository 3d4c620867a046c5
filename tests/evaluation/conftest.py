"""all-MiniLM-L6-v2, whose published figures anchor ours: a sentence is embedded once for all of these tests."""

import pytest

from rse_study.evaluation.evaluations import Embed
from rse_study.spec import hash_file
from tests import needs

WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.fixture(scope="session")
def minilm() -> Embed:
    """Sentences to mean-pooled vectors. Tests that use it are of the xdist group `minilm`."""
    needs.minilm()
    from rse_study.assets.tiny import minilm_folder
    from rse_study.evaluation.evaluations import CachedEncoder
    from rse_study.models.embedder import Embedder
    from rse_study.models.loading import load_encoder

    assert hash_file(minilm_folder() / "model.safetensors") == WEIGHTS
    return CachedEncoder(Embedder(*load_encoder(str(minilm_folder()), pooling="mean")))
