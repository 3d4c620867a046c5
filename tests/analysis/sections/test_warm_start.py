"""What a search was told before its first trial, on the page."""

from functools import partial

from analysis.figures.slices import draw_slice, slice_data
from analysis.search import trials
from analysis.sections.warm_start import known_before
from analysis.warm_start import known_data
from rse_study.results.study_record import KnownTrial
from tests.analysis import searched

KNOWN = tuple(
    KnownTrial(study="earlier", trial=trial, proposal=searched.proposal(trial), values=(60.0 + trial,))
    for trial in (1, 3)
)
WARM = searched.STUDY.model_copy(
    update={
        "known_trials": KNOWN,
        "resolved": searched.STUDY.resolved | {"warm_start": {"study": "earlier", "trials": [{"rho": 0.1}]}},
    }
)


def test_what_was_known_is_told_apart_from_what_ran_here_and_hollow_in_figures(
    tmp_path, contents, search_dir
):
    warm = contents(searched.make(tmp_path / "warm", partial(searched.search, study=WARM), study=WARM))
    text = known_before(warm)
    assert "lists what ran as trial 1" in text
    assert "2 trials of earlier" in text
    assert "61.00" in text
    assert "63.00" in text
    assert len(known_data(warm)) == 2
    assert len(trials(warm)) == 16
    axis, known = next(axis for axis in warm.study.axes if axis.name == "rho"), known_data(warm)
    figure = draw_slice(slice_data(trials(warm), "rho"), axis, "rho", known=known)
    hollow, ran = figure.data
    assert hollow.marker.symbol == "diamond-open"
    assert list(hollow.y) == [61.0, 63.0]
    assert len(ran.y) == 6
    assert known_before(contents(search_dir)) == ""
