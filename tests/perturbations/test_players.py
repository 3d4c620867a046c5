"""Players in the ascent: the same contract for all of them, and inputs at the edge."""

import math

import pytest
import torch
from pydantic import ValidationError

from rse_study.collectives import Alone
from rse_study.perturbations.ascent import Anchor, Change, SiteMask, ascend
from rse_study.perturbations.blend import Blend
from rse_study.perturbations.fgsm import FGSM
from rse_study.perturbations.pgd import PGD
from rse_study.perturbations.token_level import TokenLevel, starved
from rse_study.perturbations.weakening_masks import WeakeningMasks
from rse_study.streams import Streams

WIDTH, STREAMS = 6, Streams(4)
BALL = {"radius": 0.05}
STEPS = {"pgd": {"ball": BALL, "step_size": 0.01}, "fgsm": {"ball": BALL, "step_size": 0.02}}
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
}


class Driver:
    """Asks for steps and moves nothing: eta and the masks ask for none themselves."""

    num_steps = 3

    def apply(self, state):
        return Change()

    def update(self, state, gradient, t):
        return state


def anchor(lengths=(0, 1, 3), padding=0):
    """One special token before and one after each sentence's content."""
    real = torch.tensor(lengths) + 2
    column = torch.arange(max(lengths) + 2 + padding)[None]
    mask = column < real[:, None]
    perturbable = (column > 0) & (column < real[:, None] - 1)
    ids = (7 + (column + 3 * torch.arange(len(lengths))[:, None]) % 5) * mask
    generator = torch.Generator().manual_seed(0)
    embeddings = torch.randn(len(lengths), max(lengths) + 2, WIDTH, generator=generator, dtype=torch.float64)
    embeddings = torch.cat([embeddings, embeddings.new_zeros(len(lengths), padding, WIDTH)], dim=1)
    return Anchor(embeddings, ids, mask, perturbable, torch.arange(len(lengths)), step=2)


def start(player, where):
    if isinstance(player, TokenLevel):
        return player.init_from(player.table(20, WIDTH, STREAMS).double(), where)
    return player.init(where, STREAMS)


def linear(direction):
    """A loss that is linear in the addition (and in the masks): its gradient is `direction` everywhere."""

    def objective(change):
        loss = sum(
            (site.tokens.sum() + site.features.sum() for site in change.masks), torch.zeros(()).double()
        )
        return loss if change.addition is None else loss + (change.addition * direction).sum()

    return objective


def parts(player, state):
    """The tensors by which a player changes the forward pass."""
    change = player.apply(state)
    return [x for x in (change.addition, *change.weights()) if x is not None]


@pytest.mark.parametrize("player", PLAYERS.values(), ids=PLAYERS)
class TestContract:
    def test_same_seed_same_bits(self, player):
        where = anchor()
        direction = torch.randn_like(where.embeddings)
        runs = [ascend(linear(direction), [player, Driver()], [start(player, where), None]) for _ in range(2)]
        for first, second in zip(*(parts(player, run.states[0]) for run in runs), strict=True):
            assert torch.equal(first, second)

    def test_zero_outside_perturbable_tokens_and_finite(self, player):
        where = anchor(padding=2)
        found = ascend(
            linear(torch.ones_like(where.embeddings)), [player, Driver()], [start(player, where), None]
        )
        for part in parts(player, found.states[0]):
            assert part.isfinite().all()
        addition = player.apply(found.states[0]).addition
        if addition is not None:
            assert not addition[~where.perturbable].any()
            assert addition[where.perturbable].abs().max() > 0

    def test_padding_changes_no_row(self, player):
        found = []
        for padding in (0, 3):
            where = anchor(padding=padding)
            direction = torch.ones_like(where.embeddings).cumsum(2) - 3.3
            found.append(
                ascend(linear(direction), [player, Driver()], [start(player, where), None]).states[0]
            )
        for short, long in zip(parts(player, found[0]), parts(player, found[1]), strict=True):
            keep = anchor().mask[:, :, None]
            torch.testing.assert_close(long[:, : short.shape[1]] * keep, short * keep, rtol=0, atol=1e-9)

    def test_zero_gradient_moves_nothing(self, player):
        where = anchor()
        state = start(player, where)
        gradient = Change(torch.zeros_like(where.embeddings), _zero_masks(player, state))
        for before, after in zip(
            parts(player, state), parts(player, player.update(state, gradient, 1)), strict=True
        ):
            if isinstance(player, TokenLevel):
                assert bool((after.abs() <= before.abs() + 1e-12).all())  # eq 2 shortens it nevertheless
            else:
                assert torch.allclose(before, after, rtol=0, atol=1e-15)

    def test_sentences_without_content(self, player):
        where = anchor((0, 0))
        found = ascend(
            linear(torch.ones_like(where.embeddings)), [player, Driver()], [start(player, where), None]
        )
        addition = player.apply(found.states[0]).addition
        assert addition is None or not addition.any()


def _zero_masks(player, state):
    if not isinstance(player, WeakeningMasks):
        return ()
    sites = zip(state.tokens, state.features, strict=True)
    return tuple(SiteMask(torch.zeros_like(t), torch.zeros_like(f)) for t, f in sites)


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


