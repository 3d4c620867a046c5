"""ConSERT equals a loop over sentences and views, loss and gradients, in float64."""

import pytest
import torch

from rse_study.methods import ConSERT
from tests.methods.contract import Example, require_reference
from tests.reference.contrastive_reference import contrastive
from tests.reference.geometry_reference import length, project, unit

TEMPERATURE = 0.5
EXAMPLES = {
    "ConSERT": Example(ConSERT(temperature=TEMPERATURE), 1),
    "ConSERT, adversarial": Example(
        ConSERT(temperature=TEMPERATURE, first="token_cutoff", second="adversarial"), 3
    ),
}


def reference(method, networks, batch, run, step):
    """L_con between two views, each a list of sentences without padding."""

    def encode(sentences):
        rows = []
        for i, words in enumerate(sentences):
            real = len(words)
            pooled = networks.encoder(words[None], batch.mask[i : i + 1, :real], batch.ids[i : i + 1, :real])
            rows.append(networks.head(pooled)[0][0])
        return torch.stack(rows)

    embeddings = networks.encoder.word_embeddings(batch.ids)
    words = [row[real] for row, real in zip(embeddings, batch.mask, strict=True)]
    delta = adversary(method, encode, [one.detach() for one in words], batch, run, step)
    views = []
    for view, kind in enumerate((method.first, method.second)):
        altered = []
        for i, row in enumerate(batch.rows.tolist()):
            draws = run.streams.generator("views", step, row, view)
            altered.append(
                alter(kind, words[i], batch.perturbable[i].nonzero()[:, 0], delta[i], method, draws)
            )
        views.append(encode(altered))
    return contrastive(views[0], [views[1]], [views[1]], temperature=TEMPERATURE)


def alter(kind, words, places, delta, method, draws):
    """One view of one sentence."""
    if kind == "adversarial":
        return words + delta
    rows = list(words)
    if kind == "shuffle":
        for place, other in zip(places, torch.randperm(len(places), generator=draws).tolist(), strict=True):
            rows[place] = words[places[other]]
    if kind == "token_cutoff":
        number = max(1, round(method.token_rate * len(places)))
        for place in places[torch.randperm(len(places), generator=draws)[:number]].tolist():
            rows[place] = 0 * words[place]
    if kind == "feature_cutoff":
        width = words.shape[1]
        number = max(1, round(method.feature_rate * width))
        kept = torch.ones(width, dtype=torch.float64)
        for feature in torch.randperm(width, generator=draws)[:number].tolist():
            kept[feature] = 0
        rows = [word * kept for word in rows]
    return torch.stack(rows)


def adversary(method, encode, words, batch, run, step):
    """PGD of each sentence against its own clean vector, the batch's others as negatives."""
    clean, where = (
        encode(words).detach(),
        [row[: len(x)] for x, row in zip(words, batch.perturbable, strict=True)],
    )
    deltas = []
    for x, row, moves in zip(words, batch.rows.tolist(), where, strict=True):
        drawn = torch.rand(x.shape, generator=run.streams.generator("delta0", step, row)).double()
        start = (2 * drawn - 1) * method.noise.sigma / x.shape[1] ** 0.5 * moves[:, None]
        deltas.append(stepped(start, torch.zeros_like(start), moves, method.noise))  # into the ball
    for _ in range(method.noise.num_steps):
        moving = [delta.requires_grad_() for delta in deltas]
        z = encode([x + delta for x, delta in zip(words, moving, strict=True)])
        loss = contrastive(z, [clean], [clean], temperature=TEMPERATURE) * len(z)
        slopes = torch.autograd.grad(loss, moving)
        deltas = [
            stepped(delta.detach(), slope, moves, method.noise)
            for delta, slope, moves in zip(moving, slopes, where, strict=True)
        ]
    return deltas


def stepped(delta, gradient, perturbable, noise):
    """delta <- Proj(delta + alpha * g / ||g||_P) over a sentence's perturbable coordinates."""
    flat, along = (x[perturbable].flatten().tolist() for x in (delta, gradient))
    if not flat:
        return delta
    ball = noise.ball
    said = {"given_norm": ball.given_for, "used_norm": ball.norm, "count": len(flat)}
    alpha, along = length(noise.step_size, **said), unit(along, ball.norm)
    moved = [x + alpha * g for x, g in zip(flat, along, strict=True)]
    result = delta.clone()
    result[perturbable] = torch.tensor(
        project(moved, length(ball.radius, **said), ball.norm), dtype=torch.float64
    ).view(-1, delta.shape[1])
    return result


PAIRS = [
    ("none", "token_cutoff"),
    ("shuffle", "shuffle"),
    ("feature_cutoff", "feature_cutoff"),
    ("adversarial", "none"),
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_every_view_is_what_it_is_called(first, second):
    require_reference(reference, ConSERT(temperature=TEMPERATURE, first=first, second=second))


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_an_adversarial_view_takes_steps_in_its_ball(norm):
    noise = {"num_steps": 3, "step_size": 0.02, "ball": {"norm": norm, "radius": 0.03}}
    require_reference(
        reference, ConSERT(temperature=TEMPERATURE, first="none", second="adversarial", noise=noise)
    )
