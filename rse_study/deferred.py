"""Modules and classes imported on first use, as torch alone takes two seconds."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class DeferredModule(ModuleType):
    """A stand-in that imports its module when an attribute is accessed."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


class DeferredName(type):
    """A stand-in for a class or a function; it cannot be a base class."""

    path: tuple[str, str]

    def __new__(mcs, module: str, name: str) -> "DeferredName":
        made = super().__new__(mcs, name, (), {"__module__": module, "__qualname__": name})
        made.path = module, name
        return made

    def __init__(cls, module: str, name: str) -> None:
        super().__init__(name, (), {})

    def __call__(cls, *values: Any, **options: Any) -> Any:
        module, name = cls.path
        return getattr(import_module(module), name)(*values, **options)

    def __instancecheck__(cls, instance: object) -> bool:
        module, name = cls.path
        real = getattr(sys.modules.get(module), name, None)  # without an import there are no instances
        return real is not None and isinstance(instance, real)
