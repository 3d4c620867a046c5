"""Players in the ascent: the same contract for all of them, and inputs at the edge."""

import math

import pytest
import torch

from rse_study.perturbations import PERTURBATIONS
from rse_study.perturbations.ascent import Change, SiteMask, ascend
from rse_study.perturbations.blend import Blend
from rse_study.perturbations.sentence_level import FGSM, PGD, VirtualAdversarial
from rse_study.perturbations.site_masks import ViewMasks, WeakeningMasks
from rse_study.perturbations.token_level import TokenLevel
from tests.perturbations.linear import BALL, STEPS, STREAMS, WIDTH, Driver, anchor, linear

PLAYERS = {
    "PGD": PGD(**STEPS["pgd"]),
    "PGD l2": PGD(ball={"norm": "l2", "radius": 0.05}, step_size=0.01),
    "PGD l1 per token": PGD(ball={"norm": "l1", "radius": 0.05, "scope": "token"}, step_size=0.01),
    "FGSM": FGSM(**STEPS["fgsm"]),
    "blend": Blend(**STEPS),
    "blend, rho 0": Blend(**STEPS, rho=0.0),
    "blend, rho 1": Blend(**STEPS, rho=1.0),
    "blend, joint": Blend(**STEPS, trajectories="joint_state"),
    "eta": TokenLevel(),
    "eta l1, n_i after": TokenLevel(
        scaling="after", ball={"norm": "l1", "radius": 0.2, "given_for": "l2", "scope": "token"}
    ),
    "masks": WeakeningMasks(phi=0.3),
    "masks of views": ViewMasks(phi=0.3, num_steps=2),
    "masks of views, continual": ViewMasks(values="continual", features="none"),
    "r": VirtualAdversarial(num_steps=2),
    "r, raw in a cube": VirtualAdversarial(
        gradient="raw", ball={"norm": "linf", "radius": 0.05, "given_for": "linf"}
    ),
}


def start(player, where):
    if isinstance(player, TokenLevel):
        return player.init_from(player.table(20, WIDTH, STREAMS).double(), where)
    return player.init(where, STREAMS)


def ended(player, where, direction=None):
    """Its state after an ascent in one direction, by default upwards everywhere."""
    up = torch.ones_like(where.embeddings) if direction is None else direction
    return ascend(linear(up), [player, Driver()], [start(player, where), None]).states[0]


def parts(player, state):
    """The tensors by which a player changes the forward pass."""
    change = player.apply(state)
    return [x for x in (change.addition, *change.weights()) if x is not None]


def same_seed_same_bits(player):
    where = anchor()
    direction = torch.randn_like(where.embeddings)
    runs = [parts(player, ended(player, where, direction)) for _ in range(2)]
    for first, second in zip(*runs, strict=True):
        assert torch.equal(first, second)


def zero_outside_perturbable_tokens_and_finite(player):
    where = anchor(padding=2)
    found = ended(player, where)
    for part in parts(player, found):
        assert part.isfinite().all()
    addition = player.apply(found).addition
    if addition is not None:
        assert not addition[~where.perturbable].any()
        assert addition[where.perturbable].abs().max() > 0


def padding_changes_no_row(player):
    found = []
    for padding in (0, 3):
        where = anchor(padding=padding)
        found.append(ended(player, where, torch.ones_like(where.embeddings).cumsum(2) - 3.3))
    for short, long in zip(parts(player, found[0]), parts(player, found[1]), strict=True):
        keep = anchor().mask[:, :, None]
        torch.testing.assert_close(long[:, : short.shape[1]] * keep, short * keep, rtol=0, atol=1e-9)


def zero_gradient_moves_nothing(player):
    where = anchor()
    state = start(player, where)
    gradient = Change(torch.zeros_like(where.embeddings), _zero_masks(player, state))
    moved = parts(player, player.update(state, gradient, 1))
    for before, after in zip(parts(player, state), moved, strict=True):
        if isinstance(player, TokenLevel):
            assert bool((after.abs() <= before.abs() + 1e-12).all())  # eq 2 shortens it nevertheless
        else:
            assert torch.allclose(before, after, rtol=0, atol=1e-15)


def no_entry_gets_farther_than_it_says(player):
    reach = player.reach()
    if reach is None:
        return
    where = anchor()
    before, after = (player.apply(one).addition for one in (start(player, where), ended(player, where)))
    assert float((after - before).abs().max()) <= reach.path + 1e-12
    if reach.is_certain and reach.path >= 2 * reach.radius:
        assert torch.allclose(after[where.perturbable], torch.tensor(reach.radius).double())


def sentences_without_content(player):
    where = anchor((0, 0))
    addition = player.apply(ended(player, where)).addition
    assert addition is None or not addition.any()


CONTRACT = (
    same_seed_same_bits,
    zero_outside_perturbable_tokens_and_finite,
    padding_changes_no_row,
    zero_gradient_moves_nothing,
    no_entry_gets_farther_than_it_says,
    sentences_without_content,
)


@pytest.mark.parametrize("player", PLAYERS.values(), ids=PLAYERS)
def test_a_player_keeps_to_the_contract(player):
    for rule in CONTRACT:
        rule(player)


def _zero_masks(player, state):
    return tuple(SiteMask(0 * site.tokens, 0 * site.features) for site in player.apply(state).masks)


def test_every_perturbation_is_here():
    tested = {type(player) for player in PLAYERS.values()}
    untested = [name for name in PERTURBATIONS if PERTURBATIONS.get(name) not in tested]
    assert not untested, f"{untested}: give each an entry in PLAYERS above"
    assert tested <= {PERTURBATIONS.get(name) for name in PERTURBATIONS}, "in PLAYERS, not in the registry"


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("scope", ["sentence", "token"])
def test_linear_loss_is_raised_to_epsilon_times_the_dual_norm(norm, scope):
    """On a linear loss many large steps end at the optimum of the ball."""
    where, radius = anchor(), 0.05
    generator = torch.Generator().manual_seed(3)
    direction = torch.randn(where.embeddings.shape, generator=generator, dtype=torch.float64)
    direction = direction * where.perturbable[:, :, None]
    ball = {"norm": norm, "radius": radius, "strength": "literal", "scope": scope}
    player = PGD(ball=ball, step_size=5.0, num_steps=60)
    found = ascend(linear(direction), [player], [player.init(where, STREAMS)]).states[0].delta
    groups = direction if scope == "token" else direction.flatten(1)[:, None]
    dual = {"l1": math.inf, "l2": 2, "linf": 1}[norm]
    optimum = radius * torch.linalg.vector_norm(groups, dual, dim=-1).sum(1)
    torch.testing.assert_close((found * direction).sum((1, 2)), optimum, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("kind", [PGD, FGSM])
def test_a_finished_player_stays_while_others_go_on(kind):
    where, player = anchor(), kind(ball=BALL, num_steps=1, step_size=1e-3)
    begun = player.init(where, STREAMS)
    alone = ascend(linear(torch.ones_like(where.embeddings)), [player], [begun]).states[0]
    beside = ascend(linear(torch.ones_like(where.embeddings)), [player, Driver()], [begun, None])
    assert len(beside.losses) == 3
    assert torch.equal(beside.states[0].delta, alone.delta)
    assert not torch.equal(alone.delta, begun.delta)
