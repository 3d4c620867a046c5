"""The computation of one optimiser step, the unit in which trials are priced."""

from dataclasses import dataclass

# In P*T, P = encoder parameters without embeddings, T = tokens of one view of the batch. A forward pass is 2 (one
# multiplication and one addition a parameter), a backward pass to the inputs alone another 2, to inputs and weights 4.
FORWARD = 2.0
ASCENT = FORWARD + 2.0
TRAINED = FORWARD + 4.0


@dataclass(frozen=True)
class StepCost:
    """Passes of one step."""

    ascent: int
    num_views: int
    detects: bool = False
    clean: int = 0
    """passes of a view without gradient"""
    views_per_ascent: int = 1
    """views of the batch in each pass of the inner loop"""

    @property
    def gradient_passes(self) -> int:
        return self.ascent + 1

    @property
    def work(self) -> float:
        """Floating-point operations in P*T: RobustSentEmbed takes 4 N + 20, SimCSE 12.

        4 N + 20: z_pos once, three views. RTD adds 8: D is trained, G reads once. Heads, losses and
        projections are not counted.
        """
        detection = (TRAINED + FORWARD) * self.detects
        inner = ASCENT * self.ascent * self.views_per_ascent + FORWARD * self.clean
        return inner + TRAINED * self.num_views + detection

    def repeated(self, batch_size: int, chunk_size: int) -> float:
        """Return the operations, in P*T, that passes split into chunks compute twice."""
        if chunk_size == 0:
            return 0.0
        passes = (
            (self.views_per_ascent, self.ascent * self.views_per_ascent),
            (self.num_views, self.num_views),
            (1, int(self.detects)),
        )
        return FORWARD * sum(views for rows, views in passes if chunk_size < rows * batch_size)
