"""Hours of nodes at the prices of a spec."""

import pytest

from rse_study.cluster.backend import NodeHours
from rse_study.cluster.spec import ClusterSpec, Machine, WorkerGroup
from rse_study.cluster.spending import spent
from tests.cases import cases

SPEC = ClusterSpec(
    name="any",
    template="any.sh",
    head=Machine(cpus=1, memory_gib=1, price_per_hour=0.1),
    workers={
        "small": WorkerGroup(cpus=1, memory_gib=1, price_per_hour=1),
        "large": WorkerGroup(cpus=1, memory_gib=1, price_per_hour=3),
    },
)


@cases(("group", "price"), [("head", 0.1), ("small", 1.0), ("large", 3.0), ("", 3.0), ("unheard of", 3.0)])
def test_an_hour_costs_what_the_spec_says_and_rather_too_much(group, price):
    assert spent(SPEC, [NodeHours(group, 0, 2.0)]) == pytest.approx(2 * price)


def test_groups_are_added():
    assert spent(SPEC, [NodeHours("head", 1, 10.0), NodeHours("small", 4, 5.0)]) == pytest.approx(6.0)
