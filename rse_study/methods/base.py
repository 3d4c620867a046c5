"""What most methods do not do: generate, weaken, look up synonyms, remember. A method overrides what it does."""

from torch import Tensor

from rse_study.methods.method import Networks
from rse_study.spec import Spec
from rse_study.streams import Streams


class MethodBase(Spec):
    """Nothing generated, nothing weakened, no state, nothing that moves but what the optimiser moves."""

    @property
    def generator(self) -> str:
        """None: nothing is generated."""
        return ""

    @property
    def num_sites(self) -> int:
        """No output of the encoder is weakened."""
        return 0

    @property
    def needs_synonyms(self) -> bool:
        """Nothing is replaced by synonyms."""
        return False

    @property
    def needs_mask(self) -> bool:
        """No token is hidden behind [MASK]; a generator has a [MASK] of its own."""
        return False

    def state(self, networks: Networks, streams: Streams, epoch: int = 0) -> dict[str, Tensor]:
        """Nothing goes on from batch to batch."""
        return {}

    def renew(
        self, state: dict[str, Tensor], networks: Networks, streams: Streams, epoch: int
    ) -> dict[str, Tensor]:
        """Nothing goes on from epoch to epoch."""
        return state

    def after(self, networks: Networks) -> None:
        """Nothing moves but what the optimiser moves."""
