"""eta and its table V at the edges of equations 2 to 4."""

import pytest
import torch

from rse_study.perturbations.ascent import Change
from rse_study.perturbations.token_level import TokenLevel, starved
from rse_study.tensors import Alone
from tests.perturbations.linear import STREAMS, WIDTH, anchor


def test_all_zero_eta_is_not_starved_to_death_but_a_zero_token_beside_others_is():
    where, player = anchor(), TokenLevel()
    state = player.init_from(torch.zeros(20, WIDTH, dtype=torch.float64), where)
    moved = player.update(state, Change(torch.ones_like(where.embeddings)), 1)
    sizes = moved.delta[where.perturbable].norm(dim=1)
    assert torch.allclose(sizes, torch.full_like(sizes, 0.02))  # n_i = 1 where all are 0
    where, player = anchor((3,)), TokenLevel()
    table = torch.ones(20, WIDTH, dtype=torch.float64) * 0.01
    table[where.ids[0, 1]] = 0
    moved = player.update(player.init_from(table, where), Change(torch.ones_like(where.embeddings)), 1)
    assert not moved.delta[0, 1].any()  # the letter of eq 2: n_i = 0
    assert moved.delta[0, 2].any()
    assert float(starved(moved, "linf")[where.perturbable].double().mean()) == pytest.approx(1 / 3)


def test_write_back_touches_perturbable_tokens_only_and_nothing_without_content():
    where, player = anchor(), TokenLevel()
    table = player.table(20, WIDTH, STREAMS).double()
    before, state = table.clone(), player.init_from(table, where)
    player.remember(table, where, player.update(state, Change(torch.ones_like(where.embeddings)), 1), Alone())
    seen = where.ids[where.perturbable].unique()
    changed = (table != before).any(1).nonzero()[:, 0]
    assert set(changed.tolist()) == set(seen.tolist())
    for rule in ("mean", "last", "accumulate"):
        where, player = anchor((0, 0)), TokenLevel(write_back=rule)
        table = player.table(20, WIDTH, STREAMS).double()
        before = table.clone()
        player.remember(table, where, player.init_from(table, where), Alone())
        assert torch.equal(table, before)


def test_table_is_uniform_and_each_epochs_is_its_own():
    player = TokenLevel()
    assert torch.equal(player.table(9, 4, STREAMS, 1), player.table(9, 4, STREAMS, 1))
    assert not torch.equal(player.table(9, 4, STREAMS, 0), player.table(9, 4, STREAMS, 1))
    assert float(player.table(500, 4, STREAMS).abs().max()) == pytest.approx(0.1 / 2, rel=1e-2)
