"""A finished cell again: the same bits, or the first that differs is named."""

import json
import math
from pathlib import Path

import pytest

from rse_study.errors import InputError, NonFiniteLoss
from rse_study.evaluation.sts import DIGITS
from rse_study.results.bit_equality import SIMILARITY_DIGITS
from rse_study.results.files.result_file import Point, Result, read_result
from rse_study.training.loop import drive, train
from rse_study.training.replay import ReplayDifference, compare, replay
from rse_study.training.trial import Trial
from tests.training.world import Complete, World, leave_at, light_trial, stop_at


def again(world: World, trial: Trial, recorded: Result, directory: Path, seed: int = 3):
    return replay(trial, seed, world.materials(), recorded, directory, threads=1)


@pytest.mark.parametrize("last", [None, 6], ids=["complete", "stopped early"])
def test_a_replay_has_the_same_bits(world: World, light: Complete, tmp_path: Path, last: int | None) -> None:
    if last:
        drive(train(light_trial(), 3, world.materials(), tmp_path / "first"), stop_at(last))
    recorded = read_result(tmp_path / "first" if last else light.folder)
    found = again(world, light_trial(), recorded, tmp_path / "again")
    assert found.is_equal, found.differences
    assert found.num_points == len(recorded.history) == (5 if last else 8)
    assert read_result(tmp_path / "again").history[-1].t == recorded.history[-1].t


def test_a_lost_loss_is_lost_again(world: World, tmp_path: Path) -> None:
    trial = light_trial(optimizer={"lr": 1e30, "max_norm": 1e30})
    with pytest.raises(NonFiniteLoss):
        list(train(trial, 3, world.materials(), tmp_path / "first"))
    assert again(world, trial, read_result(tmp_path / "first"), tmp_path / "again").is_equal


def test_the_first_difference_is_named(world: World, light: Complete, tmp_path: Path) -> None:
    recorded = read_result(light.folder)
    bent = [point.model_dump() for point in recorded.history]
    loss = bent[3]["metrics"]["loss"]
    bent[3]["metrics"]["loss"] = math.nextafter(loss, math.inf)
    forged = recorded.model_copy(update={"history": tuple(Point(**point) for point in bent)})
    found = again(world, light_trial(), forged, tmp_path / "again")
    (difference,) = found.differences
    assert not found.is_equal
    assert difference == ReplayDifference(bent[3]["t"], "loss", math.nextafter(loss, math.inf), loss)


def test_only_the_recorded_cell_in_an_empty_folder(world: World, light: Complete, tmp_path: Path) -> None:
    recorded = read_result(light.folder)
    with pytest.raises(InputError, match="not the recorded cell"):
        again(world, light_trial(), recorded, tmp_path / "again", seed=4)
    with pytest.raises(InputError, match="not empty"):
        again(world, light_trial(), recorded, light.folder)


def result(*points: tuple[int, dict[str, float]], **ending: str) -> Result:
    history = tuple(Point(t=t, metrics=metrics) for t, metrics in points)
    return Result(identity="i", seed=0, config={}, history=history, **ending)


DIFFERENCES = [
    (result((0, {"a": 1.0})), result((0, {"a": 1.0})), []),
    (result((0, {"a": math.nan})), result((0, {"a": math.nan})), []),
    (result((0, {"a": math.nan})), result((0, {"a": 1.0})), [(0, "a")]),
    (result((0, {"a": math.inf})), result((0, {"a": -math.inf})), [(0, "a")]),
    (result((0, {"a": 1.0})), result((0, {"a": 1.0, "b": 2.0})), []),  # a metric that was added since
    (result((0, {"a": 1.0, "b": 2.0})), result((0, {"a": 1.0})), [(0, "b")]),
    (
        result((0, {"a": 1.0, "b": 2.0}), (2, {"a": 1.0})),
        result((0, {"a": 1.0, "b": 2.0}), (2, {"a": 1.0, "b": 2.0})),
        [(2, "b")],
    ),
    (result((0, {"a": 1.0}), (2, {"a": 1.0})), result((0, {"a": 1.0})), [(2, "a")]),
    (
        result((0, {"a": 1.0})),
        result((0, {"a": 2.0}), (1, {"a": 2.0}), status="failed", reason="step 2: nan"),
        [(0, "a"), (1, "a"), (1, "how it ended")],
    ),
]


def test_compare() -> None:
    for one, other, names in DIFFERENCES:
        assert [(d.t, d.name) for d in compare(one, other).differences] == names
        assert compare(one, other).is_equal == (not names)


def test_a_cell_begun_before_equal_cosines_tied_does_not_say_how_it_ranked(world, tmp_path):
    """Its history holds scores of both kinds."""
    folder = tmp_path / "cell"
    leave_at(5, train(light_trial(), 3, world.materials(), folder, checkpoint_seconds=0.0))
    state_file = next((folder / "checkpoint").glob("step-*/account.json"))
    state_file.with_name("checksums.json").unlink()  # as before decision 0069
    state = json.loads(state_file.read_text())
    assert state.pop("similarity_digits") == DIGITS
    state_file.write_text(json.dumps(state))
    list(train(light_trial(), 3, world.materials(), folder))
    assert read_result(folder).provenance[SIMILARITY_DIGITS] is None
