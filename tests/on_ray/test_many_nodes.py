"""Studies on several nodes that share nothing but a network and an S3 server end as on one node."""

from pathlib import Path

import pytest

from tests.nodes.ledgers import differences, rows_of
from tests.nodes.namespaces import needs_nodes
from tests.nodes.proving_ground import proving_ground
from tests.nodes.small_studies import TWO_WORKERS, grid, search
from tests.nodes.submission import attempts_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("many_nodes"), needs_nodes]


@pytest.fixture(scope="module")
def ground(data_dir):
    with proving_ground(data=data_dir) as ready:
        yield ready


def nodes_that_took_materials(ground) -> list[str]:
    """Workers on whose disk something lies that was taken from the storage."""
    storages = {one.name: Path(one.disk, "tmp/cache/storage") for one in ground.cluster.workers}
    return [name for name, storage in storages.items() if any(storage.rglob("*.safetensors"))]


def test_a_cell_may_have_its_two_workers_on_two_nodes(ground):
    study = grid("pairs", resources=TWO_WORKERS)
    alone = ground.alone(study, cpus=2)
    submitted = ground.submit(study)
    assert submitted.finish() == 0, submitted.text
    assert differences(rows_of(alone), rows_of(submitted.folder), tolerance=1e-5) == []
    assert {outcome for _, _, outcome, _ in attempts_of(submitted.folder)} == {"complete"}
    assert nodes_that_took_materials(ground) == ["rn2", "rn3"]


def test_a_search_and_its_confirmation_end_bit_for_bit_as_on_one_node(ground):
    """Its data, of which a real evaluation is made, are on the driver's disk alone."""
    study = search("sought", evaluations=["builtin/test", "STS-B/test"])
    alone = ground.alone(study)
    submitted = ground.submit(study)
    assert submitted.finish() == 0, submitted.text
    rows = rows_of(submitted.folder)
    assert differences(rows_of(alone), rows) == []
    stages = {row["stage"] for (table, _), row in rows.items() if table == "cells"}
    statuses = {row["status"] for (table, _), row in rows.items() if table == "cells"}
    assert stages == {"search", "confirm"} and statuses == {"complete", "stopped_early"}
    scored = {row["evaluation"] for (table, _), row in rows.items() if table == "evaluations"}
    assert "STS-B/test" in scored
    for worker in ground.cluster.workers:
        assert not worker.run(f"ls {next(iter(ground.hidden))} 2>/dev/null || true").stdout
