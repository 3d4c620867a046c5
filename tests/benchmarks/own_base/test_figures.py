"""The figures' data and what is drawn of it; and as files, where there is a browser."""

import pytest

from benchmarks.own_base.figures import (
    draw_learning,
    draw_losses,
    floors_of,
    learning_data,
    write_own_base_figures,
)
from benchmarks.own_base.frames import loss_frame, score_frame
from benchmarks.own_base.plan import read_plan
from benchmarks.own_base.rows import OwnBaseRows, read_rows
from tests import needs

from .test_rows import plan


@pytest.fixture(scope="module")
def frames(measured):
    rows = read_rows(measured)
    return score_frame(read_plan(measured), rows), loss_frame(rows)


def test_each_base_has_a_dot_before_and_after_simcse(frames):
    data = learning_data(frames[0])
    assert sorted(zip(data["num_sentences"], data["seed"], strict=True)) == sorted(
        2 * [(100, 0), (399, 0), (399, 1)]
    )
    drawn = draw_learning(data, floors_of(frames[0]))
    lines = {trace.name: trace for trace in drawn.data if trace.mode == "lines"}
    assert list(lines["our own, after SimCSE"].x) == [100, 399]
    assert set(lines) >= {"token overlap", "untrained encoder", "untrained encoder, after SimCSE"}


def test_each_base_has_a_line_of_losses(frames):
    assert [len(trace.x) for trace in draw_losses(frames[1]).data] == [2, 2, 2]


def test_a_folder_without_rows_has_its_floor(tmp_path):
    nothing = OwnBaseRows({}, {})
    scores = score_frame(plan(), nothing)
    assert list(floors_of(scores)) == ["token overlap"]
    draw_learning(learning_data(scores), floors_of(scores))
    draw_losses(loss_frame(nothing))


@pytest.mark.slow  # a browser
@pytest.mark.xdist_group("browser")
@needs.programs("chromium")
def test_a_browser_draws_both(frames, tmp_path):
    paths = write_own_base_figures(*frames, tmp_path)
    assert [path.name for path in paths] == ["own_base_dev.png", "own_base_losses.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
