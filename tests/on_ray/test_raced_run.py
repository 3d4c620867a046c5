"""A real search that races its seeds: rebuilt, confirmed, reported; tests/simulation interrupts one."""

import shutil

import pytest

from analysis.report import write_report
from rse_study.cli.verbs.run import conclude
from rse_study.cli.verbs.status.content import state_of
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader
from rse_study.search.state import SearchState
from tests.on_ray.interrupted import ledger_rows, run
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]
SEEDS = [6, 0]


def checked_study(study_content, **resources):
    content = study_content | {
        "search": {"lr": {"log": [1e-6, 1e-2]}, "rho": {"float": [0, 1]}},
        "seeds": SEEDS,
        "num_trials": 5,
        "confirm": {"seeds": [1]},
        "ablation_path": {"seeds": [1], "order": "importance"},
        "resources": resources,
    }
    return checked_of(content)


@pytest.fixture(scope="module")
def checked(study_content):
    return checked_study(study_content, max_concurrent=1)


@pytest.fixture(scope="module")
def whole(checked, materials, tmp_path_factory, cluster):
    return run(checked, tmp_path_factory.mktemp("whole") / "little", materials, cluster)


def test_the_search_ran_what_its_race_decided(whole):
    rows = [row for row in ledger_rows(whole) if row["stage"] == "search"]
    first = [(row["trial"], row["seed"]) for row in rows if row["trial"] < 2]
    assert first == [(0, 0), (0, 6), (1, 0), (1, 6)]
    assert {row["trial"] for row in rows if row["seed"] == 6} == set(range(5))
    with Reader(whole) as reader:
        race = SearchState.read(reader).race
    assert race.is_over and race.most_cells == len(rows)


def test_the_study_is_over_and_says_so(whole):
    status = state_of(whole)
    assert status.is_complete and status.counts["planned"] == status.counts["complete"]
    assert conclude(Reader(whole)) == 0
    assert status.best.num_seeds == 2
    assert "Seeds are raced: of 5 trials" in write_report(whole).read_text()


def test_a_rebuilt_ledger_has_nothing_left_to_run(checked, whole, materials, tmp_path, cluster):
    folder = tmp_path / "little"
    shutil.copytree(whole, folder)
    ledger_path(folder).unlink()
    listener = Listener()
    run(checked, folder, materials, cluster, listener)
    assert listener.started_cells == []
    assert ledger_rows(folder) == ledger_rows(whole)
    assert state_of(folder).is_complete


def test_with_several_at_a_time_it_ends_too(study_content, materials, tmp_path, cluster):
    folder = run(checked_study(study_content, max_concurrent=3), tmp_path / "little", materials, cluster)
    status = state_of(folder)
    assert status.is_complete
    assert {row["trial"] for row in ledger_rows(folder) if row["stage"] == "search"} == set(range(5))
