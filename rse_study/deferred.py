"""Modules and classes that are imported when they are first used.

A study is checked by the objects that train, and needs nothing of what they compute with: torch alone takes two seconds
to import. Whoever imports a name from `rse_study.tensors` or `rse_study.models` gets one of these.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class DeferredModule(ModuleType):
    """Stands for a module; imports it when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


class DeferredName(type):
    """Stands for a class or a function of a module that is not imported yet.

    Signatures may name it, `isinstance` asks the class itself, a call imports and calls it. It is no base class.
    """

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
        real = getattr(sys.modules.get(module), name, None)  # what is not imported has no instances
        return real is not None and isinstance(instance, real)
