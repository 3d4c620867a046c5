"""Draws by name, made where they are needed or ahead of the step."""

from dataclasses import replace

import pytest
import torch

from rse_study.data.batches import Batch, Batches
from rse_study.data.draws import Draws
from rse_study.streams import Streams

CPU = torch.device("cpu")


@pytest.fixture
def batch(corpus) -> Batch:
    return Batches(corpus, 20, Streams(3), are_fixed=True).batch(0)


def noise(host, step):
    """A draw that is keyed by row and step, and knows the batch's size."""
    numbers = [
        torch.rand(2, generator=Streams(0).generator("views", step, row)) for row in host.rows.tolist()
    ]
    return torch.stack(numbers), host.perturbable.sum(1)


def taken(batch: Batch, draws: Draws | None, step: int = 4) -> list[torch.Tensor]:
    """The same draw for a batch and for batches that are made from it."""
    mine = replace(batch, draws=draws)
    several = (mine, mine.repeated(2), mine.all_perturbable(), mine.all_perturbable().repeated(2))
    return [value for each in several for value in each.drawn("noise", step, noise)]


def same(found: list[torch.Tensor], expected: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


def test_a_batch_without_draws_makes_them_where_it_needs_them(batch):
    expected = [value for each in (batch, batch.repeated(2)) for value in noise(each, 4)]
    assert same(taken(batch, None)[:4], expected)


def test_what_one_step_needed_is_made_ahead_for_the_next(batch, corpus):
    makers: dict = {}
    first = Draws(batch, 4, CPU, makers)
    first.make_all()
    assert not first.made  # nobody knows yet
    assert same(taken(batch, first), taken(batch, None))
    names = ["noise", "repeated 2/noise", "all/noise", "all/repeated 2/noise"]
    assert [*first.made] == [*makers] == names

    following = Batches(corpus, 20, Streams(3), are_fixed=True).batch(5)
    ahead = Draws(following, 5, CPU, makers)
    ahead.make_all()
    assert [*ahead.made] == names
    ahead.host = None  # as in a recorded step
    assert same(taken(following, ahead, 5), taken(following, None, 5))
    assert not same(taken(following, ahead, 5), taken(batch, first))


def test_a_draw_is_made_once_a_step(batch):
    calls = []

    def counted(host, step):
        calls.append(step)
        return (host.ids,)

    mine = replace(batch, draws=Draws(batch, 4, CPU, {}))
    assert mine.drawn("ids", 4, counted)[0] is mine.drawn("ids", 4, counted)[0]
    assert calls == [4]


def test_without_the_batch_on_the_host_a_new_draw_is_refused_by_its_name(batch):
    draws = Draws(batch, 4, CPU, {})
    taken(batch, draws)
    draws.host = None
    taken(batch, draws)
    with pytest.raises(AssertionError, match="repeated 3/noise is drawn inside a recorded step"):
        replace(batch, draws=draws).repeated(3).drawn("noise", 4, noise)
