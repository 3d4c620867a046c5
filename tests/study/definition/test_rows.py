import json
from itertools import combinations, product
from math import prod

import pytest

from rse_study.errors import InputErrors
from rse_study.study.checking.validation import check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build
from rse_study.study.definition.rows import GENERATORS, corners
from tests.cases import cases
from tests.study.no_search import ONLY_SEARCH

N = {"int": [1, 2], "into": ["pgd.num_steps", "fgsm.num_steps"]}


@pytest.fixture
def grid_of(content):
    def check(axes=None, rows=None, **changed):
        kept = {name: value for name, value in content.items() if name not in ONLY_SEARCH}
        whole = kept | {"grid": {"axes": axes or {}, "rows": rows or {}}} | changed
        return check_study(build(Study, json.loads(json.dumps(whole)), where="x.yaml"), where="x.yaml")

    return check


def problems(grid_of, axes=None, rows=None, **changed):
    with pytest.raises(InputErrors) as caught:
        grid_of(axes, rows, **changed)
    return [str(problem).removeprefix("x.yaml: ") for problem in caught.value.problems]


def test_the_first_axis_is_the_slowest_and_named_rows_come_last(grid_of):
    rows = grid_of(
        {"beta": [1e-3, 1e-2], "N": N}, {"none": {"N": 0, "lambda1": 0}, "small": {"lambda2": 0}}
    ).rows
    assert [(row.label, row.proposal) for row in rows] == [
        ("", {"beta": 1e-3, "N": 1}),
        ("", {"beta": 1e-3, "N": 2}),
        ("", {"beta": 1e-2, "N": 1}),
        ("", {"beta": 1e-2, "N": 2}),
        ("none", {"beta": 1e-3, "N": 0}),
        ("small", {"beta": 1e-3, "N": 5}),
    ]
    assert rows[3].trial.method.blend.fgsm.num_steps == 2
    assert rows[4].trial.method.blend.pgd.num_steps == 0


def test_a_row_writes_paths_suffixes_symbols_axes_and_mappings_over_the_base(grid_of):
    row = {"method.temperature": 0.1, "max_norm": 3, "rho": "1/4", "N": 7, "pgd.step_size": 1e-4}
    (*_, found) = grid_of({"N": N}, {"a": row}).rows
    method = found.trial.method
    assert (method.temperature, found.trial.optimizer.max_norm, method.blend.rho) == (0.1, 3.0, 0.25)
    assert (method.blend.pgd.num_steps, method.blend.fgsm.num_steps) == (7, 7)
    assert method.blend.pgd.step_size == 1e-4
    (found,) = grid_of(rows={"a": {"pgd": {"num_steps": 3}, "source": {"dataset": "org/name"}}}).rows
    assert found.trial.method.blend.pgd.num_steps == 3
    assert found.trial.method.blend.pgd.ball.radius == 1.0
    assert found.trial.corpus.source.kind == "hub"
    (*_, found) = grid_of({"N": N}, {"odd": {"pgd.num_steps": 3}}).rows
    assert found.proposal == {}
    checked = grid_of(rows={"paper": {}, "a": {"rho": 0.25}})
    paper, changed = (row.trial for row in checked.rows)
    assert paper == checked.study.base
    expected = paper.model_dump(exclude={"method": {"blend": {"rho"}}})
    assert changed.model_dump(exclude={"method": {"blend": {"rho"}}}) == expected


def test_rows_of_one_configuration_are_named_and_what_is_wrong_in_many_is_said_once(grid_of):
    expected = ["grid.rows.two: the same configuration as row 'one'. Remove one of them"]
    assert problems(grid_of, rows={"one": {}, "two": {"rho": "1/2"}}) == expected
    expected = ["grid.rows.two: the same configuration as row rho = 0.5. Remove one of them"]
    assert problems(grid_of, {"rho": [0, 0.5]}, {"two": {"lambda1": 1 / 128}}) == expected
    found = problems(grid_of, {"rho": [0, 0.5, 2], "beta": [1e-3, 2e-3, 3e-3]})
    assert found == [
        "grid.axes.rho = 2: method.blend.rho = 2: must be <= 1. Use a number >= 0 and <= 1; the default is 0.5"
    ]
    (found,) = problems(grid_of, {"N": {**N, "int": [0, 2]}, "lambda1": [0, 0.1, 0.2]})
    assert found.startswith("grid: N = 0, lambda1 = 0.1: method: lambda1 > 0 needs an adversarial view")


