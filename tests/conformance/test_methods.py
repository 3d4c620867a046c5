"""What every method keeps to, whatever it computes: one table, one contract."""

import dataclasses
from functools import cache

import pytest
import torch

from rse_study.losses import info_nce
from rse_study.methods import METHODS, RobustSentEmbed
from tests.conformance.entries import ENTRIES, TESTS
from tests.methods.contract import near, require_reference
from tests.methods.problem import CLS, SEP, make_batch, make_networks, make_run, take_step, views_apart
from tests.methods.test_cost import passes_of
from tests.slow import mostly_slow


def taken(name, batch=None, **sizes):
    """(outcome, state, gradients, networks) of one step."""
    run = make_run()
    networks = make_networks(ENTRIES[name].method, run, **sizes)
    return (*take_step(ENTRIES[name].method, networks, batch or make_batch(), run), networks)


@cache
def usual(name):
    """The step without dropout; nobody changes it."""
    return taken(name)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_examples_and_a_reference(name):
    file = f"tests/methods/test_{name}.py"
    how = f"in {file}, as in docs/tutorials/add_a_method.md"
    test = TESTS.get(name)
    assert test is not None, f"{name} is in no common test. Write its examples and its reference {how}"
    examples, reference = (getattr(test, part, None) for part in ("EXAMPLES", "reference"))
    assert examples, f"{name} has no examples: nothing is tested. Write EXAMPLES {how}"
    assert callable(reference), (
        f"{name} has no reference: a wrong formula would pass. Write `reference` {how}"
    )
    assert {type(example.method) for example in examples.values()} == {METHODS[name]}


def a_step_is_that_of_the_reference(name):
    method = ENTRIES[name].method
    require_reference(TESTS[method.name].reference, method)


def each_view_counts_as_itself(name):
    """If dropout alone tells views apart: without it a positive without gradient, or z as negatives, would pass."""
    method = ENTRIES[name].method
    if not (method.cost.ascent or method.needs_synonyms) and getattr(method, "dropout", True):
        require_reference(TESTS[method.name].reference, method, views=views_apart)


def the_same_step_twice_has_the_same_bits(name):
    first, second = taken(name, dropout=0.2), taken(name, dropout=0.2)
    assert torch.equal(first[0].loss, second[0].loss)
    for key, gradient in first[2].items():
        assert torch.equal(gradient, second[2][key]), key


def a_step_leaves_modes_flags_and_gradients_as_they_were(name):
    method, run = ENTRIES[name].method, make_run()
    networks = make_networks(method, run, dropout=0.2)
    networks.encoder.backbone.encoder.layer[0].eval()
    before = {key: module.training for key, module in networks.named_modules()}
    method.step(networks, method.state(networks, run.streams), make_batch(), run, 3)
    assert {key: module.training for key, module in networks.named_modules()} == before
    trained = {name for name, parameter in networks.named_parameters() if parameter.requires_grad}
    frozen = "other." if getattr(networks, "is_frozen", False) else "target."
    assert trained == {name for name, _ in networks.named_parameters() if not name.startswith(frozen)}
    assert all(parameter.grad is None for parameter in networks.parameters())


def the_gradient_reaches_the_encoder_and_nothing_is_lost(name):
    _, _, gradients, networks = usual(name)
    words = "encoder.backbone.embeddings.word_embeddings.weight"
    assert gradients[words].any()
    unused = {int(id) for id in range(len(gradients[words]))} - set(make_batch().ids.flatten().tolist())
    # D reads the tokens that were filled in; a twin has words of its own, and a tied masked LM scores them all.
    if networks.discriminator is None and not ENTRIES[name].method.needs_synonyms:
        assert not gradients[words][sorted(unused)].any()
    assert all(gradient.isfinite().all() for gradient in gradients.values())


def padding_changes_nothing(name):
    short, long = usual(name), taken(name, make_batch(extra_padding=5))
    near(short[0].loss, long[0].loss, "loss")
    for key, gradient in short[2].items():
        near(gradient, long[2][key], key)


