"""Work in another thread: its items and its errors come where they are taken."""

from threading import Event, Timer, get_ident

import pytest

from rse_study.errors import InputError
from rse_study.on_ray.scoring import BackgroundWork


def test_items_are_made_in_another_thread_and_taken_in_order():
    work = BackgroundWork(get_ident() for _ in range(3))
    first, *others = work.rest(Event())
    assert others == [first, first]
    assert first != get_ident()


def test_what_is_not_made_yet_is_not_waited_for():
    go_on = Event()

    def items():
        yield 1
        go_on.wait()
        yield 2

    work = BackgroundWork(items())
    taken = []
    while not taken:
        taken = list(work.made())
    assert taken == [1]
    go_on.set()
    assert list(work.rest(Event())) == [2]


def test_what_it_raises_comes_once_and_after_its_items():
    def items():
        yield 1
        raise InputError("no pairs")

    work, taken = BackgroundWork(items()), []
    with pytest.raises(InputError, match="no pairs"):
        taken.extend(work.rest(Event()))
    assert taken == [1]
    assert list(work.made()) == []


def test_a_run_that_closes_does_not_wait():
    go_on, closing = Event(), Event()
    closing.set()
    work = BackgroundWork(go_on.wait() for _ in range(1))
    assert list(work.rest(closing)) == []
    go_on.set()


def test_who_leaves_waits_for_the_item_under_way_and_no_other_is_made():
    begun, go_on, made = Event(), Event(), []

    def items():
        for number in range(3):
            begun.set()
            go_on.wait()
            made.append(number)
            yield number

    with BackgroundWork(items()) as work:
        begun.wait()
        Timer(0.1, go_on.set).start()
    assert made == [0]
    assert list(work.made()) == [0]
