"""Packages of extras, imported when a tracker is opened."""

from importlib import import_module
from types import ModuleType

from rse_study.errors import InputError


def import_extra(module: str, extra: str, package: str = "") -> ModuleType:
    """Import a module of an extra; InputError names the package to install."""
    try:
        return import_module(module)
    except ImportError as error:
        remedy = f"pip install 'rse-study[{extra}]', or: pip install {package or extra}"
        what = f"{error.name or module} is not installed"
        raise InputError(what, where=f"--to {extra}", rule="it is an extra", remedy=remedy) from None
