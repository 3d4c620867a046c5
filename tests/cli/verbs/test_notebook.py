"""`notebook`: a file filled in with the study; nothing is overwritten unasked."""

import json

import pytest

from tests.analysis.notebooks.executed import execute


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
