"""Cells that run again are counted and named alike, whoever asks."""

import pytest

from rse_study.errors import InputError
from rse_study.methods.robust_sent_embed import RobustSentEmbed
from rse_study.study.planning.plan import plan_study
from tests.cases import cases
from tests.on_ray.world import make_materials
from tests.study.a_grid import on_another, run, write

ALL = "one (seeds 0, 1); two (seeds 0, 1)"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    root = tmp_path_factory.mktemp("again")
    checked, materials = write(root / "a.yaml"), make_materials(root / "world")
    run(checked, root / "mine", materials)
    return root, checked, materials


def planned(world, prepare):
    root, checked, _ = world
    return plan_study(checked, root, prepare)


def test_nothing_runs_again_on_the_same_materials(world):
    found = planned(world, lambda trial: world[2])
    assert (found.num_to_run, found.notes) == (0, ())


@cases("part", ["corpus", "base"])
def test_an_edited_part_is_planned_priced_and_named(world, part):
    found = planned(world, lambda trial: on_another(part, world[2]))
    assert [(stage.num_to_run, stage.num_steps) for stage in found.stages] == [(4, 12)]
    assert f"cells that run again (4), since {part} was tiny and is other: {ALL}" in found.notes


def test_other_semantics_are_seen_with_and_without_the_materials(world, monkeypatch):
    monkeypatch.setattr(RobustSentEmbed, "semantics", 2)

    def absent(trial):
        raise InputError("not here")

    for prepare in (lambda trial: world[2], absent, None):
        found = planned(world, prepare)
        assert found.num_to_run == 4
        assert f"cells that run again (4), since its code computes other numbers: {ALL}" in found.notes


def test_cells_of_an_earlier_corpus_count_again_when_it_is_back(world, tmp_path):
    _, checked, materials = world
    run(checked, tmp_path / "mine", materials)
    run(checked, tmp_path / "mine", on_another("corpus", materials))
    found = plan_study(checked, tmp_path, lambda trial: materials)
    assert (found.num_to_run, found.notes) == (0, ())
