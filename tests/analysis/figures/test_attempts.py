import dataclasses

from analysis.figures.attempts import BAR, LINE, UNKNOWN, alike, draw_reasons, named, reasons_data, stacked
from analysis.sections.account import cell_names


def test_reasons_that_differ_in_numbers_are_one_and_texts_stand_below_one_another():
    assert alike("step 3: the loss is nan") == alike("step 17: the loss is nan") == "step N: the loss is nan"
    assert alike("out of 1.5e-3 at 0123456789abcdef") == "out of N at ID"
    assert alike("STS12 is not here\nmore") == "STS12 is not here"
    assert alike("") == UNKNOWN
    assert len(alike("x" * 500)) == 140
    texts = {"short": "short", "long": "<br>".join("long"), "last": "two<br>lines"}
    place, height = stacked(texts)
    for before, after in (("short", "long"), ("long", "last")):
        room = place[after] - place[before] - BAR
        assert room > LINE * (texts[after].count("<br>") + 1)
    assert place["last"] + BAR / 2 < height


def test_failed_cells_and_lost_attempts_are_counted_and_not_all_named(search_dir, contents, grid_dir):
    found = contents(search_dir)
    attempts = found.attempts
    frame = reasons_data(dataclasses.replace(found, attempts=attempts), cell_names(found))
    assert frame.values.tolist() == [
        ["step N: the loss is nan", "failed cells", 1, "trial 5, seed 0"],
        ["the process that ran it is gone", "lost attempts", 1, "trial 9, seed 0"],
    ]
    figure = draw_reasons(frame)
    assert [trace.name for trace in figure.data] == ["failed cells", "lost attempts"]
    expected = ["step N: the loss is nan (1 time)", "the process that ran it is gone (1 time)"]
    assert [note.text for note in figure.layout.annotations] == expected
    names = contents(grid_dir).cells["identity"]
    assert named(names).endswith(f"and {len(names) - 12} more")
    found = contents(grid_dir)
    well = dataclasses.replace(found, cells=found.cells[found.cells["status"] == "complete"])
    assert reasons_data(well, cell_names(well)).empty
