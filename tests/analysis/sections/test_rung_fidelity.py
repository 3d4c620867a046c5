import dataclasses

import pytest

from analysis.figures.rungs import LET_RUN, draw_rungs, rungs_data
from analysis.search import trials
from analysis.sections.rung_fidelity import advice_text, let_run_text, rung_fidelity_parts
from analysis.sections.search import fidelity_text
from rse_study.search.rung_fidelity import StoppingAdvice
from rse_study.search.stopping.draws import is_let_run
from tests.analysis import let_run
from tests.analysis.outline import Outline


@pytest.fixture(scope="module")
def let_run_dir(tmp_path_factory):
    return let_run.make(tmp_path_factory.mktemp("ledgers") / "let-run")


def test_it_is_said_from_which_step_on_stopping_can_be_trusted_and_who_was_let_run(let_run_dir, contents):
    found = contents(let_run_dir)
    text = Outline("".join(rung_fidelity_parts(found, trials(found)))).text
    words = "Stopping is reliable from step 30 on, judging by 10 trials that no verdict could stop."
    assert words in text
    assert "are survivors" in text
    assert "a fair sample" in text
    assert "let_run: 0.1" not in text
    stopped = set(found.rungs.loc[found.rungs["verdict"] == "stop", "trial"])
    against = sorted(n for n in stopped if is_let_run(0, n, 0.25))
    text = let_run_text(found, trials(found))
    assert text.startswith(f"Let run on against the verdict: trials {against[0]}, ")
    best = max(let_run.dev(n, 60) for n in against)
    assert f"the best of these ended at {best:.2f}, the best trial of the search at " in text
    assert "continued" not in fidelity_text(found, trials(found))  # they were never stopped
    frame = rungs_data(found)
    let = frame[frame["verdict"] == LET_RUN]
    assert len(let)
    assert all(is_let_run(0, n, 0.25) for n in let["trial"])
    assert not any(is_let_run(0, n, 0.25) for n in frame.loc[frame["verdict"] == "stop", "trial"])
    figure = draw_rungs(frame, "dev")
    expected = f"let run on against its verdict ({len(let)})"
    assert [trace.name for trace in figure.data][2] == expected
    at_15 = frame[frame["t"] == 15]["verdict"]
    assert figure.layout.xaxis.ticktext[0] == f"step 15<br>{(at_15 != 'stop').sum()} of 40<br>went on"


def test_a_search_that_lets_nobody_run_is_told_how_to_if_any_trial_is_complete(search_dir, contents):
    found = contents(search_dir)
    text = Outline("".join(rung_fidelity_parts(found, trials(found)))).text
    assert "6 trials that ran to the end cannot tell from which step on" in text
    assert "let_run: 0.1" in text
    nobody = dataclasses.replace(found, cells=found.cells.assign(status="stopped_early"))
    assert rung_fidelity_parts(nobody, trials(nobody)) == []


@pytest.mark.parametrize(
    ("advice", "words"),
    [
        (
            StoppingAdvice("complete", 9, 15),
            "judging by 9 trials that ran to the end (stopped trials are missing).",
        ),
        (StoppingAdvice("let run", 9, None), "Stopping is reliable at no rung here, judging by 9 trials"),
        (StoppingAdvice("complete", 1, None), "1 trial that ran to the end cannot tell"),
    ],
)
def test_what_is_said(advice, words):
    assert words in advice_text(advice)
