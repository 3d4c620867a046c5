"""The table of a study as `run` shows it: what a narrow terminal leaves out."""

from rse_study.cli.verbs import run
from rse_study.results.reader import Reader
from tests.analysis import tabled


def test_single_seeds_are_left_out_first_but_no_mean(monkeypatch, tmp_path):
    left_out = []
    monkeypatch.setattr(run.screen, "print_table", lambda *_, droppable, **more: left_out.extend(droppable))
    with Reader(tabled.make(tmp_path / "s", {"SimCSE": (70.0, 71.0)})) as reader:
        run.show_table(reader, "")
    assert left_out == ["seed 1", "seed 0", "time", "step"]
