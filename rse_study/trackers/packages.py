"""Packages that are extras: they are imported when a tracker is opened."""

from importlib import import_module
from types import ModuleType

from rse_study.errors import InputError


def import_extra(module: str, extra: str, package: str = "") -> ModuleType:
    """Import a module of an extra.

    Parameters
    ----------
    module
        Its dotted name.
    extra
        The extra that brings it.
    package
        What pip calls it, where that is not the extra's name.

    Raises
    ------
    InputError
        where it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        remedy = f"pip install 'rse-study[{extra}]', or: pip install {package or extra}"
        what = f"{error.name or module} is not installed"
        raise InputError(what, where=f"--to {extra}", rule="it is an extra", remedy=remedy) from None
