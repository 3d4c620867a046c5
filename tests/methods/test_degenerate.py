"""Settings that switch parts off equal the simpler method bit for bit, dropout included."""

import pytest
import torch
from pydantic import ValidationError

from rse_study.methods import RobustSentEmbed
from rse_study.streams import Streams
from tests.cases import cases
from tests.methods.problem import make_batch, make_networks, make_run, settings, take_step
from tests.methods.watching import watch_ascents

PLAIN = {"lambda2": 0.0, "token_level": {"presence": "none"}}
SIMCSE = {"K": 0, "T": 0, "lambda1": 0.0, "lambda2": 0.0}


class Recording(Streams):
    """Notes which streams are drawn from."""

    def __init__(self, seed):
        super().__init__(seed)
        self.drawn = set()

    def _seed(self, stream, key):
        self.drawn.add(stream)
        return super()._seed(stream, key)


@pytest.mark.parametrize(
    ("switches", "drawn"),
    [
        ({}, {"delta0", "V", "rtd"}),
        ({"masks": {"phi": 0.2}}, {"delta0", "V", "rtd", "masks"}),
        ({"masks": {"phi": 0.0}, "lambda2": 0.0}, {"delta0", "V"}),
        ({"token_level": {"presence": "none"}}, {"delta0", "rtd"}),
        (PLAIN, {"delta0"}),
        ({"K": 0, "T": 0, "lambda1": 0.0}, {"rtd"}),
        (SIMCSE, set()),
    ],
)
def test_what_is_off_draws_nothing(switches, drawn):
    method, run = settings(**switches), make_run()
    object.__setattr__(run, "streams", Recording(1))
    networks = make_networks(method, run)
    take_step(method, networks, make_batch(), run)
    assert run.streams.drawn == drawn | {"init", "dropout"}


def states_of(method, monkeypatch, dropout=0.2):
    """(delta0, V after the step, contrastive loss) of a step."""
    seen, run = watch_ascents(monkeypatch), make_run()
    outcome, state, _ = take_step(method, make_networks(method, run, dropout=dropout), make_batch(), run)
    monkeypatch.undo()
    return seen[0].states[0], state.get("V"), outcome.metrics["loss/contrastive"].total


def test_rtd_leaves_the_others_bits_alone(monkeypatch):
    blended, table, loss = states_of(settings(), monkeypatch)
    without, same_table, same_loss = states_of(settings(lambda2=0.0), monkeypatch)
    for branch in ("pgd", "fgsm"):
        assert torch.equal(getattr(blended, branch).start, getattr(without, branch).start)
        assert torch.equal(getattr(blended, branch).delta, getattr(without, branch).delta)
    assert torch.equal(table, same_table)
    assert torch.equal(loss, same_loss)  # three views under the same dropout masks


def test_what_is_switched_inside_leaves_delta0_and_the_first_view_alone(monkeypatch):
    starts = [
        states_of(settings(**switches), monkeypatch)[0].pgd.start
        for switches in ({}, {"token_level": {"presence": "none"}}, {"masks": {"phi": 0.3}}, {"K": 5})
    ]
    assert all(torch.equal(starts[0], start) for start in starts[1:])
    # z and z_pos see the first two thirds of one pass: only the number of views changes their masks.
    losses = [
        states_of(settings(second_positive="none", lambda1=0.0, **switches), monkeypatch)[2]
        for switches in ({}, {"rho": 1.0}, {"K": 1, "T": 3}, PLAIN)
    ]
    assert all(torch.allclose(losses[0], loss, rtol=1e-12, atol=0) for loss in losses[1:])


NONE = {"pgd": {"num_steps": 0}, "fgsm": {"num_steps": 0}}


@cases(
    ("said", "given"),
    [
        ("lambda1", {"blend": NONE}),
        ("phi", {"blend": NONE, "lambda1": 0, "masks": {"phi": 0.1}}),
        ("norm", {"blend": {"pgd": {"ball": {"norm": "l2"}}}}),
        ("z_adv_eta", {"z_adv_eta": "with", "token_level": {"presence": "none"}}),
        ("lamda1", {"lamda1": 0.1}),
    ],
)
def test_what_contradicts_itself_is_refused(said, given):
    with pytest.raises(ValidationError, match=said):
        RobustSentEmbed(**given)
    for blend in (NONE, {**NONE, "rho": 1.0, "fgsm": {"num_steps": 4}}):
        assert not RobustSentEmbed(blend=blend, lambda1=0).has_adversary
