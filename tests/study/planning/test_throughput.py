"""Seconds for a unit of work, from cells that are alike or nearly so."""

from dataclasses import replace

from rse_study.study.definition.resources import Resources
from rse_study.study.planning.estimates import Range, exactly
from rse_study.study.planning.throughput import Setting, Throughput, TimedWork, num_devices
from rse_study.study.planning.workload import BatchShape
from tests.cases import cases

SHAPE = BatchShape("tiny", "main", 32, 32, "float32")
HERE = Setting(SHAPE, 0, 1, 1)
T4, A100 = (Setting(SHAPE, 1, 1, 1, name) for name in ("T4", "A100"))
ALONE = Resources()


def rates(*seconds, setting=HERE, work=10.0) -> Throughput:
    return Throughput(tuple(TimedWork(setting, float(s), work) for s in seconds), (), "cells")


def test_cells_alike_tell_the_rate_and_what_is_scaled_or_assumed_says_so():
    told = Throughput((TimedWork(HERE, 10.0, 10.0), TimedWork(HERE, 60.0, 20.0)), (), "cells")
    assert told.seconds_per_work(SHAPE, ALONE) == Range(1.0, 70 / 30, 3.0)
    assert rates(10).seconds_per_work(SHAPE, Resources(gpus=1)) is None
    assert rates(10, setting=replace(HERE, gpus=1)).seconds_per_work(SHAPE, ALONE) is None
    told = replace(rates(10), overhead=(("inline", 2.0), ("inline", 4.0)))
    assert told.overhead_seconds("inline") == Range(2.0, 3.0, 4.0)
    assert told.overhead_seconds("train") == exactly(1.0)
    assert not list(told.assumptions([SHAPE], ALONE))
    (note,) = told.assumptions([SHAPE], Resources(executor="train"))
    assert "1 s per cell" in note and "assumed" in note
    told = replace(rates(10), overhead=(("inline", 2.0),))
    (note,) = told.assumptions([replace(SHAPE, batch_size=64)], ALONE)
    assert "scaled" in note


@cases(
    "other",
    [{"encoder": "minilm"}, {"revision": "v2"}, {"precision": "bf16"}, {"compiled": True}],
    ids=lambda change: next(iter(change)),
)
def test_another_encoder_tells_nothing(other):
    assert rates(10).seconds_per_work(replace(SHAPE, **other), ALONE) is None


def test_a_share_of_a_card_tells_nothing_of_the_whole_and_cards_are_named_and_apart():
    quarter = replace(T4, gpus=0.25)
    assert rates(10, setting=quarter).seconds_per_work(SHAPE, Resources(gpus=1)) is None
    assert rates(10, setting=quarter).seconds_per_work(SHAPE, Resources(gpus=0.25)) == exactly(1.0)
    both = Throughput((TimedWork(T4, 80.0, 10.0), TimedWork(A100, 10.0, 10.0)), (("inline", 1.0),), "cells")
    assert both.seconds_per_work(SHAPE, Resources(gpus=1)) == Range(1.0, 4.5, 8.0)
    (note, _) = both.assumptions([SHAPE], Resources(gpus=1))
    assert note == "timed on A100, T4: times differ on other GPUs"
    _, note, _ = replace(both, timed=(TimedWork(quarter, 1.0, 1.0),)).assumptions(
        [SHAPE], Resources(gpus=0.25)
    )
    assert note.endswith("a cell alone on its GPU: cells that share one may take longer")


def test_time_grows_with_the_batch_and_may_with_length_workers_and_threads():
    assert rates(10).seconds_per_work(replace(SHAPE, batch_size=64), ALONE) == exactly(2.0)
    assert rates(10).seconds_per_work(replace(SHAPE, max_length=128), ALONE) == Range(1.0, 2.0, 4.0)
    assert rates(10).seconds_per_work(replace(SHAPE, max_length=8), ALONE) == Range(0.25, 0.5, 1.0)
    assert rates(10).seconds_per_work(SHAPE, Resources(workers=2, threads=2)) == Range(0.25, 0.5, 1.0)
    near, far = replace(HERE, shape=replace(SHAPE, batch_size=64)), HERE
    both = Throughput((TimedWork(far, 10.0, 10.0), TimedWork(near, 30.0, 10.0)), (), "cells")
    assert both.seconds_per_work(replace(SHAPE, batch_size=128), ALONE) == exactly(6.0)
    assert both.seconds_per_work(SHAPE, ALONE) == exactly(1.0)


@cases(
    ("used", "devices"),
    [
        ({}, 1),
        ({"workers": 2, "threads": 3}, 6),
        ({"workers": 4, "gpus": 1, "threads": 8}, 4),
        ({"gpus": 0.25, "threads": 2}, 0.25),
    ],
)
def test_a_device_is_a_gpu_or_a_core(used, devices):
    assert num_devices(Resources(**used)) == devices
