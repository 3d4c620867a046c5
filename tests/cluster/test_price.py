"""What a cluster costs, by its nodes."""

import pytest

from rse_study.cluster.price import describe_time, device_hour_price, hourly_price
from rse_study.study.definition.parts import Resources
from tests.cases import cases
from tests.cluster.samples import shipped

GPU = Resources(workers=2, threads=2, gpus=1)


def test_an_hour_is_the_head_and_every_node_also_those_that_cannot_be_given_back():
    assert hourly_price(shipped("aws-gpu", "workers.gpu.min_nodes=1")) == pytest.approx((0.55, 3.7))
    assert hourly_price(shipped("onprem", "workers.node.price_per_hour=2")) == (4, 4)


IDLE = "workers.cpu={min_nodes: 0, max_nodes: 100, cpus: 2, memory_gib: 4, price_per_hour: 0.05}"
ONPREM = "workers.node.price_per_hour=1.6"


@cases(
    ("name", "overrides", "resources", "price"),
    [
        ("aws-gpu", (), GPU, (8 * 0.45 + 0.1) / 8),  # its node, and its share of the head
        ("aws-gpu", (IDLE,), GPU, (8 * 0.45 + 0.1) / 8),  # nodes that run no cell are not billed
        ("onprem", (ONPREM,), Resources(threads=1), 1.6 / 16),
        ("onprem", (ONPREM,), Resources(threads=9), 1.6 / 9),  # what no cell can use is paid for
        ("slurm", ("workers.node.price_per_hour=1.5",), Resources(threads=1), 3.0 / 30),  # 2 CPUs drive
        ("local", (), GPU, 0),  # it can run nothing
    ],
)
def test_a_device_hour_costs_what_runs_cells_divided_by_their_devices(name, overrides, resources, price):
    assert device_hour_price(shipped(name, *overrides), resources) == pytest.approx(price)


@cases(
    ("resources", "hours", "num_cells", "said"),
    [
        (GPU, 16.0, 9, "4 cells at a time: 2 h by the clock, or more"),
        (GPU, 160.0, 9, "4 cells at a time: 20 h by the clock, or more, and the cluster ends after 12 h"),
        (GPU.model_copy(update={"max_concurrent": 1}), 4.0, 9, "1 cell at a time: 2 h by the clock, or more"),
        (GPU, 12.0, 3, "3 cells at a time: 2 h by the clock, or more"),  # no cell takes less than its time
    ],
)
def test_time_by_the_clock_is_said_of_as_few_cells_at_a_time_as_the_study_wants(
    resources, hours, num_cells, said
):
    assert describe_time(shipped("aws-gpu"), resources, hours, num_cells) == said


@cases(
    ("cell", "num_cells", "hours", "price"),
    [
        ({"gpus": 1}, 4, 24, 1),
        ({"gpus": 0.5}, 8, 12, 1),
        ({"gpus": 0.2}, 20, 4.8, 1),
        ({"gpus": 0.3}, 12, 8, 1 / 0.9),  # a tenth of each GPU is paid for and unused
        ({"gpus": 0.08}, 48, 2, 1 / 0.96),
        ({"gpus": 0.2, "threads": 8}, 12, 8, 1 / 0.6),  # 24 cores serve three cells, not five
        ({"gpus": 0.01}, 96, 1, 1 / 0.24),
    ],
)
def test_cells_that_share_a_gpu_take_their_part_of_its_hours(cell, num_cells, hours, price):
    """Four GPUs with 24 cores each; 96 cells that take an hour each."""
    spec = shipped("azure-gpu", "head.price_per_hour=0", "workers.gpu.price_per_hour=1")
    resources = Resources(**cell)
    said = f"{num_cells} cells at a time: {hours:g} h by the clock, or more"
    assert describe_time(spec, resources, 96 * resources.num_devices, 96).startswith(said)
    assert device_hour_price(spec, resources) == pytest.approx(price)
