"""Models that methods import, each loaded at its first use."""

from typing import TYPE_CHECKING

from rse_study.deferred import DeferredName

if TYPE_CHECKING:
    from rse_study.models.chunks import by_chunks
    from rse_study.models.dcl_networks import DCLNetworks
    from rse_study.models.encoder import SentenceEncoder
    from rse_study.models.generator_outputs import GeneratorOutputs
    from rse_study.models.heads import build_head
    from rse_study.models.masked_lm_head import MaskedLMHead
    from rse_study.models.networks import Networks
    from rse_study.models.projection import Projection
    from rse_study.models.rtd import Discriminator, Generator, TokenPlaces
else:
    DCLNetworks = DeferredName("rse_study.models.dcl_networks", "DCLNetworks")
    SentenceEncoder = DeferredName("rse_study.models.encoder", "SentenceEncoder")
    build_head = DeferredName("rse_study.models.heads", "build_head")
    MaskedLMHead = DeferredName("rse_study.models.masked_lm_head", "MaskedLMHead")
    Networks = DeferredName("rse_study.models.networks", "Networks")
    Projection = DeferredName("rse_study.models.projection", "Projection")
    Discriminator = DeferredName("rse_study.models.rtd", "Discriminator")
    Generator = DeferredName("rse_study.models.rtd", "Generator")
    GeneratorOutputs = DeferredName("rse_study.models.generator_outputs", "GeneratorOutputs")
    TokenPlaces = DeferredName("rse_study.models.rtd", "TokenPlaces")
    by_chunks = DeferredName("rse_study.models.chunks", "by_chunks")

__all__ = [
    "DCLNetworks",
    "Discriminator",
    "Generator",
    "GeneratorOutputs",
    "MaskedLMHead",
    "Networks",
    "Projection",
    "SentenceEncoder",
    "TokenPlaces",
    "build_head",
    "by_chunks",
]
