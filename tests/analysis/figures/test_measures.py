import dataclasses

from analysis.figures.lines import draw_measures, measures_data


def test_each_measure_is_a_line_over_the_one_axis_and_one_measure_makes_no_figure(grid_dir, contents):
    found = contents(grid_dir)
    frame = measures_data(found, found.study.axes[0])
    assert list(dict.fromkeys(frame["measure"])) == ["STS-B dev, Spearman x100", "STS-B/test", "STS12/test"]
    assert sorted(set(frame["x"])) == [1 / 1024, 1 / 128, 1 / 8]
    test = frame[(frame["measure"] == "STS-B/test") & (frame["x"] == 1 / 1024)]
    assert set(test["mean"]) == {70.5}
    figure = draw_measures(frame, "lambda1", found.decimals_by_measure, is_log=True)
    expected = list(dict.fromkeys(frame["measure"]))
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == expected
    assert figure.layout.xaxis.type == "log"
    axis = found.study.axes[0]
    alone = dataclasses.replace(found, evaluations=found.evaluations[:0])
    assert measures_data(alone, axis).empty
    update = {"axes": (axis, axis.model_copy(update={"name": "rho", "symbol": "rho"}))}
    two = found.study.model_copy(update=update)
    assert measures_data(dataclasses.replace(found, study=two), axis).empty
