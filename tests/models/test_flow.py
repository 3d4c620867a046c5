"""A flow is invertible, its log-determinant that of autograd's Jacobian, and fitting raises the likelihood."""

import pytest
import torch

from rse_study.data.tokenised import tokenise
from rse_study.models.flow import Flow, fitted_flow
from rse_study.models.loading import load_encoder
from tests.models.conftest import SENTENCES


def spread_flow(width):
    """A flow in float64 none of whose parts is the identity."""
    generator = torch.Generator().manual_seed(0)
    flow = Flow(width, generator).double()
    with torch.no_grad():
        for parameter in flow.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.add_(0.3 * noise)
    return flow


def inverted(flow, z):
    """x of z, step by step backwards."""
    for step in reversed(flow.steps):
        out, rest = z[:, : -len(step.bias)], z[:, -len(step.bias) :]
        half = rest.shape[1] // 2
        a, b = rest[:, :half], rest[:, half:]
        rest = torch.cat([a, b - step.net(a)], dim=1)[:, step.permutation.argsort()]
        z = torch.cat([out, rest * (-step.log_scale).exp() - step.bias], dim=1)
    return z


@pytest.mark.parametrize("width", [5, 8, 13])
def test_it_is_invertible_and_its_log_determinant_is_that_of_the_jacobian(width):
    flow, x = spread_flow(width), torch.randn(4, width, dtype=torch.float64)
    assert [len(step.bias) for step in flow.steps] == [
        *[width] * 3, *[-(-width // 2)] * 3, *[-(-width // 2) - -(-width // 2) // 2] * 3,
    ]  # fmt: skip
    z, log_det = flow(x)
    assert float((z - x).detach().abs().min()) > 1e-6
    torch.testing.assert_close(inverted(flow, z), x, atol=1e-10, rtol=0)
    for row, found in zip(x, log_det, strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda one: flow(one[None])[0][0], row)
        torch.testing.assert_close(torch.linalg.slogdet(jacobian).logabsdet, found.detach())


def test_it_begins_at_zero_mean_and_unit_variance():
    flow, x = Flow(8, torch.Generator().manual_seed(0)).double(), torch.randn(50, 8).double() * 7 + 3
    z, _ = flow(x, normalises=True)
    torch.testing.assert_close(z.mean(0), torch.zeros(8).double(), atol=1e-6, rtol=0)
    torch.testing.assert_close(z.var(0, unbiased=False), torch.ones(8).double(), atol=1e-5, rtol=0)
    again, _ = flow(x)
    torch.testing.assert_close(again, z)


def test_fitting_raises_the_likelihood_and_leaves_the_encoder_alone(folders, tmp_path):
    encoder, tokenizer = load_encoder(folders["bert"], "first_last")
    encoder.train()
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    words = " ".join(SENTENCES).split()
    texts = [f"{words[i % 17]} {words[i * 7 % 19]} {words[i * 3 % 11]}" for i in range(1024)]
    corpus = tokenise(texts, tokenizer, 16, tmp_path / "corpus")
    flow = fitted_flow(encoder, corpus)
    assert encoder.training
    assert all(torch.equal(before[name], value) for name, value in encoder.state_dict().items())
    with torch.no_grad():
        ids = torch.tensor([tokenizer(text)["input_ids"] for text in texts[:256]])
        x = encoder.eval()(encoder.word_embeddings(ids), torch.ones_like(ids, dtype=torch.bool))
        unfitted = Flow(encoder.hidden_size, torch.Generator().manual_seed(0))
        (z, log_det), (z0, log_det0) = flow(x), unfitted(x, normalises=True)
    likelihood, at_first = (log - z.square().sum(1) / 2 for z, log in ((z, log_det), (z0, log_det0)))
    assert float(likelihood.mean()) > float(at_first.mean())
    assert torch.equal(fitted_flow(encoder, corpus).steps[0].bias, flow.steps[0].bias)
