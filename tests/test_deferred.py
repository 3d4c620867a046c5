"""What stands for a module or a class until it is used."""

import colorsys
import sys
from fractions import Fraction

import pytest

from rse_study.deferred import DeferredModule, DeferredName

UNUSED = "this"  # a module of Python's that nothing imports, for what it prints


def test_a_module_or_class_is_what_it_stands_for(monkeypatch):
    module = DeferredModule("colorsys")
    assert module.rgb_to_hsv is colorsys.rgb_to_hsv
    monkeypatch.setattr(colorsys, "rgb_to_hsv", len)
    assert module.rgb_to_hsv is len
    with pytest.raises(AttributeError, match="no_such"):
        _ = module.no_such
    deferred = DeferredName("fractions", "Fraction")
    assert deferred(1, denominator=2) == Fraction(1, 2)
    assert isinstance(Fraction(1, 2), deferred)
    assert not isinstance(0.5, deferred)
    assert (deferred.__module__, deferred.__qualname__) == ("fractions", "Fraction")
    assert DeferredName("math", "gcd")(4, 6) == 2


def test_naming_imports_nothing():
    module, name = DeferredModule(UNUSED), DeferredName(UNUSED, "d")

    def named(one: name, other: "module.d") -> name | None:
        return None

    assert not isinstance(0, name)
    assert named(0, 0) is None
    assert UNUSED not in sys.modules
