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
    from rse_study.models.encoder import draw_weights as draw_weights
    from rse_study.models.generators import GeneratorOutputs as GeneratorOutputs
    from rse_study.models.rtd import Discriminator as Discriminator
    from rse_study.models.rtd import Generator as Generator
    from rse_study.models.rtd import TokenPlaces as TokenPlaces
    from rse_study.models.rtd import build_head as build_head
    from rse_study.models.rtd import seeded_linear as seeded_linear
else:
    _NAMES = {
        "dcl_networks": ("DCLNetworks", "MaskedLMHead", "Networks", "PairNetworks", "Projection"),
        "encoder": ("SentenceEncoder", "by_chunks", "draw_weights"),
        "generators": ("GeneratorOutputs",),
        "rtd": ("Discriminator", "Generator", "TokenPlaces", "build_head", "seeded_linear"),
    }
    globals().update(
        {name: DeferredName(f"{__name__}.{home}", name) for home, names in _NAMES.items() for name in names}
    )
