import dataclasses

from analysis.search import trials
from analysis.sections.space import by_importance, space_sections
from tests.analysis.outline import Outline


def test_all_axes_pairs_and_each_axis_are_there_once_trials_are_complete(search_dir, contents):
    found = contents(search_dir)
    table = trials(found)

    def figures(about, table):
        return Outline("".join(space_sections(about, table))).figures

    assert figures(found, table) == ["parallel", "ranks", *(f"slice-{n}" for n in range(8))]
    assert figures(found, table.assign(status="running")) == []
    one = found.study.model_copy(update={"axes": found.study.axes[:1]})
    alone = dataclasses.replace(found, study=one)
    assert figures(alone, trials(alone)) == ["parallel", "slice-0"]
    order = by_importance(found)
    assert (order[0], order[-1]) == ("rho", "norm")  # choices come last
    assert by_importance(dataclasses.replace(found, importance=found.importance[:0])) == []
