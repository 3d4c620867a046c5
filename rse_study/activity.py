"""Activities: what takes a while and can be counted, as whoever waits hears of it.

A loop counts (`on_progress(done, total)`), its caller gives it a name (`advanced(name, done, total)`), and only the
command line draws: no other floor knows a screen.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

ProgressCallback = Callable[[int, int], None]
"""Is called by a loop with how many are done, and of how many."""


@runtime_checkable
class ActivityCallback(Protocol):
    """Gets how far an activity is, and messages about what was made."""

    def message(self, text: str) -> None:
        """A sentence for whoever waits."""

    def advanced(self, activity: str, done: int, total: int, detail: str = "") -> None:
        """An activity came so far; it has ended where `done` is `total`.

        Parameters
        ----------
        activity : str
            Its name, and what is counted: "tiny: masked-LM steps". The same name goes on with the same activity.
        done : int
            How many are done.
        total : int
            Of how many.
        detail : str
            What else is known of it now, such as its loss.
        """


class Silence:
    """An `ActivityCallback` for callers who do not wait."""

    def message(self, text: str) -> None:
        """Say nothing."""

    def advanced(self, activity: str, done: int, total: int, detail: str = "") -> None:
        """Show nothing.

        Parameters
        ----------
        activity : str
            Not used.
        done, total : int
            Not used.
        detail : str
            Not used.
        """


SILENCE = Silence()
