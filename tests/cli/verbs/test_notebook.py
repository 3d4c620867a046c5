"""`notebook` and `dashboard`: a study that has run in Jupyter, and in the browser."""

import json
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

from rse_study.cli.verbs.notebook import open_server
from rse_study.errors import InputError
from rse_study.results.files.ledger import Ledger
from tests.analysis.notebooks.executed import execute
from tests.cli.a_study import SEARCH, cell_of, run, start


@pytest.mark.parametrize(("arguments", "kind"), [([], "search"), (["cost"], "cost")])
def test_a_notebook_is_filled_in_runs_and_says_what_is_next(rse, ran, tmp_path, arguments, kind):
    ended = rse("notebook", "little", *arguments)
    assert (ended.code, ended.err) == (0, "")
    path = tmp_path / f"little-{kind}.ipynb"
    assert ended.out.splitlines()[0].startswith(f"little-{kind}.ipynb: ")
    assert ended.next.startswith(f"jupyter lab little-{kind}.ipynb")
    text = path.read_text(encoding="utf-8")
    assert "STUDY = 'little'  #" in text
    assert "STORE = 'studies'  #" in text
    assert execute(text).objects[0].folder.resolve() == ran


def test_a_notebook_elsewhere_finds_the_store(rse, ran, tmp_path, monkeypatch):
    ended = rse("notebook", "little", "cost", "--out", "work/deep/mine.ipynb")
    assert ended.code == 0
    path = tmp_path / "work" / "deep" / "mine.ipynb"
    assert "STORE = '../../studies'" in path.read_text(encoding="utf-8")
    monkeypatch.chdir(path.parent)  # Jupyter runs a notebook in its own folder
    assert execute(path.read_text(encoding="utf-8")).objects[0].folder.resolve() == ran


def test_a_notebook_is_not_overwritten_unless_asked(rse, ran, tmp_path):
    path = tmp_path / "little-search.ipynb"
    path.write_text("mine")
    ended = rse("notebook", "little")
    assert ended.code == 2
    assert ended.err == (
        "little-search.ipynb: already exists: nothing is overwritten. "
        "Name another file (--out FILE), or overwrite it: --force\n"
    )
    assert path.read_text() == "mine"
    assert rse("notebook", "little", "--force").code == 0
    assert json.loads(path.read_text())["nbformat"] == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["little", "serch"], "KIND: no notebook 'serch': it must be known. Did you mean 'search'?"),
        (["litle"], "Did you mean 'little'?"),
        (["little", "--out", "."], "is a folder"),
        (["little", "--out", "x" * 300], "a name of 300 bytes"),
    ],
)
def test_what_cannot_be_written_is_refused(rse, ran, arguments, said):
    ended = rse("notebook", *arguments)
    assert ended.code == 2
    assert said in ended.err


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "little") as ledger:
        ledger.freeze(SEARCH)
        run(ledger, cell_of(0), 50.0)
        yield ledger


@pytest.fixture
def server(ledger):
    with open_server(ledger.study_dir, 0) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        yield server
        server.shutdown()
        serving.join()


def asked(server, path, host="127.0.0.1"):
    url = f"http://127.0.0.1:{server.server_port}{path}"
    request = urllib.request.Request(url, headers={"Host": f"{host}:{server.server_port}"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
        return answer.read()


def test_the_study_is_listed_and_new_trials_appear_while_it_runs(server, ledger):
    (study,) = json.loads(asked(server, "/api/studies"))["study_summaries"]
    assert (study["study_id"], study["study_name"], study["directions"]) == (0, "little", ["maximize"])
    assert b"<html" in asked(server, "/dashboard/")
    # The copy of the ledger is kept for a second. We look until then.
    run(ledger, cell_of(1), 20.0, status="stopped_early", reason="stopped at step 5 of 15")
    ledger.record_progress(start(ledger, cell_of(2)).identity, 5, {"dev": 33.0})
    patient_until = time.monotonic() + 30
    while time.monotonic() < patient_until:
        study = json.loads(asked(server, "/api/studies/0"))
        if len(study["trials"]) == 3:
            break
    assert [trial["state"] for trial in study["trials"]] == ["Complete", "Pruned", "Running"]
    assert study["trials"][2]["intermediate_values"] == [{"step": 5, "value": 33.0}]
    assert study["best_trials"][0]["number"] == 0


def test_it_listens_here_and_answers_to_this_machines_name_only(server):
    assert server.server_address[0] == "127.0.0.1"
    assert asked(server, "/api/studies", host="localhost")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        asked(server, "/api/studies", host="evil.example")


def test_a_port_that_is_taken_is_refused(server, ledger):
    with pytest.raises(InputError, match=f"--port: port {server.server_port} is taken. Name another one"):
        open_server(ledger.study_dir, server.server_port)


def test_without_the_package_its_command_is_named(ledger, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna_dashboard", None)
    with pytest.raises(InputError, match=r"pip install 'rse-study\[dashboard\]'"):
        open_server(ledger.study_dir, 0)
