"""Names to classes, with hints."""

import pytest

from rse_study.errors import InputError
from rse_study.registry import Registry, did_you_mean


def registry():
    return Registry("norm", {"l1": 1, "l2": 2, "linf": 3})


def test_get_and_iterate():
    assert registry().get("l2") == 2
    assert list(registry()) == ["l1", "l2", "linf"]
    assert len(registry()) == 3


def test_unknown_names_the_noun_the_place_and_the_nearest():
    with pytest.raises(InputError) as caught:
        registry().get("lin", where="study.yaml")
    assert str(caught.value) == "study.yaml: no such norm 'lin'. Did you mean 'linf'?"


def test_nothing_near_lists_all():
    assert did_you_mean("zebra", ["l2", "l1"]) == "Known: l1, l2"
    assert did_you_mean("zebra", []) == ""


def test_a_name_is_taken_once():
    names = registry()
    assert names.add("l0", 0) == 0
    with pytest.raises(AssertionError, match="twice"):
        names.add("l0", 1)


def test_a_registry_does_not_share_its_entries():
    entries = {"a": 1}
    Registry("thing", entries).add("b", 2)
    assert entries == {"a": 1}