def test_every_problem_of_every_row_and_of_other_fields_is_said(grid_of):
    rows = {
        "a": {"roh": 1},
        "b": {"rho": 7, "lambda1": -1},
        "c": {"blend.rho": 0, "rho": 1},
        "d": {"lambda2": "x"},
    }
    assert problems(grid_of, {"bta": [1, 2]}, rows) == [
        "grid.axes.bta: no such field or symbol of Trial. Did you mean 'beta'?",
        "grid.rows.a.roh: no such field or symbol of Trial. Did you mean 'rho'?",
        "grid.rows.b.rho = 7: method.blend.rho = 7: must be <= 1. Use a number >= 0 and <= 1; the default is 0.5",
        "grid.rows.b.lambda1 = -1: method.lambda1 = -1: must be >= 0. Use a number >= 0; the default is 0.0078125",
        "grid.rows.c.rho: writes a field that grid.rows.c.blend.rho writes too. Keep one of them",
        "grid.rows.d.lambda2 = x: method.lambda2 = 'x': must be a number. Write a number; the default is 0.005",
    ]
    found = problems(grid_of, {"rho": [0, 2]}, evaluations=["STS-C/test"], seeds=[1, 1])
    expected = ["seeds.1 = 1", "evaluations.0 = 'STS-C/test'", "grid.axes.rho = 2"]
    assert [line.split(": ")[0] for line in found] == expected


def test_an_axis_of_a_grid_lists_values_and_not_too_many(grid_of):
    with pytest.raises(InputErrors) as caught:
        grid_of({"alpha": {"log": [1e-6, 1e-3]}, "beta": [1e-3], "rho": {"choice": [0.1]}})
    text = str(caught.value)
    words = "grid.axes.alpha: an axis of a grid lists its values, `[...]` or `choice: [...]`, or says `int:"
    assert words in text
    assert "grid.axes.beta: must list at least 2 values. A single value belongs in the base" in text
    assert "grid.axes.rho.choice: must have at least 2 item(s)" in text
    axes = {name: list(range(1, 101)) for name in ("max_length", "budget.amount", "report_every")}
    assert problems(grid_of, axes) == ["grid: 1000000 rows: at most 100000 rows. Use fewer values"]


def test_a_row_may_change_a_method_or_name_another_or_a_preset_over_the_base(grid_of):
    rows = {"weaker": {"method": {"lambda1": 0.5}}, "L2P-CSR": {"method": {"name": "l2p_csr"}}}
    same, other = grid_of(rows=rows).rows
    expected = (0.5, grid_of(rows={"base": {}}).rows[0].trial.method.blend)
    assert (same.trial.method.lambda1, same.trial.method.blend) == expected
    assert other.trial.method.name == "l2p_csr"
    assert other.trial.method.masks.phi == 0.05
    (simcse, other) = grid_of(
        None, {"SimCSE": {"preset": "simcse", "temperature": 0.1}, "L2P": {"preset": "l2p_released"}}
    ).rows
    assert (simcse.trial.method.blend.pgd.num_steps, simcse.trial.method.temperature) == (0, 0.1)
    assert simcse.trial.method.blend.pgd.ball == simcse.trial.method.blend.fgsm.ball
    assert (other.trial.method.name, other.trial.method.masks.num_steps) == ("l2p_csr", 4)


def test_a_preset_and_a_setting_do_not_write_one_field(grid_of):
    (told,) = problems(grid_of, None, {"SimCSE": {"preset": "simcse", "lambda1": 0.5}})
    assert "grid.rows.SimCSE.lambda1: writes a field that grid.rows.SimCSE.preset writes too" in told
    (told,) = problems(grid_of, None, {"SimCSE": {"preset": "simsce"}})
    assert "no such preset 'simsce'" in told
    assert "Did you mean 'simcse'?" in told


DESIGNS = [
    (k, resolution) for k in GENERATORS for resolution in (3, 4, 5) if resolution <= max(GENERATORS[k])
]


