"""The cells of a grid: planned whole, and of a grid that has grown only the new ones."""

import pytest

from tests.on_ray.queue.world import World
from tests.on_ray.world import grid_of


@pytest.fixture
def grid_content(study_content):
    grid = {"axes": {"rho": [0.0, 0.5]}, "rows": {"strong": {"alpha": 1e-3}}}
    return grid_of(study_content, grid=grid, seeds=[0, 1])


def test_a_grid_is_planned_whole_and_run_in_order(opened, grid_content):
    world = opened(World, grid_content)
    queue = world.grid()
    planned = [(n, seed) for n in range(3) for seed in (0, 1)]
    assert [(c.trial, c.seed, c.status) for c in world.ledger.cells()] == [
        (*one, "planned") for one in planned
    ]
    ran = world.run(queue)
    assert [(cell.number, cell.seed) for cell in ran] == planned
    assert [cell.label for cell in ran] == [*[""] * 4, "strong", "strong"]
    assert world.grid().num_left == 0


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"seeds": [0, 1, 2]}, [(0, 2), (1, 2), (2, 2)]),
        (
            {"grid": {"axes": {"rho": [0.0, 0.25, 0.5]}, "rows": {"strong": {"alpha": 1e-3}}}},
            [(3, 0), (3, 1)],
        ),
        ({"grid": {"axes": {"rho": [0.0, 0.5]}}}, []),
    ],
    ids=["a seed more", "a row in between", "a row less"],
)
def test_a_grown_grid_runs_exactly_what_is_new(opened, grid_content, change, expected):
    world = opened(World, grid_content)
    world.run(world.grid())
    before = {cell.identity: cell.trial for cell in world.ledger.cells()}
    grown = opened(World, grid_content | change)
    ran = grown.run(grown.grid())
    assert [(cell.number, cell.seed) for cell in ran] == expected
    assert before.items() <= {cell.identity: cell.trial for cell in grown.ledger.cells()}.items()


def test_a_row_taken_away_is_retired_and_comes_back_without_running(opened, grid_content):
    world = opened(World, grid_content)
    world.run(world.grid())
    less = opened(World, grid_content | {"grid": {"axes": {"rho": [0.0, 0.5]}}})
    less.grid()
    assert [cell.label for cell in less.ledger.cells() if cell.retired] == ["strong", "strong"]
    back = opened(World, grid_content)
    assert back.grid().num_left == 0
    assert not any(cell.retired for cell in back.ledger.cells())
