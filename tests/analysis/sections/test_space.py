import dataclasses

from analysis.search import trials
from analysis.sections.space import all_axes, by_importance, two_axes
from tests.analysis.outline import Outline


def test_all_axes_and_pairs_are_there_by_importance_once_trials_are_complete(search_dir, contents):
    found = contents(search_dir)
    table = trials(found)
    assert Outline(all_axes(found, table)).figures == ["parallel"]
    assert Outline(two_axes(found, table)).figures == ["contour"]
    begun = table.assign(status="running")
    assert all_axes(found, begun) == two_axes(found, begun) == ""
    one = found.study.model_copy(update={"axes": found.study.axes[:1]})
    alone = dataclasses.replace(found, study=one)
    assert two_axes(alone, trials(alone)) == ""
    assert Outline(all_axes(alone, trials(alone))).figures == ["parallel"]
    order = by_importance(found)
    assert (order[0], order[-1]) == ("rho", "norm")  # an axis of choices makes no map
    assert by_importance(dataclasses.replace(found, importance=found.importance[:0])) == []
