import dataclasses

from analysis.figures.timeline import draw_timeline, lanes, timeline_data, unit_of
from analysis.sections.account import cell_names
from tests.cases import cases


def test_every_attempt_is_a_bar_in_a_lane_of_its_own(search_dir, contents):
    found = contents(search_dir)
    stamps = [f"2026-11-01T08:{minute:02d}:00+00:00" for minute in range(len(found.attempts))]
    attempts = found.attempts.assign(started=stamps, ended=[*stamps[1:-1], stamps[-1], ""])
    frame = timeline_data(dataclasses.replace(found, attempts=attempts), cell_names(found))
    assert len(frame) == len(found.attempts)
    assert frame["seconds"].iloc[0] == 60.0
    assert frame["seconds"].iloc[-1] == 0.0  # still running when the last of the others ended
    assert (frame["lane"] == 0).all()
    figure = draw_timeline(frame)
    assert sum(len(trace.x) for trace in figure.data) == len(frame)
    lost = next(trace for trace in figure.data if trace.name.startswith("lost"))
    assert lost.marker.pattern.shape == "/"
    assert "the process that ran it is gone" in lost.hovertext[0]
    assert figure.layout.xaxis.title.text == "minutes since the first start"
    assert lanes([0, 1, 2, 5, 5], [3, 10, 1, 1, 1]) == [0, 1, 2, 0, 2]
    assert lanes([], []) == []


@cases(("seconds", "unit"), [(5, "seconds"), (300, "minutes"), (9000, "hours"), (3e5, "days")])
def test_a_length_has_its_unit(seconds, unit):
    assert unit_of(seconds)[1] == unit
