"""Registries of named entries, with a hint for a mistyped name."""

import difflib
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from rse_study.errors import InputError

T = TypeVar("T")


class Registry(Generic[T]):
    """Entries that a configuration chooses by name, listed in a folder's `__init__`."""

    def __init__(self, noun: str, entries: dict[str, T] | None = None) -> None:
        self.noun, self._entries = noun, dict(entries or {})

    def add(self, name: str, entry: T) -> T:
        """Register `entry` under a name that is still free."""
        assert name not in self._entries, f"{self.noun} {name} is registered twice"
        self._entries[name] = entry
        return entry

    def get(self, name: str, *, where: str = "") -> T:
        """Return the entry called `name`; InputError suggests a similar name."""
        if name in self._entries:
            return self._entries[name]
        raise InputError(
            f"no such {self.noun} {name!r}", where=where, remedy=did_you_mean(name, self._entries)
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Return "Did you mean 'x'?" if a name is similar, else list the options.

    >>> did_you_mean("num_step", ["num_steps", "sigma"])
    "Did you mean 'num_steps'?"
    """
    names = [str(option) for option in options]
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"Known: {', '.join(sorted(names))}" if names else ""
