import math

from analysis.figures.rungs import rungs_data


def test_every_verdict_on_a_number_is_there(search_dir, contents):
    found = contents(search_dir)
    frame = rungs_data(found)
    assert len(frame) == len(found.rungs)
    assert frame["order"].between(0, 1).all()
    assert frame.loc[frame["trial"] == 15, "order"].iloc[0] == 1.0
    found.rungs.loc[0, "value"] = math.nan
    assert len(rungs_data(found)) == len(found.rungs) - 1
