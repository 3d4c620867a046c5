"""A clock that moves when a test says so."""


class Clock:
    """Stands for the module `time`."""

    now = 100.0

    def monotonic(self):
        return self.now
