import dataclasses

import pytest

from analysis.figures.burndown import burndown_data, draw_burndown
from analysis.sections.account import cell_names
from tests.analysis.test_cost import with_times


def test_cells_go_down_device_time_goes_up_and_stated_hours_are_drawn_beside(grid_dir, contents):
    found = with_times(contents(grid_dir))
    frame = burndown_data(found, cell_names(found))
    assert frame["left"].tolist() == list(range(20, 0, -1))  # 21 planned, 20 ended, one never ran
    assert frame["spent_s"].iloc[-1] == pytest.approx(19 * 45.0 + 5.0)  # the failed one, too
    assert frame["planned_low_s"].isna().all()
    names = [trace.name for trace in draw_burndown(frame).data]
    assert names == ["cells left", "device time spent", "whole study at this pace: 15.1 minutes"]
    resolved = found.study.resolved | {"allowance": {"hours_per_cell": [0.5, 1]}}
    planned = dataclasses.replace(found, study=found.study.model_copy(update={"resolved": resolved}))
    frame = burndown_data(planned, cell_names(found))
    assert frame["planned_high_s"].iloc[0] == 21 * 3600
    names = [trace.name for trace in draw_burndown(frame).data]
    assert names[2:4] == ["planned, low: 630 minutes", "planned, high: 1.26e+03 minutes"]
