"""Types and shapes of rse_study under pytest, for a third of what jaxtyping's own decorator costs.

That one makes two more functions of each function and asks both about every argument at each call; of a function within
a function it makes them whenever that is defined. Here beartype asks once, jaxtyping's axes go along only where a
signature has shapes, and functions within functions are left as they are.

pyproject.toml loads it as a plugin, before anything of rse_study is imported.
"""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, get_args

import jaxtyping

with_axes = jaxtyping.jaxtyped


def has_shapes(hint: Any) -> bool:
    """Whether an annotation has shapes, in a union or a container too."""
    return issubclass(type(hint), type(jaxtyping.AbstractArray)) or any(map(has_shapes, get_args(hint)))


def decorator(*, typechecker: Callable[..., Any]) -> Callable[[Any], Any]:
    """What jaxtyping's import hook writes over every function and class."""

    def checked(made: Any) -> Any:
        if inspect.isclass(made):
            if dataclasses.is_dataclass(made) and "__init__" in vars(made):
                made.__init__ = checked(made.__init__)
            return made
        if "<locals>" in made.__qualname__:
            return made
        asked = typechecker(made)
        has_axes = any(map(has_shapes, made.__annotations__.values()))
        return with_axes(asked, typechecker=None) if has_axes else asked

    return checked


jaxtyping.jaxtyped = decorator