class TestBlend:
    @pytest.mark.parametrize(("rho", "runs", "stays"), [(0.0, "fgsm", "pgd"), (1.0, "pgd", "fgsm")])
    def test_rho_at_its_ends_runs_one_branch(self, rho, runs, stays):
        where, blend = anchor(), Blend(**STEPS, rho=rho)
        state = ascend(
            linear(torch.ones_like(where.embeddings)), [blend], [blend.init(where, STREAMS)]
        ).states[0]
        branch, other = getattr(state, runs), getattr(state, stays)
        assert torch.equal(other.delta, other.start)
        assert not torch.equal(branch.delta, branch.start)
        assert blend.mix(state) is branch.delta

    def test_released_rho_weighs_the_other(self):
        where = anchor()
        states = [
            ascend(linear(torch.ones_like(where.embeddings)), [b], [b.init(where, STREAMS)]).states[0]
            for b in (Blend(**STEPS), Blend(**STEPS, weighs="fgsm"))
        ]
        paper = Blend(**STEPS, rho=0.3).mix(states[0])
        released = Blend(**STEPS, rho=0.7, weighs="fgsm").mix(states[1])
        assert torch.allclose(paper, released, rtol=0, atol=1e-15)

    def test_each_branch_freezes_after_its_own_steps(self):
        where = anchor()
        ones = torch.ones_like(where.embeddings)

        def run(K, T):
            pgd, fgsm = STEPS["pgd"] | {"num_steps": K}, STEPS["fgsm"] | {"num_steps": T}
            blend = Blend(pgd=pgd, fgsm=fgsm)
            return blend, ascend(linear(ones), [blend], [blend.init(where, STREAMS)])

        (blend, long), (_, short) = run(1, 3), run(1, 1)
        assert blend.num_steps == 3
        assert len(long.losses) == 3
        assert torch.equal(long.states[0].pgd.delta, short.states[0].pgd.delta)
        assert not torch.equal(long.states[0].fgsm.delta, short.states[0].fgsm.delta)

    @pytest.mark.parametrize(
        ("rho", "K", "T", "expected"), [(1, 2, 7, 2), (0, 7, 2, 2), (0.5, 2, 7, 7), (1, 0, 5, 0)]
    )
    def test_num_steps_counts_branches_that_run(self, rho, K, T, expected):
        assert Blend(rho=rho, pgd={"num_steps": K}, fgsm={"num_steps": T}).num_steps == expected

    def test_bounds(self):
        for wrong in ({"rho": 1.2}, {"rho": -0.1}, {"pgd": {"num_steps": -1}}, {"pgd": {"step_size": 0.0}}):
            with pytest.raises(ValidationError):
                Blend(**wrong)
        with pytest.raises(ValidationError, match="sigma"):
            Blend(pgd={"sigma": 0.2})


class TestTokenLevel:
    def test_all_zero_eta_is_not_starved_to_death(self):
        where, player = anchor(), TokenLevel()
        state = player.init_from(torch.zeros(20, WIDTH, dtype=torch.float64), where)
        moved = player.update(state, Change(torch.ones_like(where.embeddings)), 1)
        sizes = moved.eta[where.perturbable].norm(dim=1)
        assert torch.allclose(sizes, torch.full_like(sizes, 0.02))  # n_i = 1 where all are 0

    def test_a_zero_token_beside_others_stays_zero(self):
        where, player = anchor((3,)), TokenLevel()
        table = torch.ones(20, WIDTH, dtype=torch.float64) * 0.01
        table[where.ids[0, 1]] = 0
        moved = player.update(player.init_from(table, where), Change(torch.ones_like(where.embeddings)), 1)
        assert not moved.eta[0, 1].any()  # the letter of eq 2: n_i = 0
        assert moved.eta[0, 2].any()
        assert float(starved(moved, "linf").mean()) == pytest.approx(1 / 3)

    def test_write_back_touches_perturbable_tokens_only(self):
        where, player = anchor(), TokenLevel()
        table = player.table(20, WIDTH, STREAMS).double()
        before, state = table.clone(), player.init_from(table, where)
        player.remember(
            table, where, player.update(state, Change(torch.ones_like(where.embeddings)), 1), Alone()
        )
        seen = where.ids[where.perturbable].unique()
        changed = (table != before).any(1).nonzero()[:, 0]
        assert set(changed.tolist()) == set(seen.tolist())

    def test_batch_without_content_leaves_the_table_alone(self):
        for rule in ("mean", "last", "accumulate"):
            where, player = anchor((0, 0)), TokenLevel(write_back=rule)
            table = player.table(20, WIDTH, STREAMS).double()
            before = table.clone()
            player.remember(table, where, player.init_from(table, where), Alone())
            assert torch.equal(table, before)

    def test_table_is_drawn_once_a_run_or_once_an_epoch(self):
        once, anew = TokenLevel(), TokenLevel(redraw="epoch")
        assert torch.equal(once.table(9, 4, STREAMS, 0), once.table(9, 4, STREAMS, 1))
        assert not torch.equal(anew.table(9, 4, STREAMS, 0), anew.table(9, 4, STREAMS, 1))
        assert float(once.table(500, 4, STREAMS).abs().max()) == pytest.approx(0.1 / 2, rel=1e-2)


class TestWeakeningMasks:
    def test_probabilities_are_uniform_and_phi_is_the_share_of_zeros(self):
        where = anchor((60, 60, 60))
        player = WeakeningMasks(phi=0.3)
        masks = player.apply(player.init(where, STREAMS)).masks
        assert len(masks) == 3
        assert float(torch.stack([m.tokens for m in masks]).mean()) == pytest.approx(0.7, abs=0.07)

    def test_a_value_weakened_twice_is_zero(self):
        site = SiteMask(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0]]))
        assert site.weights().tolist() == [[[1.0, 0.5], [0.5, 0.0]]]

    def test_probability_rises_where_keeping_raises_the_loss_and_stays_in_bounds(self):
        where, player = anchor(), WeakeningMasks(phi=0.5)
        state = player.init(where, STREAMS)
        found = ascend(linear(0), [player, Driver()], [state, None]).states[0]
        assert bool((found.features >= state.features).all())
        assert float(found.features.max()) <= 1
        assert bool((found.tokens >= state.tokens)[:, where.mask].all())
