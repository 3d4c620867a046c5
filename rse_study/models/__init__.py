"""Models that methods import, each loaded at its first use."""

from typing import TYPE_CHECKING

from rse_study.deferred import DeferredName

if TYPE_CHECKING:
    from rse_study.models.dcl_networks import DCLNetworks as DCLNetworks
    from rse_study.models.dcl_networks import MaskedLMHead as MaskedLMHead
    from rse_study.models.dcl_networks import Networks as Networks
    from rse_study.models.dcl_networks import PairNetworks as PairNetworks
    from rse_study.models.dcl_networks import Projection as Projection
    from rse_study.models.encoder import SentenceEncoder as SentenceEncoder
    from rse_study.models.encoder import by_chunks as by_chunks
    from rse_study.models.generators import GeneratorOutputs as GeneratorOutputs
    from rse_study.models.rtd import Discriminator as Discriminator
    from rse_study.models.rtd import Generator as Generator
    from rse_study.models.rtd import TokenPlaces as TokenPlaces
    from rse_study.models.rtd import build_head as build_head
    from rse_study.models.rtd import seeded_linear as seeded_linear
else:
    DCLNetworks = DeferredName("rse_study.models.dcl_networks", "DCLNetworks")
    MaskedLMHead = DeferredName("rse_study.models.dcl_networks", "MaskedLMHead")
    PairNetworks = DeferredName("rse_study.models.dcl_networks", "PairNetworks")
    Projection = DeferredName("rse_study.models.dcl_networks", "Projection")
    SentenceEncoder = DeferredName("rse_study.models.encoder", "SentenceEncoder")
    build_head = DeferredName("rse_study.models.rtd", "build_head")
    seeded_linear = DeferredName("rse_study.models.rtd", "seeded_linear")
    Networks = DeferredName("rse_study.models.dcl_networks", "Networks")
    Discriminator = DeferredName("rse_study.models.rtd", "Discriminator")
    Generator = DeferredName("rse_study.models.rtd", "Generator")
    GeneratorOutputs = DeferredName("rse_study.models.generators", "GeneratorOutputs")
    TokenPlaces = DeferredName("rse_study.models.rtd", "TokenPlaces")
    by_chunks = DeferredName("rse_study.models.encoder", "by_chunks")
