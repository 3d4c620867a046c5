"""Work in a thread of its own, beside the main thread."""

from collections.abc import Iterable, Iterator
from queue import SimpleQueue
from threading import Event, Thread
from typing import Generic, TypeVar

Item = TypeVar("Item")
LOOK_SECONDS = 0.2
ENDING_SECONDS = 10.0
"""granted to the item in progress: an interpreter that ends while its thread computes may crash"""


class BackgroundWork(Generic[Item]):
    """A thread that makes items one by one while others take them.

    An error is raised where items are taken. The work must leave its files whole at any moment.
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
        """Yield the items that are made and not yet taken, without waiting."""
        over = not self._thread.is_alive()  # asked before the last look: what is added later is taken later
        while not self._made.empty():
            yield self._made.get()
        if over and self._error is not None:
            error, self._error = self._error, None
            raise error

    def rest(self, closing: Event) -> Iterator[Item]:
        """Yield all items not yet taken, once the last is made or `closing` is set."""
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
