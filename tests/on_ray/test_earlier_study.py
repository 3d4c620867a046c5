"""Study folders of earlier code are read, gone on with, reported and replayed as before.

The folders are a copy of tests/fixtures/earlier_study, whose README says how they were made. Its base names an encoder
by a path relative to the folder where the command is called.
"""

import contextlib
import io
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from rse_study.cli.app import app
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Result, read_result
from rse_study.results.files.schema import cell_folder
from rse_study.results.reader import Reader
from rse_study.training.arithmetic import provenance

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("earlier_study")]

FIXTURE = Path(__file__).parents[1] / "fixtures" / "earlier_study"
MADE_WITH = "AVX512"  # kernels of the processor it was made on, which a provenance did not name then
CHANGED_MACHINE = 1e-6  # how far other versions and processors may move a number in four steps


@dataclass(frozen=True)
class Ended:
    """What a command came to."""

    code: int
    out: str


def rse(*arguments: str) -> Ended:
    """Run `rse-study ...` in this process."""
    out = io.StringIO()
    into = contextlib.redirect_stdout(out), contextlib.redirect_stderr(out)
    with pytest.raises(SystemExit) as ended, into[0], into[1]:
        app(list(arguments), prog_name="rse-study")
    return Ended(int(ended.value.code or 0), out.getvalue())


@contextlib.contextmanager
def called_in_a_copy(fixture: Path, copied: Path):
    """A copy of a folder of earlier code, which commands are called in."""
    shutil.copytree(fixture, copied)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(copied)
        patch.setenv("RSE_STUDY_CACHE", str(copied / "cache"))
        patch.delenv("RSE_STUDY_DATA", raising=False)
        yield copied


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with called_in_a_copy(FIXTURE, tmp_path_factory.mktemp("earlier") / "study") as copied:
        yield copied


@dataclass(frozen=True)
class Contents:
    """What a ledger holds: attempts, and of every cell its history and scores by identity."""

    num_attempts: int
    cells: dict[str, tuple[list, list]]
    numbers: dict[str, tuple[int, int]]
    """trial and seed by identity"""

    @classmethod
    def of(cls, study_dir: Path) -> "Contents":
        with Ledger.open(study_dir) as ledger:
            scores = ledger.evaluations()
            numbers = {cell.identity: (cell.trial, cell.seed) for cell in ledger.cells()}
            of_cells = {name: [row for row in scores if row.subject == name] for name in numbers}
            cells = {name: (list(ledger.history(name)), rows) for name, rows in of_cells.items()}
            return cls(len(ledger.attempts()), cells, numbers)


@pytest.fixture(scope="module")
def grid_runs(folder, cluster):
    """(what it came to, contents) before anything ran, of the unchanged study, and of the study with a seed more."""
    study_dir = folder / "studies" / "old_grid"
    runs = [(Ended(0, ""), Contents.of(study_dir))]
    for changes in ((), ("-o", "seeds=[0, 1, 2]")):
        ended = rse("run", "old_grid.yaml", "--address", cluster, *changes)
        runs.append((ended, Contents.of(study_dir)))
    return runs


@pytest.fixture(scope="module")
def longer_search(folder, cluster):
    """(contents before, what it came to, contents after) of the search with a trial more."""
    study_dir = folder / "studies" / "old_search"
    before = Contents.of(study_dir)
    ended = rse("run", "old_search.yaml", "--address", cluster, "-o", "num_trials=5")
    return before, ended, Contents.of(study_dir)


def test_its_spellings_are_valid(folder):
    """`budget:` of the study's hours, and a presence called `none`."""
    for name in ("old_grid", "old_search"):
        ended = rse("validate", f"{name}.yaml")
        assert ended.code == 0, ended.out


def test_the_unchanged_study_runs_nothing(grid_runs):
    (_, before), (ended, after), _ = grid_runs
    assert ended.code == 0, ended.out
    assert len(before.cells) == before.num_attempts == 6
    assert after == before


def test_a_seed_more_costs_its_cells_alone(grid_runs):
    _, (_, before), (ended, after) = grid_runs
    assert ended.code == 0, ended.out
    assert after.num_attempts == before.num_attempts + 3
    assert {identity: after.cells[identity] for identity in before.cells} == before.cells
    new = after.cells.keys() - before.cells.keys()
    assert {after.numbers[identity] for identity in new} == {(0, 2), (1, 2), (2, 2)}
    assert all(history and scores for history, scores in (after.cells[one] for one in new))


def test_the_search_goes_on_with_the_proposal_that_was_next(folder, longer_search):
    before, ended, after = longer_search
    assert ended.code == 0, ended.out
    assert {identity: after.cells[identity] for identity in before.cells} == before.cells
    with Reader(folder / "studies" / "old_search") as reader:
        cells = reader.cells().set_index("trial")
    assert len(cells) == 5
    proposal = cells.loc[4, "proposal"]
    assert (f"{proposal['alpha']:.3g}", f"{proposal['rho']:.3g}") == ("1.05e-06", "0.198")


def test_it_is_reported(grid_runs, folder):
    ended = rse("report", "old_grid", "--out", "report.html")
    assert ended.code == 0, ended.out
    assert "Does a study folder of earlier code stay what it is?" in (folder / "report.html").read_text()
    status = json.loads(rse("status", "old_grid", "--json").out)
    counts = status["counts"]["planned"], status["counts"]["complete"]
    assert (counts, status["best"]["label"]) == ((9, 9), "SimCSE")


@pytest.mark.parametrize("cell", ["0/0", "2/1"])
def test_a_cell_of_then_comes_out_the_same_now(folder, cell):
    out = f"again-{cell.replace('/', '-')}"
    ended = rse("replay", "old_grid", cell, "--out", out)
    again = read_result(folder / out)
    recorded = read_result(cell_folder(folder / "studies" / "old_grid", again.identity))
    assert ended.code == 0, ended.out
    assert "not on record there: CPU kernels" in ended.out
    if made_here(recorded):
        assert "bit-equal" in ended.out, ended.out
    assert [point.t for point in again.history] == [point.t for point in recorded.history]
    for point, before in zip(again.history, recorded.history, strict=True):
        of_then = {name: point.metrics[name] for name in before.metrics}  # there are more now
        assert of_then == pytest.approx(before.metrics, abs=CHANGED_MACHINE)


def made_here(recorded: Result) -> bool:
    """Whether what its last bits depend on is as it was: versions and instructions."""
    now, before = provenance(torch.device("cpu")), recorded.provenance
    same = all(before[name] == now[name] for name in ("python", "packages", "device"))
    return same and torch.backends.cpu.get_cpu_capability() == MADE_WITH
