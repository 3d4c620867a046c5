"""TensorBoard, by its own readers: scalars, texts and the hparams plugin."""

import math
import sys

import pytest

from rse_study.errors import InputError
from rse_study.trackers.copier import StudyCopier
from rse_study.trackers.study_content import read_study
from rse_study.trackers.tensorboard import TensorboardTracker
from tests.trackers.backends import TensorboardBackend
from tests.trackers.small_study import COMPLETE, RUNNING, begin, grow, made
from tests.trackers.test_trackers import require_equal

pytestmark = pytest.mark.xdist_group("trackers")


@pytest.fixture
def folder(tmp_path):
    return made(tmp_path / "studies" / "halving", begin)


def copy(folder, place):
    tracker = TensorboardTracker(str(place))
    try:
        return StudyCopier(tracker).copy(read_study(folder))
    finally:
        tracker.close()


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


def test_a_cell_is_a_folder_below_its_trial_and_study(place):
    assert folder_of(place, COMPLETE).relative_to(place).as_posix() == "halving/base/seed 0 0000cc"


def test_nan_and_infinities_are_kept(place):
    numbers = TensorboardBackend.read(place)[RUNNING.identity[:16]].numbers
    assert set(numbers) == {("dev", 10, "nan"), ("loss", 10, "inf"), ("delta/norm", 10, "-inf")}


def test_a_number_is_in_single_precision_and_what_is_larger_infinite():
    tracker = TensorboardTracker("")
    assert tracker.stored_value(0.1) == pytest.approx(0.1, abs=1e-8)
    assert tracker.stored_value(0.1) != 0.1
    assert tracker.stored_value(1e300) == math.inf


def test_the_study_says_what_it_is(place):
    tensor = loaded(place / "halving").Tensors("study")[0].tensor_proto
    assert tensor.string_val[0].decode().startswith("Does rho matter?\n\n")


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


def test_copied_twice_not_a_byte_is_written(place, folder):
    before = {path: path.read_bytes() for path in place.rglob("events*")}
    copy(folder, place)
    assert {path: path.read_bytes() for path in place.rglob("events*")} == before


def test_a_trial_that_is_called_otherwise_keeps_its_folder(place, folder):
    path = folder_of(place, RUNNING)
    path.parent.rename(path.parent.with_name("the best"))
    copy(made(folder, grow), place)
    require_equal(folder, TensorboardBackend, place)
    assert folder_of(place, RUNNING).parent.name == "the best"


def test_two_that_copy_one_study_do_not_write_at_once(place, folder):
    tracker = TensorboardTracker(str(place))
    tracker.begin_study(read_study(folder))
    with pytest.raises(InputError, match="held by process"):
        copy(folder, place)
    tracker.close()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, folder):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"--dir .*file/halving: cannot be made"):
        copy(folder, tmp_path / "file")


def test_without_the_package_its_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorboard"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(
        InputError, match=r"pip install 'rse-study\[tensorboard\]', or: pip install tensorboard"
    ):
        TensorboardTracker("")
