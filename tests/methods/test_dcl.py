"""DCL equals the loops written from the paper: loss, gradients, statistics and the target's move, in float64."""

from dataclasses import dataclass

import pytest
import torch

from rse_study.data.batches import with_synonyms
from rse_study.methods import DCL
from rse_study.methods.dcl import _masked
from tests.methods.contract import Example
from tests.methods.problem import CLS, SEP, gradients, make_batch, make_networks, make_run
from tests.reference import dcl_reference

SMALL = {"hidden": 6, "width": 4}
EXAMPLES = {
    "DCL": Example(DCL(**SMALL), 1),
    "DCL, batch norm": Example(DCL(**SMALL, norm="batch", share=0.5, masked_lm=0.0), 1),
}
# Long enough that some tokens are masked in every step.
LONG = [[CLS, *range(5, 14 + 2 * i), SEP] for i in range(4)]


def head_of(projection):
    norm = projection.norm
    one = torch.ones(len(projection.first.bias)).double()
    gain, bias = (one, 0 * one) if norm is None else (norm.gain.detach(), norm.bias.detach())
    return dcl_reference.Head(
        w1=projection.first.weight.detach(), b1=projection.first.bias.detach(), gain=gain, bias=bias,
        w2=projection.second.weight.detach(), b2=projection.second.bias.detach(),
    )  # fmt: skip


def state_of(projection):
    norm, one = projection.norm, torch.ones(len(projection.first.bias)).double()
    return dcl_reference.State(psi=getattr(norm, "psi", one).clone(), nu=getattr(norm, "nu", 0 * one).clone())


NAMES = {"w1": "first.weight", "b1": "first.bias", "w2": "second.weight", "b2": "second.bias"}
NORM_NAMES = {"gain": "norm.gain", "bias": "norm.bias"}


@dataclass(frozen=True)
class OfReference:
    """Power norm has a backward pass of its own, so that autograd cannot give the reference's gradients."""

    loss: torch.Tensor
    gradients: dict[str, torch.Tensor]
    step: dcl_reference.Step


def reference(method, networks, batch, run, step):
    """The reference's step with the same weights, twins and masked tokens."""
    ids = {"x": batch.ids, "x_aug": with_synonyms(batch, run.synonyms, run.streams, step, method.share)}

    def encode_with(encoder):
        return lambda given, view: encoder(encoder.word_embeddings(given), batch.mask, given)

    mlm = None
    if networks.masked_lm is not None:
        vocabulary = networks.encoder.backbone.get_input_embeddings().weight.shape[0]
        corrupted, places, _ = _masked(batch, vocabulary, networks.encoder.mask_token_id, run.streams, step)
        chosen = torch.zeros_like(batch.mask).flatten().index_fill(0, places, True).view_as(batch.mask)
        hidden = networks.encoder.token_vectors(networks.encoder.word_embeddings(corrupted), batch.mask)
        table = networks.encoder.backbone.get_input_embeddings().weight
        logits = networks.masked_lm(hidden.flatten(0, 1), table).view(*batch.ids.shape, -1)
        mlm = dcl_reference.masked_lm(logits, batch.ids, chosen)
    found = dcl_reference.step(
        encode_with(networks.encoder), encode_with(networks.target.encoder), ids["x"], ids["x_aug"],
        projection=head_of(networks.head), predictor=head_of(networks.predictor),
        target_projection=head_of(networks.target.projection), projection_state=state_of(networks.head),
        predictor_state=state_of(networks.predictor), target_state=state_of(networks.target.projection),
        mlm=mlm, norm=method.norm,
    )  # fmt: skip
    networks.zero_grad()
    encoded, backwards = list(found.encoded.values()), list(found.encoded_gradients.values())
    torch.autograd.backward(encoded, backwards, retain_graph=True)
    if mlm is not None:
        (method.masked_lm * mlm).backward()
    expected = gradients(networks)
    for prefix, of in (("head", found.projection_gradients), ("predictor", found.predictor_gradients)):
        names = NAMES | (NORM_NAMES if method.norm != "none" else {})
        expected |= {f"{prefix}.{name}": of[key] for key, name in names.items()}
    loss = found.align + found.align_swapped
    return OfReference(loss if mlm is None else loss + method.masked_lm * mlm.detach(), expected, found)


@pytest.mark.parametrize("masked_lm", [0.0, 1.0])
@pytest.mark.parametrize("norm", ["power", "batch", "none"])
def test_three_steps_are_the_papers(norm, masked_lm):
    method, run = DCL(norm=norm, masked_lm=masked_lm, **SMALL), make_run()
    batch = make_batch(LONG, (2, 0, 3, 1))
    networks = make_networks(method, run)
    with torch.no_grad():  # a target that differs from the beginning
        for parameter in networks.target.parameters():
            parameter.mul_(1.1)
    for step in range(3):
        expected = reference(method, networks, batch, run, step)
        found = expected.step
        outcome = method.step(networks, {}, batch, run, step)
        networks.zero_grad()
        outcome.loss.backward()
        assert outcome.loss.item() == pytest.approx(expected.loss.item(), abs=1e-9)
        for name, gradient in gradients(networks).items():
            if not name.startswith("target"):
                assert float((gradient - expected.gradients[name]).abs().max()) <= 1e-9, (step, name)
        before = {name: value.clone() for name, value in networks.target.named_parameters()}
        with torch.no_grad():
            for parameter in networks.parameters():
                if parameter.grad is not None and parameter.requires_grad:
                    parameter -= 0.05 * parameter.grad
        online = dict(networks.encoder.named_parameters(prefix="encoder"))
        online |= dict(networks.head.named_parameters(prefix="projection"))
        moved = dcl_reference.moved_target(before, {name: value.detach() for name, value in online.items()})
        method.after(networks)
        for name, value in networks.target.named_parameters():
            assert float((value - moved[name]).abs().max()) <= 1e-12, name
        if norm == "power":
            for part, state in (("head", found.projection_state), ("predictor", found.predictor_state)):
                mine = getattr(networks, part).norm
                assert float((mine.psi - state.psi).abs().max()) <= 1e-9
                assert float((mine.nu - state.nu).abs().max()) <= 1e-9
            assert torch.equal(networks.target.projection.norm.psi, networks.head.norm.psi)


def test_the_target_is_a_copy_and_no_optimiser_moves_it():
    method, run = DCL(**SMALL), make_run()
    networks = make_networks(method, run)
    mine, theirs = networks.encoder.state_dict(), networks.target.encoder.state_dict()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert all(mine[name].data_ptr() != theirs[name].data_ptr() for name in mine if mine[name].numel())
    assert not any(parameter.requires_grad for parameter in networks.target.parameters())
    outcome = method.step(networks, {}, make_batch(), run, 0)
    outcome.loss.backward()
    assert all(parameter.grad is None for parameter in networks.target.parameters())
