"""The norm ball of a perturbation: norm, radius, coordinates."""

import dataclasses
from typing import Literal

from pydantic import PositiveFloat

from rse_study.perturbations import geometry
from rse_study.perturbations.geometry import Norm
from rse_study.spec import Spec, field
from rse_study.tensors import Bool, Float, Tensor


class Ball(Spec):
    """||.||_P <= radius, per sentence or per token (RobustSentEmbed eqs 4-6)."""

    norm: Norm = field("linf", symbol="P")
    """P of the ball and of g / ||g||_P"""
    radius: PositiveFloat = field(3e-2, symbol="epsilon")
    """largest P-norm of the perturbation, in embedding units, a length in `given_for`"""
    given_for: Norm = "linf"
    """the norm in which radius and step sizes are stated"""
    scope: Literal["sentence", "token"] = "sentence"
    """coordinates under one norm: a sentence's [l d], or a token's [d]"""
    strength: Literal["matched", "literal"] = "matched"
    """lengths under another norm than `given_for`: converted by the number of coordinates, or taken as they are"""
    projection: Literal["exact", "rescale"] = "exact"
    """Proj for l1: to the nearest point of the ball, or along the radius; other norms are always exact"""

    def around(self, perturbable: Bool[Tensor, "b l"], like: Float[Tensor, "b l d"]) -> "BoundBall":
        width = like.shape[-1]
        per_row = perturbable.sum(1).to(like.dtype) * width
        num_coordinates = per_row if self.scope == "sentence" else per_row.new_full(per_row.shape, width)
        return BoundBall(self, num_coordinates[:, None, None])


@dataclasses.dataclass(frozen=True)
class BoundBall:
    """A ball with each row's number of perturbable coordinates, [b 1 1]."""

    ball: Ball
    num_coordinates: Float[Tensor, "b 1 1"]
    _lengths: dict[float, Float[Tensor, "b 1 1"]] = dataclasses.field(default_factory=dict)

    def length(self, given: float) -> Float[Tensor, "b 1 1"]:
        """Convert a length stated for `ball.given_for` to this ball's norm."""
        if given not in self._lengths:
            given_for = self.ball.given_for if self.ball.strength == "matched" else self.ball.norm
            self._lengths[given] = geometry.matched(given, given_for, self.ball.norm, self.num_coordinates)
        return self._lengths[given]

    def project(self, x: Float[Tensor, "b l d"]) -> Float[Tensor, "b l d"]:
        """Project x into the ball (eqs 4-6)."""
        is_radial = self.ball.projection == "rescale" and self.ball.norm == "l1"
        move = geometry.rescale if is_radial else geometry.project
        return self._grouped(x, lambda groups, r: move(groups, self.ball.norm, r))

    def unit(self, g: Float[Tensor, "b l d"]) -> Float[Tensor, "b l d"]:
        """Return g / ||g||_P over the ball's scope."""
        return self._grouped(g, lambda groups, _: geometry.unit(groups, self.ball.norm))

    def on_bound(self, x: Float[Tensor, "b l d"], perturbable: Bool[Tensor, "b l"]) -> tuple[Tensor, Tensor]:
        """Return which coordinates or groups are on the bound, and which may move.

        Both are [b l d] for linf; for l1 and l2 [b l 1] (tokens) or [b 1 1] (sentences).
        """
        radius = self.length(self.ball.radius) * (1 - 1e-5)
        if self.ball.norm == "linf":
            return x.abs() >= radius, perturbable[:, :, None].expand_as(x)
        if self.ball.scope == "token":
            return geometry.norm_of(x, self.ball.norm) >= radius, perturbable[:, :, None]
        norms = geometry.norm_of(x.flatten(1), self.ball.norm)[:, :, None]
        return norms >= radius, perturbable.any(1)[:, None, None]

    def _grouped(self, x: Tensor, move) -> Tensor:  # type: ignore[no-untyped-def]
        radius = self.length(self.ball.radius)
        if self.ball.scope == "token":
            return move(x, radius)
        return move(x.flatten(1), radius[:, 0]).view_as(x)
