"""Gather and sum over two gloo workers: values and gradients against autograd on one process."""

from pathlib import Path

import pytest
import torch

from rse_study.distributed import GradientBuckets, Group
from rse_study.tensors import Alone
from tests.gloo import in_group

pytestmark = pytest.mark.xdist_group("two_workers")
ROWS = torch.arange(12, dtype=torch.float64).view(4, 3) / 7 - 0.5
WEIGHTS = torch.linspace(-1, 1, 12, dtype=torch.float64).view(4, 3)


def objective(gathered, total):
    """Not linear, and every worker's share depends on every worker's rows."""
    return (gathered.T @ gathered).sin(), (total.exp() * WEIGHTS[0]).sum()


def _work(rank: int, size: int, directory: Path) -> None:
    group, rows = Group(), ROWS[2 * rank : 2 * rank + 2].clone().requires_grad_()
    gathered, total = group.gather(rows), group.sum((rows * WEIGHTS[2 * rank : 2 * rank + 2]).sum(0))
    matrix, value = objective(gathered, total)
    loss = (matrix * (rank + 1)).sum() + (rank + 2) * value  # each worker's share is another function
    loss.backward()
    parameters = [
        torch.nn.Parameter(torch.ones(2, 3)),
        torch.nn.Parameter(torch.ones(4)),
        torch.nn.Parameter(ROWS),
    ]
    parameters[1].requires_grad_(False)
    parameters[0].grad = torch.full((2, 3), float(rank + 1)) if rank == 0 else None
    parameters[2].grad = ROWS * (rank + 1)
    group.summing_gradients(parameters[:2])()
    group.summing_gradients(parameters[2:])()
    found = {
        "gathered": gathered.detach(),
        "total": total.detach(),
        "loss": loss.detach(),
        "gradient": rows.grad,
        "ragged": group.gather_ragged(torch.arange(rank * 3)),
        "ragged rows": group.gather_ragged(ROWS[: 1 + 2 * rank].requires_grad_()),
        "nothing anywhere": group.gather_ragged(ROWS[:0].detach()),
        "flags": [group.any(False), group.any(rank == 1), group.any(True)],
        "identity": [group.rank, group.size],
        "parameters": [parameter.grad for parameter in parameters],
    }
    torch.save(found, directory / f"{rank}.pt")


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    directory = tmp_path_factory.mktemp("collectives")
    in_group(_work, directory)
    return [torch.load(directory / f"{rank}.pt") for rank in (0, 1)]


def test_values_and_gradients_of_parameters_are_gathered_and_summed(workers):
    for rank, found in enumerate(workers):
        assert torch.equal(found["gathered"], ROWS)
        torch.testing.assert_close(found["total"], (ROWS * WEIGHTS).sum(0), rtol=0, atol=1e-14)
        assert found["ragged"].tolist() == [0, 1, 2]
        assert torch.equal(found["ragged rows"], torch.cat([ROWS[:1], ROWS[:3]]))
        assert not found["ragged rows"].requires_grad
        assert found["nothing anywhere"].shape == (0, 3)
        assert found["flags"] == [False, True, True]
        assert found["identity"] == [rank, 2]
    for found in workers:
        used_once, frozen, used = found["parameters"]
        assert torch.equal(used_once, torch.ones(2, 3))
        assert frozen is None
        torch.testing.assert_close(used, 3 * ROWS, rtol=0, atol=1e-14)


def test_gradients_equal_those_of_the_summed_loss_on_one_process(workers):
    rows = ROWS.clone().requires_grad_()
    matrix, value = objective(rows, (rows * WEIGHTS).sum(0))
    loss = (matrix * 1).sum() + (matrix * 2).sum() + (2 + 3) * value
    loss.backward()
    torch.testing.assert_close(sum(found["loss"] for found in workers), loss.detach(), rtol=0, atol=1e-12)
    together = torch.cat([found["gradient"] for found in workers])
    torch.testing.assert_close(together, rows.grad, rtol=0, atol=1e-12)


def test_alone_everything_is_the_identity():
    alone, rows = Alone(), ROWS.clone().requires_grad_()
    assert alone.gather(rows) is rows
    assert alone.sum(rows) is rows
    assert torch.equal(alone.gather_ragged(rows), rows)
    assert not alone.gather_ragged(rows).requires_grad
    assert [alone.any(True), alone.any(False)] == [True, False]
    assert (alone.rank, alone.size) == (0, 1)


def _in_buckets(rank: int, size: int, directory: Path) -> None:
    """Three layers, of which one worker uses the first two alone; sums in one message, and in one a parameter."""
    group, found = Group(), {}
    for name, bucket_bytes in (("whole", 2**30), ("buckets", 1)):
        layers = [torch.nn.Linear(3, 3, bias=False) for _ in range(3)]
        with torch.no_grad():
            for number, layer in enumerate(layers):
                layer.weight.copy_(ROWS[:3] + number)
        rows, begun = ROWS[rank : rank + 2].clone().requires_grad_(), []
        buckets = GradientBuckets([layer.weight for layer in layers], None, bucket_bytes)
        rows.register_hook(lambda gradient, buckets=buckets, begun=begun: begun.append(buckets.num_begun))
        used = layers if rank == 0 else layers[:2]
        torch.nn.Sequential(*used)(rows.float()).pow(2).sum().backward()
        buckets.finish()
        found[name] = [layer.weight.grad for layer in layers]
        found[f"{name}, begun"] = begun
    del group
    torch.save(found, directory / f"{rank}.pt")


def test_buckets_are_summed_while_backward_goes_on_to_the_bits_of_one_message(tmp_path):
    in_group(_in_buckets, tmp_path)
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1))
    for name in ("whole", "buckets"):
        assert all(map(torch.equal, first[name], second[name]))
        assert all(map(torch.equal, first[name], first["whole"]))
    assert first["buckets, begun"] == [3]  # before the input's gradient, the last one, was known
    assert second["buckets, begun"] == [0]  # a parameter that this worker does not use comes first
