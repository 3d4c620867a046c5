from importlib.resources import files
from pathlib import Path

import pytest

from rse_study.study.checking.validation import read_study

JOINT = Path(str(files("search_spaces"))) / "joint.yaml"


@pytest.fixture(scope="module")
def space():
    return read_study(JOINT).space


def test_an_axis_writes_all_its_fields_and_what_none_names_stays_as_it_is(space):
    trial = space.apply({"N": 7, "norm": "l2"})
    method = trial.method
    assert (method.blend.pgd.num_steps, method.blend.fgsm.num_steps) == (7, 7)
    assert {method.blend.pgd.ball.norm, method.blend.fgsm.ball.norm, method.token_level.ball.norm} == {"l2"}
    assert space.apply({}) == space.base
    changed = space.apply({"rho": 0.25})
    assert changed.method.blend.rho == 0.25
    expected = space.base.model_dump(exclude={"method": {"blend": {"rho"}}})
    assert changed.model_dump(exclude={"method": {"blend": {"rho"}}}) == expected
    assert space.apply(space.base_point) == space.base
    assert space.base_point["lambda1"] == 1 / 128


def test_a_search_over_norm_and_n_by_symbol_is_the_one_that_lists_their_fields(space, tmp_path):
    short = tmp_path / "short.yaml"
    short.write_text(f"extends: {JOINT}\nsearch: {{N: {{int: [1, 16]}}, norm: {{choice: [l1, l2, linf]}}}}\n")
    found = read_study(short).space
    assert {(axis.name, axis.symbol, axis.paths) for axis in found.axes} == {
        (axis.name, axis.symbol, axis.paths) for axis in space.axes
    }
    assert found.base_point == space.base_point
