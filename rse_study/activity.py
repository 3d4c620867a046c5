"""Progress of activities that take a while and can be counted.

A loop counts (`on_progress`), its caller names the activity (`advanced`), and only the command line draws.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

ProgressCallback = Callable[[int, int], None]
"""Called by a loop with the numbers done and in all."""


@runtime_checkable
class ActivityCallback(Protocol):
    """Receives the progress of activities, and messages about results."""

    def message(self, text: str) -> None:
        """Take a sentence for the user."""

    def advanced(self, activity: str, done: int, total: int, detail: str = "") -> None:
        """Take an activity's progress; it has ended when `done` equals `total`.

        The name also says the unit: "tiny: masked-LM steps". `detail` is anything else worth showing, such as the loss.
        """


class Silence:
    """An `ActivityCallback` that ignores everything."""

    def message(self, text: str) -> None:
        """Say nothing."""

    def advanced(self, activity: str, done: int, total: int, detail: str = "") -> None:
        """Show nothing."""


SILENCE = Silence()
