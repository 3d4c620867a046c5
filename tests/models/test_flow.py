"""BERT-flow's map is invertible, its log determinant that of the Jacobian, its first batch's moments 0 and 1."""

import math

import pytest
import torch

from rse_study.data.tokenised import tokenise
from rse_study.models.flow import Flow, fitted_flow
from rse_study.models.loading import load_encoder
from tests.models.conftest import SENTENCES
from tests.reference.flow_reference import forward, inverse, log_det_of_jacobian, steps_of

WIDTHS = [5, 7, 8, 12]
every_width = pytest.mark.parametrize("width", WIDTHS)


def rows(width, number=50, seed=0):
    """Correlated features of unlike means and lengths."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(number, width, generator=generator, dtype=torch.float64)
    mixed = drawn @ torch.randn(width, width, generator=generator, dtype=torch.float64)
    return 2 + mixed * torch.linspace(0.1, 3, width, dtype=torch.float64)


def new_flow(width, seed=0):
    return Flow(width, torch.Generator().manual_seed(seed)).double()


def fitted(width):
    """A flow after its first batch, all of whose weights have been moved."""
    flow, generator = new_flow(width), torch.Generator().manual_seed(1)
    with torch.no_grad():
        flow(rows(width))
        for parameter in flow.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.add_(0.3 * noise)
    return flow


def close(found, expected, tolerance=1e-10):
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


@every_width
def test_log_det_is_that_of_the_jacobian(width):
    flow, x = fitted(width), rows(width, 6, seed=2)
    z, log_det = flow(x)
    assert (z.shape, log_det.shape) == ((6, width), (6,))
    close(log_det, torch.stack([log_det_of_jacobian(flow, one) for one in x]))
    assert log_det.abs().min() > 1e-2, "hardly a determinant: nothing is compared"


@every_width
def test_its_map_is_glows_and_can_be_inverted(width):
    flow, x = fitted(width), rows(width, 6, seed=2)
    z, log_det = flow(x)
    for i, one in enumerate(x.tolist()):
        expected = forward(flow, one)
        close(z[i], torch.tensor(expected[0], dtype=torch.float64))
        assert log_det[i].item() == pytest.approx(expected[1], abs=1e-10)
        close(torch.tensor(inverse(flow, z[i].tolist()), dtype=torch.float64), x[i], 1e-9)


@every_width
def test_the_first_batch_gets_mean_zero_and_variance_one(width):
    """The couplings add nothing at first, and an actnorm finds nothing to do behind another."""
    flow, x = new_flow(width), rows(width)
    z, log_det = flow(x)
    close(z.mean(0), torch.zeros(width, dtype=torch.float64), 1e-5)
    close(z.var(0, unbiased=False), torch.ones(width, dtype=torch.float64), 1e-4)
    expected = -x.std(0, unbiased=False).log().sum()
    close(log_det, expected.expand(len(x)), 1e-4)
    for step in steps_of(flow)[1:3]:
        assert step.log_scale == pytest.approx([0.0] * width, abs=1e-4)
        assert step.bias == pytest.approx([0.0] * width, abs=1e-4)


def test_later_batches_leave_actnorm_alone_and_rows_do_not_see_each_other():
    flow, first, later = new_flow(8), rows(8), 5 * rows(8, seed=3)
    z = flow(first)[0]
    found = flow(later)
    close(flow(first)[0], z)
    for i in (0, 7):
        close(flow(later[i : i + 1])[0][0], found[0][i])
    assert abs(found[0].std().item() - 1) > 1


def test_what_was_initialised_travels_with_the_weights():
    flow, other = fitted(8), new_flow(8, seed=5)
    other.load_state_dict(flow.state_dict())
    for found, expected in zip(other(9 * rows(8, seed=4)), flow(9 * rows(8, seed=4)), strict=True):
        close(found, expected)


def test_a_flow_is_a_function_of_its_generator():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    flows = [new_flow(12, seed) for seed in (0, 0, 1)]
    assert torch.equal(torch.get_rng_state(), before)
    orders = [[step.order for step in steps_of(flow)] for flow in flows]
    assert orders[0] == orders[1] != orders[2]
    assert all(sorted(order) == [*range(len(order))] for order in orders[0])
    assert len({tuple(order) for order in orders[0][:3]}) == 3, "every step has a permutation of its own"
    assert [len(order) for order in orders[0]] == [12] * 3 + [6] * 3 + [3] * 3
    for step in steps_of(flows[0]):
        assert [layer.out_features for layer in step.net[:2]] == [32, 32]
        assert not step.net[2].weight.any()
        assert not step.net[2].bias.any()


@pytest.mark.parametrize(
    "x", [torch.ones(5, 8), torch.cat([rows(7), torch.full((50, 1), 3.0)], 1), rows(8, 1)]
)
def test_features_that_do_not_vary_leave_everything_finite(x):
    flow = new_flow(8)
    z, log_det = flow(x.double())
    assert z.isfinite().all()
    assert log_det.isfinite().all()
    assert all(parameter.isfinite().all() for parameter in flow.parameters())
    close(z.mean(0), torch.zeros(8, dtype=torch.float64), 1e-5)


def test_log_density_is_that_of_a_gaussian_where_the_flow_is_one():
    """After its first batch the flow is x -> (x - mean) / std, in some order: N(mean, diag(variance))."""
    flow, x = new_flow(5), rows(5, 400)
    z, log_det = flow(x)
    found = -(z**2).sum(1) / 2 - 5 / 2 * math.log(2 * math.pi) + log_det
    gaussian = torch.distributions.Normal(x.mean(0), x.std(0, unbiased=False))
    close(found, gaussian.log_prob(x).sum(1), 1e-4)


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
        (z, log_det), (z0, log_det0) = flow(x), unfitted(x)
    likelihood, at_first = (log - z.square().sum(1) / 2 for z, log in ((z, log_det), (z0, log_det0)))
    assert float(likelihood.mean()) > float(at_first.mean())
    assert torch.equal(fitted_flow(encoder, corpus).steps[0].bias, flow.steps[0].bias)
