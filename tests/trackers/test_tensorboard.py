"""TensorBoard, by its own readers: scalars, texts and the hparams plugin."""

import math
from functools import partial

import pytest

from rse_study.errors import InputError
from rse_study.trackers.study_content import read_study
from rse_study.trackers.tensorboard import TensorboardTracker
from tests.trackers.backends import TensorboardBackend, copy_once
from tests.trackers.small_study import COMPLETE, RUNNING, begin, grow, made
from tests.trackers.test_trackers import require_equal

pytestmark = pytest.mark.xdist_group("trackers")
copy = partial(copy_once, TensorboardBackend)


@pytest.fixture
def folder(tmp_path):
    return made(tmp_path / "studies" / "halving", begin)


@pytest.fixture
def place(folder, tmp_path):
    copy(folder, tmp_path / "tb")
    return tmp_path / "tb"


def loaded(folder):
    from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator

    return EventAccumulator(str(folder)).Reload()


def folder_of(place, cell):
    (path,) = place.glob(f"*/*/*/*.{cell.identity[:16]}")
    return path.parent


def test_a_cell_is_a_folder_below_its_trial_and_study_with_every_number(place):
    assert folder_of(place, COMPLETE).relative_to(place).as_posix() == "halving/base/seed 0 0000cc"
    numbers = TensorboardBackend.read(place)[RUNNING.identity[:16]].numbers
    assert set(numbers) == {("dev", 10, "nan"), ("loss", 10, "inf"), ("delta/norm", 10, "-inf")}
    tensor = loaded(place / "halving").Tensors("study")[0].tensor_proto
    assert tensor.string_val[0].decode().startswith("Does rho matter?\n\n")


def test_a_number_is_in_single_precision_and_what_is_larger_infinite():
    tracker = TensorboardTracker("")
    assert tracker.stored_value(0.1) == pytest.approx(0.1, abs=1e-8)
    assert tracker.stored_value(0.1) != 0.1
    assert tracker.stored_value(1e300) == math.inf


def test_the_hparams_plugin_knows_values_start_and_end(place):
    from tensorboard.plugins.hparams import metadata
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    content = loaded(folder_of(place, COMPLETE)).PluginTagToContent("hparams")
    start = HParamsPluginData.FromString(content[metadata.SESSION_START_INFO_TAG]).session_start_info
    end = HParamsPluginData.FromString(content[metadata.SESSION_END_INFO_TAG]).session_end_info
    assert {name: value.number_value for name, value in start.hparams.items()} == {"rho": 0.0, "seed": 0.0}
    assert end.status == 1  # success
    assert metadata.SESSION_END_INFO_TAG not in loaded(folder_of(place, RUNNING)).PluginTagToContent(
        "hparams"
    )


@pytest.mark.parametrize("lost", [1, 7, 40, 700])
def test_a_file_that_was_not_written_to_its_end_is_mended(place, folder, lost):
    """As if the process or the machine had ended while a record was written."""
    (path,) = folder_of(place, COMPLETE).glob("*")
    before = path.read_bytes()
    path.write_bytes(before[:-lost])
    copy(folder, place)
    require_equal(folder, TensorboardBackend, place)


def test_copied_twice_not_a_byte_is_written_and_a_renamed_trial_keeps_its_folder(place, folder):
    before = {path: path.read_bytes() for path in place.rglob("events*")}
    copy(folder, place)
    assert {path: path.read_bytes() for path in place.rglob("events*")} == before
    path = folder_of(place, RUNNING)
    path.parent.rename(path.parent.with_name("the best"))
    copy(made(folder, grow), place)
    require_equal(folder, TensorboardBackend, place)
    assert folder_of(place, RUNNING).parent.name == "the best"


def test_what_cannot_be_written_is_refused(tmp_path, folder, place):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"--dir .*file/halving: cannot be made"):
        copy(folder, tmp_path / "file")
    tracker = TensorboardTracker(str(place))
    tracker.begin_study(read_study(folder))
    with pytest.raises(InputError, match="held by process"):
        copy(folder, place)
    tracker.close()
