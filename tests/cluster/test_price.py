"""What a cluster costs, by its nodes."""

import pytest

from rse_study.cluster.price import describe_price, describe_time, device_hour_price, hourly_price
from rse_study.study.definition.config import Resources
from tests.cluster.samples import shipped

GPU = Resources(workers=2, threads=2, gpus=1)


def test_an_hour_is_the_head_and_every_node():
    price = hourly_price(shipped("aws-gpu", "workers.gpu.min_nodes=1"))
    assert (price.least, price.most) == pytest.approx((0.1 + 0.45, 0.1 + 8 * 0.45))


def test_nodes_that_cannot_be_given_back_are_always_billed():
    price = hourly_price(shipped("onprem", "workers.node.price_per_hour=2"))
    assert price.least == price.most == 4


def test_a_gpu_hour_is_its_node_and_its_share_of_the_head():
    assert device_hour_price(shipped("aws-gpu"), GPU) == pytest.approx((8 * 0.45 + 0.1) / 8)


def test_what_of_a_node_no_cell_can_use_is_paid_for():
    spec = shipped("onprem", "workers.node.price_per_hour=1.6")
    assert device_hour_price(spec, Resources(threads=1)) == pytest.approx(1.6 / 16)
    assert device_hour_price(spec, Resources(threads=9)) == pytest.approx(1.6 / 9)


def test_slurms_first_node_shares_with_the_driver():
    spec = shipped("slurm", "workers.node.price_per_hour=1.5")
    assert device_hour_price(spec, Resources(threads=1)) == pytest.approx(3.0 / 30)


def test_nodes_that_run_no_cell_are_not_billed():
    other = "workers.cpu={instance: c6i.large, max_nodes: 100, cpus: 2, memory_gib: 4, price_per_hour: 0.05}"
    assert device_hour_price(shipped("aws-gpu", other), GPU) == pytest.approx((8 * 0.45 + 0.1) / 8)


def test_a_cluster_that_can_run_nothing_has_no_price():
    assert device_hour_price(shipped("local"), GPU) == 0


def test_it_is_said_in_a_line():
    assert describe_price(shipped("aws-gpu")) == "aws, nodes: 0 to 8 'gpu'; 0.1 to 3.7 an hour, head included"
    assert describe_price(shipped("local")) == "local, nodes: 2 'cpu'; nobody bills them"


def test_time_by_the_clock_is_said():
    assert describe_time(shipped("aws-gpu"), GPU, 16.0) == "4 cells at a time: 2 h by the clock, or more"
    long = describe_time(shipped("aws-gpu"), GPU, 160.0)
    assert long == "4 cells at a time: 20 h by the clock, or more, and the cluster ends after 12 h"


def test_cells_at_a_time_are_as_few_as_the_study_wants():
    few = Resources(workers=2, threads=2, gpus=1, max_concurrent=1)
    assert describe_time(shipped("aws-gpu"), few, 4.0) == "1 cell at a time: 2 h by the clock, or more"
