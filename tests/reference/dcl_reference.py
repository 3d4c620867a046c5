"""DCL, one optimiser step (eqs 5-9) as decision 0008 settles it: backward passes written out, layer by layer.

Power normalisation has a backward pass of its own that is no gradient, so the two heads are differentiated by
hand; autograd does the cosine at the end, batch norm where it is asked for, and the encoder (left to the caller).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from .contrastive_reference import cosine

# encode(x, view) -> encoder output [b n], `view` "x" or "x_aug"; x is handed through. Dropout is its own affair.
Encode = Callable[[Tensor, str], Tensor]
Gradients = dict[str, Tensor]
BATCH_NORM_EPS = 1e-5


@dataclass(frozen=True, kw_only=True)
class Head:
    """Linear(n, h) - norm - ReLU - Linear(h, m): projection and predictor alike; a bias may be None."""

    w1: Tensor  # [h n]
    b1: Tensor | None  # [h]
    gain: Tensor  # [h], gamma
    bias: Tensor  # [h], beta
    w2: Tensor  # [m h]
    b2: Tensor | None  # [m]


@dataclass(frozen=True, kw_only=True)
class State:
    """Running statistics of one power normalisation, [h] each: psi_(t-1), nu_(t-1)."""

    psi: Tensor
    nu: Tensor


@dataclass(frozen=True, kw_only=True)
class Trace:
    """What one pass through a head leaves for its backward pass."""

    x: Tensor
    before: Tensor  # [b h], before the norm
    scaled: Tensor  # X^ [b h]; of `batch` and `none` not used
    after: Tensor  # [b h], after the norm
    out: Tensor  # [b m]


@dataclass(frozen=True, kw_only=True)
class Step:
    """The loss and its parts (0-d, constants but for mlm), their gradients, and the moved statistics."""

    loss: Tensor
    align: Tensor  # prediction of x against the target of x_aug
    align_swapped: Tensor
    mlm: Tensor
    predictions: dict[str, Tensor]
    projections: dict[str, Tensor]
    targets: dict[str, Tensor]
    projection_gradients: Gradients
    predictor_gradients: Gradients
    encoded: dict[str, Tensor]  # with their graph: torch.autograd.backward(encoded, encoded_gradients)
    encoded_gradients: dict[str, Tensor]
    projection_state: State
    predictor_state: State


def power_forward(x: Tensor, gain: Tensor, bias: Tensor, psi: Tensor) -> tuple[Tensor, Tensor]:
    """Eq 9, first two lines: X^ = X/psi_(t-1) and Y = gamma X^ + beta, per feature over the rows [b h]."""
    scaled, y = torch.zeros_like(x), torch.zeros_like(x)
    for j in range(x.shape[1]):
        for i in range(len(x)):
            scaled[i, j] = x[i, j] / psi[j]
            y[i, j] = gain[j] * scaled[i, j] + bias[j]
    return scaled, y


def next_psi(x: Tensor, psi: Tensor, a: float) -> Tensor:
    """Eq 9, last line: psi_t^2 = psi_(t-1)^2 + (1 - a)(mean X^2 - psi_(t-1)^2), the batch's own psi_B^2 = mean X^2."""
    new = torch.zeros_like(psi)
    for j in range(x.shape[1]):
        mean_square = sum(float(x[i, j]) ** 2 for i in range(len(x))) / len(x)
        new[j] = (a * float(psi[j]) ** 2 + (1 - a) * mean_square) ** 0.5
    return new


