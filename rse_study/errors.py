"""Errors a user can act on; any other exception that escapes is a bug."""

from collections.abc import Collection
from functools import partial
from typing import Any

GOES_ON = "the same command resumes the run"


class InputError(Exception):
    """Bad input: what is wrong, where, the rule, and the remedy. Exit code 2.

    It is raised at the boundary: files, YAML, the command line.

    >>> print(InputError("rho = 2", where="a.yaml", rule="must be <= 1", remedy="Lower it"))
    a.yaml: rho = 2: must be <= 1. Lower it
    """

    def __init__(self, what: str, *, where: str = "", rule: str = "", remedy: str = "") -> None:
        super().__init__(what, where, rule, remedy)
        self.what, self.where, self.rule, self.remedy = what, where, rule, remedy

    @property
    def problems(self) -> "list[InputError]":
        """Itself, or the several that it stands for."""
        return [self]

    def __str__(self) -> str:
        located = ": ".join(part for part in (self.where, self.what, self.rule) if part)
        return f"{located}. {self.remedy}" if self.remedy else located

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle rebuilds exceptions from positional arguments; ours are keywords.
        return partial(type(self), self.what), (), self.__dict__


class MissingFile(InputError):
    """A file that does not exist."""

    part = ""
    """the missing part of an incomplete set"""


class InputErrors(InputError):
    """Several problems in one file, reported together."""

    def __init__(self, problems: list[InputError]) -> None:
        super().__init__(f"{len(problems)} problem(s)")
        self._problems = problems

    @property
    def problems(self) -> list[InputError]:
        return self._problems

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,)


def refuse(problems: Collection[InputError]) -> None:
    """Raise all problems together, if there are any."""
    if problems:
        raise InputErrors([*problems])


def first_line(error: BaseException) -> str:
    r"""Return the first line of an error's message, else the name of its type.

    >>> first_line(OSError("no such file\nand more")), first_line(TimeoutError())
    ('no such file', 'TimeoutError')
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0]


class OverBudget(Exception):
    """A plan that costs more than was allowed. Exit code 4."""


class Unavailable(Exception):
    """A permanent loss of the storage or of Ray during a run. Exit code 3.

    Everything committed is kept; the same command resumes once it is back.

    >>> print(Unavailable("Ray ended 4 times", "Look at the machine's memory"))
    Ray ended 4 times. Look at the machine's memory
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy)
        self.what, self.remedy = what, remedy

    def __str__(self) -> str:
        return f"{self.what}. {self.remedy}" if self.remedy else self.what


class NonFiniteLoss(Exception):
    """A loss that became NaN or infinite; the run ends, and the reason is recorded."""

    def __init__(self, reason: str, step: int) -> None:
        super().__init__(reason, step)
        self.reason, self.step = reason, step

    def __str__(self) -> str:
        return f"step {self.step}: {self.reason}"

    @classmethod
    def parse(cls, text: str) -> "NonFiniteLoss":
        """Rebuild the error from its stored text."""
        step, _, reason = text.removeprefix("step ").partition(": ")
        return cls(reason, int(step))
