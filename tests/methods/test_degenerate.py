"""Settings that switch parts off equal the simpler method bit for bit, dropout included."""

import dataclasses

import pytest
import torch
from pydantic import ValidationError

from rse_study.methods import RobustSentEmbed, adversary, robust_sent_embed
from rse_study.streams import Streams
from tests.cases import cases
from tests.methods.problem import CLS, SEP, make_batch, make_networks, make_run, settings, take_step
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


# Dropout masks, inside and outside: which passes share them, which have their own (at rate 0.2).


RATE = 0.2
EQUAL = make_batch([[CLS, 9, 7, 11, SEP]] * 4, (2, 0, 3, 1))


class Watched:
    """One step whose inner encoder inputs and outputs, views and ascent are kept."""

    def __init__(self, monkeypatch, *, batch=None, neutral=False, dropout=RATE, step=3, **switches):
        self.passes, self.views, self.found = [], [], []
        method, run = settings(**switches), make_run()
        networks = make_networks(method, run, dropout=dropout)
        encode, find = robust_sent_embed.encode_views, adversary.Adversary.find

        def inner(adversary_, *arguments):
            hook = networks.encoder.register_forward_hook(
                lambda module, inputs, output: self.passes.append((inputs[0].detach(), output.detach()))
            )
            found = find(adversary_, *arguments)
            hook.remove()
            still = {"delta": torch.zeros_like(found.delta)} if neutral else {}
            self.found.append(dataclasses.replace(found, **still))
            return self.found[-1]

        def outer(*arguments, **named):
            self.views.append(encode(*arguments, **named))
            return self.views[-1]

        monkeypatch.setattr(adversary.Adversary, "find", inner)
        monkeypatch.setattr(robust_sent_embed, "encode_views", outer)
        batch = make_batch() if batch is None else batch
        self.loss = method.step(networks, method.state(networks, run.streams), batch, run, step).loss
        self.view = self.views[0]
        self.outputs = [output for _, output in self.passes]
        monkeypatch.undo()


def frozen_points(monkeypatch):
    """Every inner pass sees X itself: whatever differs between two passes are their masks."""
    apply = adversary.Blend.apply

    def still(blend, state):
        return dataclasses.replace(apply(blend, state), addition=torch.zeros_like(state.pgd.delta))

    monkeypatch.setattr(adversary.Blend, "apply", still)


def watch_inner(monkeypatch, inner, **rest):
    frozen_points(monkeypatch)
    quiet = {"token_level": {"presence": "none"}, "K": 3, "T": 3, "lambda2": 0.0}
    watched = Watched(monkeypatch, inner_dropout=inner, **quiet, **rest)
    assert len(watched.passes) == 1 + 3
    assert all(torch.equal(point, watched.passes[0][0]) for point, _ in watched.passes)
    return watched


class TestInside:
    def test_eval_has_none(self, monkeypatch):
        watched = watch_inner(monkeypatch, "eval")
        without = watch_inner(monkeypatch, "eval", dropout=0.0)
        assert all(torch.equal(output, watched.outputs[0]) for output in watched.outputs)
        assert torch.equal(watched.outputs[0], without.outputs[0])

    def test_fixed_has_the_same_masks_in_every_perturbed_pass(self, monkeypatch):
        pos, *perturbed = watch_inner(monkeypatch, "fixed").outputs
        assert all(torch.equal(output, perturbed[0]) for output in perturbed)
        assert not torch.equal(perturbed[0], watch_inner(monkeypatch, "eval").outputs[1])
        assert not torch.equal(pos, perturbed[0])  # z_pos is the other view: masks of its own

    def test_fresh_has_new_masks_in_every_pass(self, monkeypatch):
        outputs = watch_inner(monkeypatch, "fresh").outputs
        for i, output in enumerate(outputs):
            assert not any(torch.equal(output, other) for other in outputs[:i]), i

    @pytest.mark.parametrize("inner", ["eval", "fixed", "fresh"])
    def test_no_inner_choice_moves_the_outer_masks(self, monkeypatch, inner):
        expected = Watched(monkeypatch, neutral=True).view
        view = Watched(monkeypatch, neutral=True, inner_dropout=inner).view
        assert torch.equal(view.z, expected.z)
        assert torch.equal(view.z_pos, expected.z_pos)

    def test_the_three_choices_find_different_deltas_and_agree_at_rate_zero(self, monkeypatch):
        deltas = [Watched(monkeypatch, inner_dropout=i).found[0].delta for i in ("eval", "fixed", "fresh")]
        assert not torch.equal(deltas[0], deltas[1])
        assert not torch.equal(deltas[0], deltas[2])
        assert not torch.equal(deltas[1], deltas[2])
        losses = [Watched(monkeypatch, inner_dropout=i, dropout=0.0).loss for i in ("eval", "fixed", "fresh")]
        assert losses[0] == losses[1] == losses[2]


class TestOutside:
    def test_shared_first_gives_z_adv_the_masks_of_z(self, monkeypatch):
        view = Watched(monkeypatch, neutral=True, outer_dropout="shared_first").view
        assert torch.equal(view.z, view.z_adv)
        assert not torch.equal(view.z, view.z_pos)

    def test_independent_gives_three_masks_that_differ_between_the_rows_of_a_view_too(self, monkeypatch):
        view = Watched(monkeypatch, neutral=True).view
        assert not torch.equal(view.z, view.z_adv)
        assert not torch.equal(view.z, view.z_pos)
        assert not torch.equal(view.z_pos, view.z_adv)
        # Four equal sentences in three views: twelve different vectors, one without dropout.
        view = Watched(monkeypatch, neutral=True, batch=EQUAL).view
        rows = torch.cat([view.z, view.z_pos, view.z_adv])
        assert len(rows.unique(dim=0)) == 12
        view = Watched(monkeypatch, neutral=True, batch=EQUAL, dropout=0.0).view
        rows = torch.cat([view.z, view.z_pos, view.z_adv])
        assert torch.allclose(rows, rows[:1].expand_as(rows), rtol=0, atol=1e-12)

    def test_what_was_found_reaches_z_adv_alone(self, monkeypatch):
        for outer in ("independent", "shared_first"):
            moved = Watched(monkeypatch, outer_dropout=outer).view
            still = Watched(monkeypatch, outer_dropout=outer, neutral=True).view
            assert torch.equal(moved.z, still.z)
            assert torch.equal(moved.z_pos, still.z_pos)
            assert not torch.equal(moved.z_adv, still.z_adv)
