"""The tracker of docs/trackers.md in a file of the user's."""

import json
import sys
from pathlib import Path

import pytest

from rse_study.cli.verbs.track import track_study
from rse_study.errors import InputError
from rse_study.results.files.ledger import Ledger
from rse_study.trackers import make_tracker
from tests.cases import cases
from tests.cli.a_study import SEARCH, cell_of, run

PAGE = Path(__file__).parents[2] / "docs" / "trackers.md"
MORE = """

class Half:
    def __init__(self, folder): ...
    def begin_study(self, study): ...
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    example = PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    (tmp_path / "my_trackers.py").write_text(example + MORE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("my_trackers", None)


def test_a_ledger_is_copied_into_it_once(here, capsys):
    with Ledger.open(here / "studies" / "little") as ledger:
        ledger.freeze(SEARCH)
        for trial in range(3):
            run(ledger, cell_of(trial), 50.0 + trial)
    for _ in range(2):
        track_study("little", "my_trackers:CellFiles", "", False, here / "studies")
    files = [json.loads(path.read_text()) for path in (here / "cells").iterdir()]
    assert len(files) == 3 and all(one["state"] == "complete" and one["points"] for one in files)
    printed = capsys.readouterr().out
    assert "cells new or changed: 3" in printed and "nothing is new" in printed


REFUSED = [
    (
        "my_trackers:CelFiles",
        "--to my_trackers:CelFiles: my_trackers has no CelFiles. Did you mean 'CellFiles'?",
    ),
    ("my_tracker:CellFiles", "--to my_tracker:CellFiles: cannot be imported (ModuleNotFoundError: "),
    (
        "my_trackers:Half",
        "--to my_trackers:Half: lacks add_points, add_scores, begin_cell, begin_trial, close",
    ),
    ("mlflo", "--to: no such tracker 'mlflo'. Did you mean 'mlflow'?"),
]


@cases(("to", "said"), REFUSED, ids=[to for to, _ in REFUSED])
def test_what_is_no_tracker_is_refused(here, to, said):
    with pytest.raises(InputError) as caught:
        make_tracker(to, "")
    assert str(caught.value).startswith(said)
