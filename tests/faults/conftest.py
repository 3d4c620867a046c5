"""The grid that is killed, interrupted and made to suffer, and once undisturbed: what all of them must equal."""

import pytest

from tests.faults.drivers import Scene, contents
from tests.on_ray.world import STUDY, make_materials

NUM_STEPS = 40  # long enough for a cell to be caught at its second
SMALL_GRID = {
    key: value for key, value in STUDY.items() if key not in ("search", "num_trials", "sampler")
} | {
    "name": "grid",
    "base": STUDY["base"] | {"budget": {"unit": "steps", "amount": NUM_STEPS}},
    # The last row asks for more memory at its first step than its process has by then: see test_workers.
    "grid": {"axes": {"rho": [0.0, 1.0]}, "rows": {"strong": {"alpha": 1e-3, "batch_size": 64}}},
    "seeds": [0, 1],
    "evaluations": ["builtin/test"],
}


@pytest.fixture(scope="session")
def scene(tmp_path_factory) -> Scene:
    root = tmp_path_factory.mktemp("faults")
    make_materials(root / "world")
    return Scene(SMALL_GRID, root / "world", root)


@pytest.fixture(scope="session")
def whole(scene, cluster) -> dict[str, list]:
    """The contents of the grid that nothing happened to, in the scene's folder of the name `whole`."""
    folder = scene.folder("whole")
    scene.finish_here(folder, cluster)
    return contents(folder)
