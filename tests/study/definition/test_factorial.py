"""Two-level designs: which corners they have, that no better fraction exists, and what is refused."""

import json
from itertools import combinations, product
from math import prod

import pytest

from rse_study.errors import InputErrors
from rse_study.study.checking.validation import check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.factorial import GENERATORS, corners
from rse_study.study.definition.reading import build
from tests.cases import cases
from tests.study.no_search import ONLY_SEARCH

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
