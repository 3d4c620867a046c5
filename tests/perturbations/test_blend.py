"""PGD and FGSM mixed by rho: which branch runs, for how long, and what it weighs."""

import pytest
import torch
from pydantic import ValidationError

from rse_study.perturbations.ascent import ascend
from rse_study.perturbations.blend import Blend
from tests.perturbations.linear import STEPS, STREAMS, anchor, linear


@pytest.mark.parametrize(("rho", "runs", "stays"), [(0.0, "fgsm", "pgd"), (1.0, "pgd", "fgsm")])
def test_rho_at_its_ends_runs_one_branch(rho, runs, stays):
    where, blend = anchor(), Blend(**STEPS, rho=rho)
    state = ascend(linear(torch.ones_like(where.embeddings)), [blend], [blend.init(where, STREAMS)]).states[0]
    branch, other = getattr(state, runs), getattr(state, stays)
    assert torch.equal(other.delta, other.start)
    assert not torch.equal(branch.delta, branch.start)
    assert blend.mix(state) is branch.delta


def test_both_branches_begin_with_one_draw():
    where = anchor()
    branches = Blend(**STEPS).init(where, STREAMS)
    assert branches.pgd is branches.fgsm
    alone = Blend(**STEPS).fgsm.init(where, STREAMS)
    assert torch.equal(branches.fgsm.delta, alone.delta)
    assert torch.equal(branches.fgsm.start, alone.start)


def test_released_rho_weighs_the_other():
    where = anchor()
    states = [
        ascend(linear(torch.ones_like(where.embeddings)), [b], [b.init(where, STREAMS)]).states[0]
        for b in (Blend(**STEPS), Blend(**STEPS, weighs="fgsm"))
    ]
    paper = Blend(**STEPS, rho=0.3).mix(states[0])
    released = Blend(**STEPS, rho=0.7, weighs="fgsm").mix(states[1])
    assert torch.allclose(paper, released, rtol=0, atol=1e-15)


def test_each_branch_freezes_after_its_own_steps():
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
def test_num_steps_counts_branches_that_run(rho, K, T, expected):
    assert Blend(rho=rho, pgd={"num_steps": K}, fgsm={"num_steps": T}).num_steps == expected


def test_bounds():
    for wrong in ({"rho": 1.2}, {"rho": -0.1}, {"pgd": {"num_steps": -1}}, {"pgd": {"step_size": 0.0}}):
        with pytest.raises(ValidationError):
            Blend(**wrong)
    with pytest.raises(ValidationError, match="sigma"):
        Blend(pgd={"sigma": 0.2})