def power_backward(
    d_y: Tensor, scaled: Tensor, gain: Tensor, state: State, a: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The paper's "approximate backpropagation": dX, d gamma, d beta and nu_t, from dY [b h].

    It is not printed there: G = gamma dY; dX = (G - nu_(t-1) X^)/psi_(t-1);
    nu_t = nu_(t-1) (1 - (1 - a) mean X^^2) + (1 - a) mean(G X^).
    """
    d_x, d_gain, d_bias = torch.zeros_like(d_y), torch.zeros_like(gain), torch.zeros_like(gain)
    new_nu = torch.zeros_like(state.nu)
    num_rows = len(d_y)
    for j in range(d_y.shape[1]):
        mean_square = mean_product = 0.0
        for i in range(num_rows):
            g = float(gain[j]) * float(d_y[i, j])
            d_x[i, j] = (g - float(state.nu[j]) * float(scaled[i, j])) / float(state.psi[j])
            d_gain[j] += float(d_y[i, j]) * float(scaled[i, j])
            d_bias[j] += float(d_y[i, j])
            mean_square += float(scaled[i, j]) ** 2 / num_rows
            mean_product += g * float(scaled[i, j]) / num_rows
        new_nu[j] = float(state.nu[j]) * (1 - (1 - a) * mean_square) + (1 - a) * mean_product
    return d_x, d_gain, d_bias, new_nu


def batch_forward(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """Batch norm by the rows' own mean and (biased) variance, differentiable: the ablation's other row."""
    columns = []
    for j in range(x.shape[1]):
        column = x[:, j]
        mean = column.sum() / len(x)
        variance = ((column - mean) ** 2).sum() / len(x)
        columns.append(gain[j] * (column - mean) / torch.sqrt(variance + BATCH_NORM_EPS) + bias[j])
    return torch.stack(columns, 1)


def forward(head: Head, x: Tensor, state: State, norm: str) -> Trace:
    """One pass, [b n] -> [b m]; no graph. `norm`: power, batch, none (gain and bias are then idle)."""
    x = x.detach()
    before = x @ head.w1.T + (0.0 if head.b1 is None else head.b1)
    if norm == "power":
        scaled, after = power_forward(before, head.gain, head.bias, state.psi)
    elif norm in ("batch", "none"):
        scaled, after = before, batch_forward(before, head.gain, head.bias) if norm == "batch" else before
    else:
        raise ValueError(norm)
    out = torch.clamp(after, min=0.0) @ head.w2.T + (0.0 if head.b2 is None else head.b2)
    return Trace(x=x, before=before, scaled=scaled, after=after, out=out)


def backward(
    head: Head, trace: Trace, d_out: Tensor, state: State, norm: str, a: float
) -> tuple[Tensor, Gradients, Tensor]:
    """From d out [b m]: d x [b n], every parameter's gradient, nu_t."""
    gradients = {"w2": d_out.T @ torch.clamp(trace.after, min=0.0), "b2": d_out.sum(0)}
    d_after = (d_out @ head.w2) * (trace.after > 0)
    new_nu = state.nu
    if norm == "power":
        d_before, d_gain, d_bias, new_nu = power_backward(d_after, trace.scaled, head.gain, state, a)
    elif norm == "batch":
        leaves = [x.detach().clone().requires_grad_() for x in (trace.before, head.gain, head.bias)]
        d_before, d_gain, d_bias = torch.autograd.grad(batch_forward(*leaves), leaves, d_after)
    else:
        d_before, d_gain, d_bias = d_after, torch.zeros_like(head.gain), torch.zeros_like(head.bias)
    gradients |= {"gain": d_gain, "bias": d_bias, "w1": d_before.T @ trace.x, "b1": d_before.sum(0)}
    return d_before @ head.w1, gradients, new_nu


def alignment_of(predictions: Tensor, targets: Tensor) -> Tensor:
    """Eq 8, mean over the batch: 2 - 2 cos(prediction_i, target_i), the targets constants.

    Eq 8 writes g(q) and p in turn for either side; decision 0008: online prediction against the target's projection.
    """
    loss = torch.zeros((), dtype=torch.float64)
    for i in range(len(predictions)):
        loss = loss + 2 - 2 * cosine(predictions[i], targets[i].detach())
    return loss / len(predictions)


def step(
    encode: Encode,
    target_encode: Encode,
    x: Tensor,
    x_aug: Tensor,
    *,
    projection: Head,
    predictor: Head,
    target_projection: Head,
    projection_state: State,
    predictor_state: State,
    target_state: State,
    mlm: Tensor | None = None,
    norm: str = "power",
    a: float = 0.9,
) -> Step:
    """L_align + its mirror image + L_mlm (1:1), and all gradients of the first two.

    `mlm` = `masked_lm` of a pass of its own. Both views are normalised with the statistics of step t-1 and the
    first alone moves them, psi and nu: as with batch norm, only z updates them.
    """
    inputs = {"x": x, "x_aug": x_aug}
    encoded = {view: encode(points, view) for view, points in inputs.items()}
    projected = {view: forward(projection, e, projection_state, norm) for view, e in encoded.items()}
    predicted = {view: forward(predictor, p.out, predictor_state, norm) for view, p in projected.items()}
    targets = {
        view: forward(target_projection, target_encode(points, view), target_state, norm).out
        for view, points in inputs.items()
    }
    leaves = {view: trace.out.detach().clone().requires_grad_() for view, trace in predicted.items()}
    align = alignment_of(leaves["x"], targets["x_aug"])
    swapped = alignment_of(leaves["x_aug"], targets["x"])
    d_predicted = dict(zip(leaves, torch.autograd.grad(align + swapped, list(leaves.values())), strict=True))

    of_projection: Gradients = {}
    of_predictor: Gradients = {}
    of_encoded, nu = {}, {}
    for view in inputs:
        d, found, nu_predictor = backward(
            predictor, predicted[view], d_predicted[view], predictor_state, norm, a
        )
        of_predictor = added(of_predictor, found)
        of_encoded[view], found, nu_projection = backward(
            projection, projected[view], d, projection_state, norm, a
        )
        of_projection = added(of_projection, found)
        nu[view] = (nu_projection, nu_predictor)
    if norm == "power":
        psi = next_psi(projected["x"].before, projection_state.psi, a)
        projection_state = replace(projection_state, psi=psi, nu=nu["x"][0])
        psi = next_psi(predicted["x"].before, predictor_state.psi, a)
        predictor_state = replace(predictor_state, psi=psi, nu=nu["x"][1])
    mlm = torch.zeros((), dtype=torch.float64) if mlm is None else mlm
    return Step(
        loss=align.detach() + swapped.detach() + mlm,
        align=align.detach(),
        align_swapped=swapped.detach(),
        mlm=mlm,
        predictions={view: trace.out for view, trace in predicted.items()},
        projections={view: trace.out for view, trace in projected.items()},
        targets=targets,
        projection_gradients=of_projection,
        predictor_gradients=of_predictor,
        encoded=encoded,
        encoded_gradients=of_encoded,
        projection_state=projection_state,
        predictor_state=predictor_state,
    )


def added(first: Gradients, second: Gradients) -> Gradients:
    """Entry by entry; an entry missing in `first` counts as 0."""
    return {name: first[name] + value if name in first else value for name, value in second.items()}


def moved_target(
    target: Mapping[str, Tensor], online: Mapping[str, Tensor], *, decay: float = 0.996
) -> Gradients:
    """Eq 7, after the optimiser's step: xi <- tau xi + (1 - tau) theta, for encoder and projection.

    Floating-point parameters only: buffers (psi, nu, running moments) are *copied*, which needs no code.
    """
    return {name: decay * target[name] + (1 - decay) * online[name] for name in target}


def alignment(x: Tensor, y: Tensor, *, alpha: float = 2.0) -> Tensor:
    """Eq 5 over positive pairs of unit rows: mean ||x_i - y_i||_2^alpha. Its minus is stray (decision 0008)."""
    total = torch.zeros((), dtype=torch.float64)
    for u, v in zip(x, y, strict=True):
        total = total + ((u - v) ** 2).sum() ** (alpha / 2)
    return total / len(x)


def uniformity(x: Tensor, *, t: float = 2.0) -> Tensor:
    """Eq 6 of unit rows: log mean_{i < j} e^{-t ||x_i - x_j||^2}; two draws of the data are two sentences."""
    total, count = torch.zeros((), dtype=torch.float64), 0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            total, count = total + torch.exp(-t * ((x[i] - x[j]) ** 2).sum()), count + 1
    return torch.log(total / count)


def corrupted(ids: Tensor, chosen: Tensor, kinds: Tensor, random_ids: Tensor, mask_id: int) -> Tensor:
    """Masked-LM input: where `chosen`, kind 0 writes [MASK], kind 1 the drawn id, kind 2 leaves the token."""
    new = ids.clone()
    for s in range(len(ids)):
        for i in range(len(ids[s])):
            if bool(chosen[s][i]) and int(kinds[s][i]) < 2:
                new[s][i] = mask_id if int(kinds[s][i]) == 0 else int(random_ids[s][i])
    return new


def masked_lm(logits: Tensor, ids: Tensor, chosen: Tensor) -> Tensor:
    """Mean of -log softmax(logits)[original id] over the batch's chosen positions; kept ones count too."""
    total, count = torch.zeros((), dtype=torch.float64), 0
    for s in range(len(ids)):
        for i in range(len(ids[s])):
            if bool(chosen[s][i]):
                row = logits[s][i]
                log_total = torch.log(torch.exp(row - row.max()).sum()) + row.max()
                total, count = total + log_total - row[int(ids[s][i])], count + 1
    return total / count
