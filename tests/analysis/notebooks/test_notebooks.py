"""Every notebook, executed on real ledgers of every kind; stored without outputs; with one cell of parameters."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from analysis.notebooks import KINDS, filled_in, fitting_kind, is_about_robustness, notebook_text
from rse_study import open_study
from rse_study.errors import InputError
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import cell_folder
from rse_study.results.records import Measure
from tests.analysis import conditional, gridded, searched, tabled
from tests.analysis.notebooks.executed import execute
from tests.results.attacked import end, outcome

ROOT = Path(__file__).parents[3]
SCORES = {"SimCSE": (70.0, 71.0, 72.0), "RobustSentEmbed": (73.0, 74.5, 75.0)}
LIGHT = {"analysis", "pandas", "plotly", "rse_study"}
SUCCESS = "attack-mr/pwws/success_rate"
STUDIES = {kind: ["joint", "parts", "new-grid"] for kind in KINDS}
STUDIES["ablations"] += ["two-axes"]
STUDIES["search"] += ["methods", "new-search"]
for kind in ("methods", "robustness"):
    STUDIES[kind] += ["attacked"]
pytestmark = pytest.mark.xdist_group("notebooks")  # each is run once


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """Two searches, three grids (a table, one under attack, one of two axes), and two studies that have not begun."""
    folder = tmp_path_factory.mktemp("studies")
    parts = (searched.baselines, searched.search, searched.confirm, searched.importance)
    searched.make(folder / "joint", *parts)
    conditional.make(folder / "methods")
    with Ledger.open(folder / "parts") as ledger:
        gridded.grid(ledger)
    _attacked(folder / "attacked")
    two_axes = {
        f"rho = {rho}, norm = {norm}": (70 + rho, 71.0, 72 - rho) for rho in (0.5, 1) for norm in ("l2", "l1")
    }
    paper = {"table": "rse-table6", "scale": "mini"}
    tabled.make(folder / "two-axes", two_axes, baseline="rho = 0.5, norm = l2", paper=paper)
    searched.make(folder / "new-search")
    searched.make(folder / "new-grid", study=gridded.STUDY)
    return folder


def _attacked(folder):
    """Three seeds of two rows under PWWS; one cell kept its texts."""
    tabled.make(folder, SCORES, baseline="SimCSE", evaluations=("attack-mr/pwws",), less=(SUCCESS,))
    tabled.add(folder, {SUCCESS: {"SimCSE": (80.0, 81.0, 82.0), "RobustSentEmbed": (60.0, 61.5, 62.0)}})
    attacks = cell_folder(folder, open_study(folder).cells["identity"][0]) / "attacks"
    attacks.mkdir(parents=True)
    fell = [outcome(n, f"good film {n}", {0: "g00d"}, num_queries=n + 2) for n in range(4)]
    end(attacks, "mr", "pwws", fell)
    return folder


@pytest.fixture(scope="session")
def shown(store):
    """What each notebook shows of each study, each run once."""
    found = {}

    def show(kind, name):
        if (kind, name) not in found:
            found[kind, name] = execute(filled_in(kind, name, str(store)))
        return found[kind, name]

    return show


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_runs_on_any_study_and_says_what_is_not_there(shown, kind):
    for name in STUDIES[kind]:
        found = shown(kind, name)
        assert found.objects[0].name == open_study(name, found.objects[0].folder.parent).name
        assert f"study {found.objects[0].name!r}" in found.printed
        assert "notebook" in found.renderers.split("+")  # HTML beside the bundle, for exports
        for figure in found.figures:
            assert figure.to_json()
            assert len(figure.data), name
        assert not [one for one in found.objects if isinstance(one, pd.DataFrame) and one.empty], name
        if name.startswith("new"):
            assert found.figures == []
            assert sum(line.endswith(".") for line in found.printed.splitlines()) >= 3, name


@pytest.mark.parametrize(
    ("kind", "name", "num_figures", "words"),
    [
        ("ablations", "parts", 1, "the study names no baseline"),
        ("ablations", "two-axes", 2, ""),
        ("methods", "attacked", 3, ""),
        ("robustness", "attacked", 2, "SimCSE, seed 0"),
        ("robustness", "parts", 0, "No evaluation of this study attacks texts"),
        ("search", "joint", 7, ""),
        ("search", "parts", 0, "This study is not a search"),
        ("cost", "joint", 3, "1 cells failed, 1 attempts were lost."),
    ],
)
def test_what_is_there_is_drawn_and_what_is_not_is_said(shown, kind, name, num_figures, words):
    found = shown(kind, name)
    assert len(found.figures) >= num_figures
    assert words in found.printed


def test_all_are_stored_without_outputs_and_with_one_cell_of_parameters():
    for kind in KINDS:
        notebook = json.loads(notebook_text(kind))
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert [cell["outputs"] for cell in code] == [[]] * len(code), kind
        assert [cell["execution_count"] for cell in code] == [None] * len(code), kind
        assert sum("parameters" in cell["metadata"].get("tags", ()) for cell in code) == 1, kind
        ids = [cell["id"] for cell in notebook["cells"]]
        assert len(set(ids)) == len(ids), kind
        assert notebook["cells"][0]["source"][0].startswith("# "), kind
        # Of ours they import what .importlinter keeps from torch, ray and optuna.
        imported = re.findall(
            r"^(?:import|from) (\w+)", "\n".join("".join(cell["source"]) for cell in code), re.M
        )
        assert {*imported} <= LIGHT, kind


def test_every_file_is_a_kind_and_every_kind_a_file():
    assert {path.stem for path in (ROOT / "analysis" / "notebooks").glob("*.ipynb")} == set(KINDS)
    with pytest.raises(InputError, match="Did you mean 'search'"):
        notebook_text("searches")


def test_parameters_are_filled_in_whatever_they_hold():
    hostile = "a'\"\n b\\"
    (cell,) = [
        cell
        for cell in json.loads(filled_in("cost", hostile, "../s"))["cells"]
        if cell["metadata"].get("tags")
    ]
    names = {}
    exec("".join(cell["source"]), names)
    assert (names["STUDY"], names["STORE"]) == (hostile, "../s")
    assert "".join(cell["source"]).count("#") == 2  # the comments stay


def test_the_fitting_notebook_is_chosen_by_what_a_study_compares(store, tmp_path):
    kinds = {
        name: fitting_kind(open_study(name, store)) for name in ("joint", "parts", "new-grid", "attacked")
    }
    others = dict.fromkeys(("parts", "new-grid", "attacked"), "ablations")
    assert kinds == {"joint": "search"} | others
    with Ledger.open(tmp_path / "m") as ledger:
        ledger.freeze(gridded.STUDY)
        cells = [gridded.cell(trial, 0) for trial in (3, 4)]
        ledger.plan(
            [
                cell.model_copy(update={"config": {"method": {"name": name}}})
                for cell, name in zip(cells, ("dcl", "l2p_csr"), strict=True)
            ]
        )
    assert fitting_kind(open_study(tmp_path / "m")) == "methods"
    asked = ("attack-mr/pwws", "attack-imdb/bae", "STS-B/test")
    measures = tuple(Measure(name=name, metric=f"{name}/success_rate") for name in asked[:2])
    study = gridded.STUDY.model_copy(update={"evaluations": asked, "measures": measures})
    assert fitting_kind(open_study(searched.make(tmp_path / "a", study=study))) == "robustness"
    names = ("attack-mr/pwws", "AdvSTS-B/bae", "MR/replayed", "STS-B/test", "MR/fast")
    assert [is_about_robustness(name) for name in names] == [True, True, True, False, False]
