"""What is added to a finished grid is all that the same command then does: an evaluation costs no training."""

import shutil
from functools import partial

import pytest

from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.on_ray.driver import run_study
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import cell_folder
from rse_study.study.checking.validation import check_content
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, few, grid_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("added_evaluation")]


@pytest.fixture(scope="module")
def run(study_content, materials, tmp_path_factory, cluster):
    """Runs the grid with some evaluations; returns what was heard, and the ledger's attempts, metrics and scores."""
    directory = tmp_path_factory.mktemp("added") / "little"

    def run(*evaluations):
        grid = {"axes": {"rho": [0, 1]}}
        content = grid_of(study_content, grid=grid, evaluations=list(evaluations))
        checked, listener = checked_of(content), Listener()
        run_study(checked, directory, lambda trial: materials, few, listener, address=cluster)
        with Ledger.open(directory) as ledger:
            cells = [cell.identity for cell in ledger.cells()]
            rows = [row for row in ledger.evaluations() if row.subject in cells]
            return listener, ledger.attempts(), [list(ledger.history(cell)) for cell in cells], rows

    run.directory = directory
    return run


@pytest.fixture(scope="module")
def runs(run):
    """Finished without evaluations; and with one, while a cell's model is gone."""
    first = run()
    model = cell_folder(run.directory, first[1][0].cell) / "model"
    shutil.move(model, run.directory.parent / "kept")
    return first, run("builtin/test")


def test_an_added_evaluation_costs_only_an_evaluation(runs):
    first, second = runs
    assert first[0].started_cells == [(0, 0), (1, 0)]
    assert (first[3], second[0].started_cells) == ([], [])
    assert second[1:3] == first[1:3]  # attempts and metrics
    assert "evaluations: 2 models on builtin/test" in second[0].heard
    assert len({row.subject for row in second[3]}) == 2


def test_a_model_that_is_gone_is_made_again_bit_for_bit(run, runs):
    first, second = runs
    encoder, tokenizer = load_encoder(run.directory.parent / "kept", "mean")
    identity = first[1][0].cell
    rows = few("builtin/test").score(Embedder(encoder, tokenizer), identity)
    assert [row for row in second[3] if row.subject == identity] == rows


def test_an_own_file_that_is_edited_is_measured_again_and_nothing_is_trained(
    study_content, materials, tmp_path, cluster
):
    content = grid_of(study_content, grid={"rows": {"one": {}}}, evaluations=[{"pairs": "own.csv"}])
    scored = []
    for scores in ("1,2,3", "3,1,2"):
        rows = (
            f"the cat {number} sits,a cat {number},{score}" for number, score in enumerate(scores.split(","))
        )
        (tmp_path / "own.csv").write_text("\n".join(rows))
        checked, listener = check_content(content, where=str(tmp_path / "a.yaml")), Listener()
        read = partial(checked.read_evaluation, data_dir=tmp_path)
        run_study(checked, tmp_path / "little", lambda trial: materials, read, listener, address=cluster)
        with Ledger.open(tmp_path / "little") as ledger:
            (cell,) = ledger.cells()
            scored += [row for row in ledger.evaluations([cell.identity]) if row.metric == "own/test/all"]
            revision = ledger.revision()
    assert (listener.started_cells, "evaluations: 1 models on own/test" in listener.heard) == ([], True)
    first, second = scored
    assert first.fingerprint != second.fingerprint and revision == 2
