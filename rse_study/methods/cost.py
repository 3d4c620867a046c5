"""What one optimiser step computes, told by its configuration alone: the unit in which trials are priced."""

from dataclasses import dataclass

# In P*T, P = encoder parameters without embeddings, T = tokens of one view of the batch. A forward pass is 2 (one
# multiplication and one addition a parameter), a backward pass to the inputs alone another 2, to inputs and weights 4.
FORWARD = 2.0
ASCENT = FORWARD + 2.0
TRAINED = FORWARD + 4.0


@dataclass(frozen=True)
class StepCost:
    """Passes of one step: `ascent` of the inner loop, `num_views` trained ones, and those of RTD where it runs."""

    ascent: int
    num_views: int
    detects: bool = False

    @property
    def gradient_passes(self) -> int:
        """Gradients computed: one a pass of the inner loop, with respect to inputs, and one to train on."""
        return self.ascent + 1

    @property
    def work(self) -> float:
        """Floating-point operations in P*T: 4 N + 20 with an adversary (z_pos once, three views), else 12; RTD adds 8.

        RTD: D is trained, G reads once. Only passes through layers count; heads, losses and projections do not.
        """
        clean = FORWARD * (self.ascent > 0)
        detection = (TRAINED + FORWARD) * self.detects
        return ASCENT * self.ascent + clean + TRAINED * self.num_views + detection