def what_it_declares_to_cost_is_what_it_computes(name):
    entry = ENTRIES[name]
    assert passes_of(entry.method) == (entry.num_calls, entry.method.cost.gradient_passes)


def bf16_is_near_float32(name):
    """Perturbations far below bf16's spacing must not vanish: their sum with X is float32."""
    losses = []
    for lower in (False, True):
        run = make_run()
        assert run.generator is not None
        run.generator.float()
        if lower:
            run = dataclasses.replace(run, autocast=lambda: torch.autocast("cpu", torch.bfloat16))
        networks = make_networks(ENTRIES[name].method, run, width=32).float()
        outcome, _, gradients = take_step(ENTRIES[name].method, networks, make_batch(), run)
        assert outcome.loss.dtype == torch.float32
        assert all(gradient.isfinite().all() for gradient in gradients.values())
        losses.append(outcome.loss.item())
    assert losses[1] == pytest.approx(losses[0], rel=0.25, abs=0.05)


CONTRACT = (
    a_step_is_that_of_the_reference,
    each_view_counts_as_itself,
    the_same_step_twice_has_the_same_bits,
    a_step_leaves_modes_flags_and_gradients_as_they_were,
    the_gradient_reaches_the_encoder_and_nothing_is_lost,
    padding_changes_nothing,
    what_it_declares_to_cost_is_what_it_computes,
    bf16_is_near_float32,
)


@pytest.mark.parametrize("name", ENTRIES)
def test_a_method_keeps_to_the_contract(name):
    for rule in CONTRACT:
        rule(name)


@pytest.mark.parametrize("name", mostly_slow(ENTRIES, fast=["SimCSE", "RobustSentEmbed"]))
def test_the_loss_falls_on_a_corpus_that_can_be_learnt(name):
    """Eight sentences of words of their own, thirty steps; against a strong adversary it falls to chance only."""
    has_tau = hasattr(ENTRIES[name].method, "temperature")
    sharper = {"head": "linear_tanh", "temperature": 0.1} if has_tau else {}
    method, run = ENTRIES[name].method.model_copy(update=sharper), make_run()
    networks = make_networks(method, run)
    state = method.state(networks, run.streams)
    optimizer = torch.optim.AdamW(networks.parameters(), lr=6e-3, weight_decay=0.0)
    batch = make_batch([[CLS, 5 + 2 * i, 6 + 2 * i, SEP] for i in range(8)], range(8))
    losses = []
    for step in range(30):
        loss = method.step(networks, state, batch, run, step).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        method.after(networks)
        losses.append(loss.item())
    assert sum(losses[-5:]) < 0.95 * sum(losses[:5])


@pytest.mark.parametrize("positive_has_gradient", [True, False])
def test_views_that_are_taken_for_others_are_refused(positive_has_gradient):
    """SimCSE whose positives are constants, or whose negatives are the other sentences' first views."""

    class Mistaken(RobustSentEmbed):
        def _contrastive(self, views, batch, run):
            taken = (views.z_pos, views.z) if positive_has_gradient else (views.z_pos.detach(), views.z_pos)
            losses = info_nce(views.z, taken[0][None], taken[1], run.own(batch), self.temperature)
            return losses.sum() / batch.num_rows, {"contrastive": (1 / batch.num_rows, losses)}

    right = ENTRIES["SimCSE"].method
    wrong = Mistaken.model_validate(right.model_dump())
    with pytest.raises(AssertionError, match="from the reference"):
        require_reference(TESTS[right.name].reference, wrong, views=views_apart)


def test_a_formula_that_its_reference_contradicts_is_refused():
    """A temperature one in a thousand too high, in the step alone."""
    method = ENTRIES["SimCSE"].method
    wrong = method.model_copy(update={"temperature": method.temperature * 1.001})
    of_right = lambda _, *given: TESTS[method.name].reference(method, *given)  # noqa: E731
    with pytest.raises(AssertionError, match="from the reference"):
        require_reference(of_right, wrong)
