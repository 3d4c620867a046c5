"""What the coordinator's actor knows of groups of workers that stay. Without Ray, in one event loop."""

import asyncio

from rse_study.on_ray.workers import IS_TAKEN, Exchange

SECONDS = 0.05
CELL, OTHER = {"cell": "a"}, {"cell": "b"}
ENDED = {"reason": "", "for_good": False}


def in_a_loop(script):
    """The test of a script on an exchange that nobody has asked yet."""

    def test():
        asyncio.run(script(Exchange()))

    return test


async def waits(call) -> bool:
    """Whether a call has no answer yet."""
    done, _ = await asyncio.wait([call], timeout=SECONDS)
    return not done


@in_a_loop
async def test_a_cell_goes_to_its_group_and_its_points_and_end_come_back(exchange):
    asked = asyncio.ensure_future(exchange.next_cell("group", 0))
    assert await waits(asked)
    reports = asyncio.ensure_future(exchange.reports("group", 1, CELL, []))
    assert await asked == (1, CELL)
    assert await waits(reports)
    await exchange.tell("group", 1, {"first": {"t": 0}})
    assert await reports == ({"first": {"t": 0}}, None)
    more = asyncio.ensure_future(exchange.reports("group", 1, CELL, ["first"]))
    assert await waits(more)
    await exchange.tell("group", 1, ended=ENDED)
    assert await more == ({}, ENDED)


@in_a_loop
async def test_the_next_cell_begins_without_points_of_the_one_before(exchange):
    await exchange.tell("group", 1, {"unread": {"t": 0}})
    await exchange.tell("group", 1, ended=ENDED)
    reports = asyncio.ensure_future(exchange.reports("group", 2, OTHER, []))
    assert await waits(reports)
    assert await exchange.next_cell("group", 1, ENDED) == (2, OTHER)
    assert await waits(reports)  # an end that comes late is the first cell's
    reports.cancel()


@in_a_loop
async def test_who_waits_for_a_cell_is_told_that_there_are_no_more(exchange):
    asked = asyncio.ensure_future(exchange.next_cell("group", 0))
    assert await waits(asked)
    await exchange.keep_groups(False)
    assert await asked is None
    assert await exchange.num_groups() == 1
    await exchange.leave_group("group")
    assert await exchange.num_groups() == 0


@in_a_loop
async def test_a_trial_hears_that_its_group_has_gone_and_whether_it_had_taken_the_cell(exchange):
    for is_taken in (False, True):
        reports = asyncio.ensure_future(exchange.reports("group", 1, CELL, []))
        assert await waits(reports)
        await exchange.next_cell("group", 0)
        if is_taken:  # said by the worker itself: whoever asked for the cell may be dead
            await exchange.tell("group", 1)
        await exchange.leave_group("group")
        assert await reports == ({}, {IS_TAKEN: is_taken})


@in_a_loop
async def test_a_cell_of_which_something_is_told_is_taken_though_the_actor_is_another(exchange):
    await exchange.tell("group", 2, {"first": {"t": 0}})
    await exchange.reports("group", 2, CELL, [])
    reports = asyncio.ensure_future(exchange.reports("group", 2, CELL, ["first"]))
    assert await waits(reports)
    await exchange.leave_group("group")
    assert await reports == ({}, {IS_TAKEN: True})
    later = asyncio.ensure_future(exchange.reports("group", 3, OTHER, []))
    assert await waits(later)
    await exchange.leave_group("group")
    assert await later == ({}, {IS_TAKEN: False})


@in_a_loop
async def test_an_actor_that_is_made_again_is_told_by_those_who_ask_again(exchange):
    """Cell 3 was under way: its trial and its workers repeat what they had asked the actor before."""
    await exchange.tell("group", 3, {"fifth": {"t": 5}})
    reports = await exchange.reports("group", 3, CELL, ["fourth"])
    assert reports == ({"fifth": {"t": 5}}, None)
    asked = asyncio.ensure_future(exchange.next_cell("group", 3, ENDED))
    assert await exchange.reports("group", 3, CELL, ["fifth"]) == ({}, ENDED)
    assert await waits(asked)
    asked.cancel()


@in_a_loop
async def test_a_point_that_is_told_twice_comes_once(exchange):
    for _ in range(2):
        await exchange.tell("group", 1, {"first": {"t": 0}})
    assert await exchange.reports("group", 1, CELL, []) == ({"first": {"t": 0}}, None)
