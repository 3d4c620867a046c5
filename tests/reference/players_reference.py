"""The pieces of Algorithm 1 (eqs 2-7): what one update does to delta, to eta and to their mix, by loops.

`Options` has the readings of decision 0003. States and gradients are float64 [b l d], `perturbable` is [b l] bool.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from .geometry_reference import length, norm, project, sign, unit

Change = Callable[[list[float]], list[float]]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The readings of decision 0003, with its defaults. Radii and step sizes are given for their *_given_norm.

    A radius of None means no ball (`released` has none for eta).
    """

    K: int = 5
    T: int = 5
    rho: float = 0.5
    rho_weighs: str = "pgd"  # or "fgsm" (released)
    trajectories: str = "shared"  # or "joint_state", "separate"
    delta_gradient: str = "with_eta"  # or "without_eta"
    temperature: float = 0.05
    alpha: float = 1e-5
    beta: float = 1e-3
    delta_norm: str = "linf"
    delta_scope: str = "sentence"  # or "token"
    delta_radius: float | None = 3e-2
    delta_given_norm: str = "linf"
    eta: str = "present"  # or "none"
    gamma: float = 2e-2
    eta_norm: str = "linf"
    eta_scope: str = "token"  # or "sentence"
    eta_radius: float | None = 0.2
    eta_given_norm: str = "l2"
    n_i: str = "before"  # or "after", "none"
    strength: str = "matched"  # or "literal"
    l1_projection: str = "euclidean"  # or "rescale"
    write_back: str = "mean"  # or "last", "accumulate", "none"
    phi: float = 0.0
    mask_step_size: float = 0.5


def blocks(perturbable: Tensor, scope: str) -> list[list[int]]:
    """One sentence's token positions that share one norm: all perturbable ones together, or each alone."""
    positions = [i for i in range(len(perturbable)) if bool(perturbable[i])]
    if scope == "token":
        return [[i] for i in positions]
    if scope == "sentence":
        return [positions] if positions else []
    raise ValueError(scope)


def on_blocks(state: Tensor, perturbable: Tensor, scope: str, change: Change) -> Tensor:
    """`change` applied to the flat coordinates of every block; 0 everywhere outside perturbable tokens."""
    entries, result = state.tolist(), torch.zeros_like(state).tolist()
    for s in range(len(entries)):
        for block in blocks(perturbable[s], scope):
            places = [(i, j) for i in block for j in range(len(entries[s][i]))]
            values = change([entries[s][i][j] for i, j in places])
            for (i, j), value in zip(places, values, strict=True):
                result[s][i][j] = value
    return torch.tensor(result, dtype=state.dtype)


def project_delta(delta: Tensor, perturbable: Tensor, o: Options) -> Tensor:
    """Proj of eqs 5-6 in each block's ball."""
    return _projected(delta, perturbable, o, o.delta_scope, o.delta_norm, o.delta_given_norm, o.delta_radius)


def project_eta(eta: Tensor, perturbable: Tensor, o: Options) -> Tensor:
    """Proj of eq 4 in each block's ball."""
    return _projected(eta, perturbable, o, o.eta_scope, o.eta_norm, o.eta_given_norm, o.eta_radius)


def _projected(
    state: Tensor, perturbable: Tensor, o: Options, scope: str, p: str, given_norm: str, given: float | None
) -> Tensor:
    def change(flat: list[float]) -> list[float]:
        if given is None:
            return flat
        radius = length(given, given_norm=given_norm, used_norm=p, count=len(flat), strength=o.strength)
        return project(flat, radius, p, l1_projection=o.l1_projection)

    return on_blocks(state, perturbable, scope, change)


def unit_step(
    gradient: Tensor, perturbable: Tensor, o: Options, *, scope: str, p: str, given_norm: str, given: float
) -> Tensor:
    """step * g/||g||_P per block; `matched` converts the step as it converts the radius."""

    def change(flat: list[float]) -> list[float]:
        step = length(given, given_norm=given_norm, used_norm=p, count=len(flat), strength=o.strength)
        return [step * value for value in unit(flat, p)]

    return on_blocks(gradient, perturbable, scope, change)


def sign_step(gradient: Tensor, perturbable: Tensor, o: Options) -> Tensor:
    """beta * sign(g) of eq 6: the same for every norm, scope and strength."""
    return on_blocks(gradient, perturbable, "token", lambda flat: [o.beta * sign(value) for value in flat])


def token_scales(eta: Tensor, perturbable: Tensor, p: str) -> list[list[float]]:
    """Eq 2: n_i = ||eta_i||_P / max_j ||eta_j||_P over a sentence's perturbable tokens; 1 where all are 0.

    Norms of tokens, whatever the scope of eta's ball. Entries outside perturbable tokens multiply zeros.
    """
    scales = []
    for s in range(len(eta)):
        sizes = [norm(eta[s][i].tolist(), p) if bool(perturbable[s][i]) else 0.0 for i in range(len(eta[s]))]
        largest = max(sizes)
        if largest > 0:
            scales.append([size / largest for size in sizes])
        else:
            scales.append([1.0 for _ in sizes])
    return scales


def step_eta(eta: Tensor, gradient: Tensor, perturbable: Tensor, o: Options) -> Tensor:
    """Eqs 2-4: n_i from eta before the step, or from u = eta + step, or 1; the *new* eta is projected."""
    moved = eta + unit_step(
        gradient, perturbable, o, scope=o.eta_scope, p=o.eta_norm, given_norm=o.eta_given_norm, given=o.gamma
    )
    if o.n_i not in ("before", "after", "none"):
        raise ValueError(o.n_i)
    if o.n_i != "none":
        scales = token_scales(eta if o.n_i == "before" else moved, perturbable, o.eta_norm)
        for s in range(len(moved)):
            for i in range(len(moved[s])):
                moved[s][i] = scales[s][i] * moved[s][i]
    return project_eta(moved, perturbable, o)


def mix(pgd: Tensor, fgsm: Tensor, o: Options) -> Tensor:
    """Eq 7: rho * pgd + (1 - rho) * fgsm; `rho_weighs="fgsm"` exchanges the weights everywhere."""
    if o.rho_weighs == "pgd":
        return o.rho * pgd + (1 - o.rho) * fgsm
    if o.rho_weighs == "fgsm":
        return (1 - o.rho) * pgd + o.rho * fgsm
    raise ValueError(o.rho_weighs)