def words_of(rows):
    """Number of factors in each product of columns that is the same in all rows."""
    signs = [[2 * level - 1 for level in row] for row in rows]
    k = len(rows[0])
    terms = [term for size in range(1, k + 1) for term in combinations(range(k), size)]
    return sorted(len(term) for term in terms if len({prod(row[n] for n in term) for row in signs}) == 1)


@cases(("k", "resolution"), DESIGNS)
def test_a_fraction_has_its_resolution_balanced_factors_and_the_corner_of_second_levels(k, resolution):
    rows = list(corners(k, resolution))
    words = words_of(rows)
    assert words[0] >= resolution
    assert len(words) + 1 == 2**k // len(rows)
    assert (1,) * k in rows
    assert len(set(rows)) == len(rows)
    assert all(sum(column) * 2 == len(rows) for column in zip(*rows, strict=True))


def test_a_full_design_is_every_corner_with_the_first_factor_slowest():
    assert list(corners(3, "full")) == list(product((0, 1), repeat=3))


@pytest.fixture
def design_of(content):
    def check(factors, **grid):
        kept = {name: value for name, value in content.items() if name not in ONLY_SEARCH}
        rows = {"SimCSE": {"preset": "simcse"}}
        whole = kept | {"grid": {"factorial": factors, "rows": rows} | grid}
        return check_study(build(Study, json.loads(json.dumps(whole)), where="x.yaml"), where="x.yaml")

    return check


FOUR = {"rho": [0, 0.5], "phi": [0, 0.1], "beta": [1e-3, 1e-2], "lambda2": [0, 0.01]}


def test_corners_are_ordinary_rows_of_a_grid_whose_labels_are_their_levels(design_of):
    checked = design_of(
        {"eta": {"variants": {"off": {"token_level.presence": "absent"}, "on": {}}}, "rho": [0, 0.5]}
    )
    assert [(row.label, row.proposal) for row in checked.rows] == [
        ("", {"eta": "off", "rho": 0}), ("", {"eta": "off", "rho": 0.5}),
        ("", {"eta": "on", "rho": 0}), ("", {"eta": "on", "rho": 0.5}),
        ("SimCSE", {}),
    ]  # fmt: skip
    off, on = checked.rows[1].trial.method, checked.rows[3].trial.method
    assert (off.token_level.presence, on.token_level.presence, on.blend.rho) == ("absent", "present", 0.5)
    assert len(design_of(FOUR, resolution=4).rows) == 8 + 1
    assert checked.num_cells == 5 * len(checked.study.seeds)


def test_what_cannot_be_a_design_is_refused_with_its_way_out(design_of):
    def said(factors, **grid):
        with pytest.raises(InputErrors) as caught:
            design_of(factors, **grid)
        return [str(problem).removeprefix("x.yaml: ") for problem in caught.value.problems]

    one = {"rho": [0, 0.5]}
    assert said(one) == [
        "grid.factorial: 1 factor: must have at least 2 factors. Name another one, or use `axes`"
    ]
    assert said({**one, "phi": [0, 0.1, 0.2]}) == [
        "grid.factorial.phi: a factor has two levels, and 3 are listed. Use `axes` for more"
    ]
    assert said(FOUR, resolution=5) == [
        "grid.resolution = 5: no fraction of 2^4 has it, only 3 and 4. Use `resolution: full`, or 4"
    ]
    assert said({**one, "phi": [0, 0.1]}, resolution=3) == [
        "grid.resolution = 3: no fraction of 2^2 has it. Use `resolution: full`"
    ]
    assert said(FOUR, axes={"tau": [0.05, 0.1]}) == [
        "grid.axes: a grid crosses its axes or has a factorial design, never both. Make each axis a factor of two "
        "levels"
    ]
    assert said({}, resolution=3) == [
        "grid.resolution = 3: belongs to `factorial`, and the grid has none. Remove it, or name factors"
    ]
    steps = {"choice": [0, 5], "into": ["pgd.num_steps", "fgsm.num_steps"]}
    assert said({"N": steps, "lambda1": [0, 0.1]}) == [
        "grid: N = 0, lambda1 = 0.1: method: lambda1 > 0 needs an adversarial view. Set num_steps > 0, or "
        "lambda1: 0"
    ]
