"""Work in a thread of its own, beside what the main thread does."""

from collections.abc import Iterable, Iterator
from queue import SimpleQueue
from threading import Event, Thread
from typing import Generic, TypeVar

Item = TypeVar("Item")
LOOK_SECONDS = 0.2
ENDING_SECONDS = 10.0
"""for the item under way: an interpreter that ends while its thread computes may crash"""


class BackgroundWork(Generic[Item]):
    """Something that makes items one by one, beside whoever takes them.

    What it raises is raised where its items are taken. A context: at its end the item under way is waited for, but not
    for ever, and no other is made. What it writes is to be whole at any moment.

    Parameters
    ----------
    items : iterable
        Is iterated in a thread of its own, from now on.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._made: SimpleQueue[Item] = SimpleQueue()
        self._error: BaseException | None = None
        self._is_over = Event()
        self._thread = Thread(target=self._make, args=(items,), name="background work", daemon=True)
        self._thread.start()

    def __enter__(self) -> "BackgroundWork[Item]":
        return self

    def __exit__(self, *raised: object) -> None:
        self._is_over.set()
        self._thread.join(ENDING_SECONDS)

    def made(self) -> Iterator[Item]:
        """The items that are made and not taken yet; waits for none."""
        over = not self._thread.is_alive()  # asked before the last look: what is added later is taken later
        while not self._made.empty():
            yield self._made.get()
        if over and self._error is not None:
            error, self._error = self._error, None
            raise error

    def rest(self, closing: Event) -> Iterator[Item]:
        """All that are not taken yet, when the last one is made or `closing` is set."""
        while self._thread.is_alive() and not closing.is_set():
            self._thread.join(LOOK_SECONDS)
        yield from self.made()

    def _make(self, items: Iterable[Item]) -> None:
        try:
            for item in items:
                self._made.put(item)
                if self._is_over.is_set():
                    break
        except BaseException as error:  # raised again in the thread that takes
            self._error = error
