"""The evaluation of a tutorial in a file beside the study: workers have the class, though they cannot import it."""

import sys
from pathlib import Path

import pytest

from rse_study.downstream import read_evaluation
from rse_study.errors import InputError, InputErrors
from rse_study.on_ray.driver import run_study
from rse_study.results.reader import Reader
from rse_study.study.checking.validation import check_content
from tests.cases import cases
from tests.docs.scratch import ROOT, blocks_of
from tests.on_ray.listener import Listener
from tests.on_ray.world import grid_of

PAGE = ROOT / "docs" / "tutorials" / "an_evaluation_beside_your_study.md"
NAME = "my_scores:LengthBias/builtin"
MORE = """
import filecmp


class Wordless:
    def score(self, embed, subject): ...


class Renamed(LengthBias):
    @classmethod
    def read(cls, name, data_dir):
        return cls(builtin.graded_pairs("test"), "bias/builtin")


class Short:
    @classmethod
    def read(cls, name, data_dir):
        return cls()
"""


@pytest.fixture
def folder(tmp_path):
    (code,) = (block.text for block in blocks_of(PAGE) if block.file == "my_scores.py")
    (tmp_path / "my_scores.py").write_text(code + MORE, encoding="utf-8")
    for shadow in ("filecmp", "json"):
        (tmp_path / f"{shadow}.py").write_text("raise SystemExit", encoding="utf-8")
    yield tmp_path
    for name in ("my_scores", "filecmp"):
        sys.modules.pop(name, None)


def checked_with(content, folder, *names):
    content = grid_of(content, grid={"rows": {"as it is": {}}}) | {
        "evaluations": names,
        "baselines": ["start"],
    }
    return check_content(content, where=str(folder / "little.yaml"))


@pytest.mark.xdist_group("ray")
def test_every_cell_and_baseline_is_scored_with_it(study_content, folder, materials, cluster):
    checked = checked_with(study_content, folder, NAME)
    run_study(
        checked, folder / "little", lambda trial: materials, lambda name: read_evaluation(name, Path()), Listener(),
        address=cluster,
    )  # fmt: skip
    with Reader(folder / "little") as reader:
        rows = reader.evaluations()
        cells = set(reader.cells()["identity"])
    scored = rows[rows["evaluation"] == NAME]
    assert set(scored["subject"]) == {*cells, "start"} and scored["value"].notna().all()


REFUSED = [
    ("my_scores:LengthBia/builtin", "my_scores has no LengthBia. Did you mean 'LengthBias'?"),
    ("my_score:LengthBias/builtin", "cannot be imported (ModuleNotFoundError: No module named 'my_score')"),
    ("json:Mine/builtin", "json.py was not looked at, because json is installed: rename the file"),
    ("my_scores:Wordless/builtin", "lacks read(name, data_dir)"),
    ("my_scores:LengthBias", "no such evaluation. One by class is named module:Class/preset, for example"),
]


@cases(("name", "said"), REFUSED, ids=[name for name, _ in REFUSED])
def test_what_is_wrong_with_it_is_said_before_anything_runs(study_content, folder, name, said):
    with pytest.raises(InputErrors) as caught:
        checked_with(study_content, folder, "builtin/test", name)
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"{folder / 'little.yaml'}: evaluations.1 = {name!r}") and said in str(
        problem
    )


@cases(
    ("name", "said"),
    [
        ("my_scores:Renamed/builtin", "calls itself 'bias/builtin', under which its scores would be filed"),
        ("my_scores:Short/builtin", "lacks fingerprint, measures, name, num_sentences, score"),
    ],
    ids=["another name", "members that lack"],
)
def test_one_that_does_not_keep_the_contract_is_refused_where_it_is_read(study_content, folder, name, said):
    checked_with(study_content, folder, name)
    with pytest.raises(InputError, match=said):
        read_evaluation(name, Path())
