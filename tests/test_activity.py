import signal
import threading

import pytest

from rse_study.activity import graceful_interrupt


def test_the_first_interrupt_is_told_and_the_second_one_stops():
    told = []
    before = signal.getsignal(signal.SIGINT)
    with graceful_interrupt(lambda: told.append(1)):
        signal.raise_signal(signal.SIGINT)
        assert told == [1]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert told == [1]
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_signals_alone():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work():
        with graceful_interrupt(lambda: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
