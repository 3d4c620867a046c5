"""Names to classes, with hints."""

import pytest

from rse_study.errors import InputError
from rse_study.registry import Registry, did_you_mean


def registry():
    return Registry("norm", {"l1": 1, "l2": 2, "linf": 3})


def test_get_iterate_and_add_each_name_once_without_sharing_entries():
    assert registry().get("l2") == 2
    assert list(registry()) == ["l1", "l2", "linf"]
    assert len(registry()) == 3
    names = registry()
    assert names.add("l0", 0) == 0
    with pytest.raises(AssertionError, match="twice"):
        names.add("l0", 1)
    entries = {"a": 1}
    Registry("thing", entries).add("b", 2)
    assert entries == {"a": 1}


def test_unknown_names_the_noun_the_place_and_the_nearest_or_all():
    with pytest.raises(InputError) as caught:
        registry().get("lin", where="study.yaml")
    assert str(caught.value) == "study.yaml: no such norm 'lin'. Did you mean 'linf'?"
    assert did_you_mean("zebra", ["l2", "l1"]) == "Known: l1, l2"
    assert did_you_mean("zebra", []) == ""
