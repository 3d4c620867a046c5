"""The shipped studies, a first one of one's own, and archives unpacked."""

import json
from pathlib import Path

import pytest

from rse_study import open_study
from rse_study.cli.verbs.studies import GROUPS, size_of
from rse_study.results.files.ledger import Ledger
from rse_study.study.definition.reading import read_extended
from rse_study.study.definition.shipped import shipped_studies
from tests.cli.a_study import SEARCH, cell_of, run, start


def test_what_has_run_here_comes_first_then_shipped_studies_by_group(rse, tmp_path):
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH)
        run(ledger, cell_of(0), 50.0)
        start(ledger, cell_of(1))
        ended = rse("studies")
    lines = ended.out.splitlines()
    assert ended.code == 0
    assert lines[:2] == [
        "in studies, for `rse-study status`, `report` and others:",
        "  little: 6 cells: 1 complete, 1 running, 4 to run",
    ]
    assert "  little: 6 cells: 1 complete, 4 to run, 1 interrupted" in rse("studies").out.splitlines()
    headings = [line for line in lines if not line.startswith("  ")]
    assert [line.partition(" (/")[0] for line in headings[1:]] == list(GROUPS.values())
    assert "  tiny_simcse: encoder tiny (60 steps)" in lines


def test_tags_of_a_study_are_shown_and_found(rse, tmp_path):
    tagged = SEARCH.model_copy(update={"resolved": {**SEARCH.resolved, "tags": ["pilot", "norms"]}})
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(tagged)
    assert "  little: 6 cells: 6 to run [pilot, norms]" in rse("studies", "pilot").out.splitlines()


def test_words_filter_by_name_question_and_folder(rse):
    lines = rse("studies", "Norm", "minilm").out.splitlines()
    assert [line.partition(":")[0] for line in lines if line.startswith("  ")] == ["  rse_table5_minilm"]
    assert rse("studies", "nosuchword").out.startswith("No study has 'nosuchword' in its name")


def test_a_grid_is_as_large_as_its_rows_and_seeds():
    axes = {"rho": [0, 0.5], "N": {"int": [1, 3]}, "norm": {"choice": ["l1", "l2"], "into": ["ball.norm"]}}
    assert size_of({"grid": {"axes": axes, "rows": {"ours": {}}}, "seeds": [0, 1]}) == "13 rows x 2 seeds"
    assert size_of({"grid": {"rows": {"ours": {}, "theirs": {}}}}) == "2 rows x 1 seed"
    asked = {"grid": {"rows": {"ours": {}}}, "seeds": [0, 1], "evaluations": ["STS-B/test"]}
    assert size_of(asked) == "1 row x 2 seeds, 1 evaluation"


@pytest.mark.parametrize(("name", "num_evaluations"), [("rse_figure2", 5), ("rse_table1", 35)])
def test_a_pattern_counts_as_all_evaluations_that_match_it(name, num_evaluations):
    """Their files have 1 and 7 patterns, each of a set's 5 attacks."""
    (path,) = (path for path in shipped_studies() if path.stem == name)
    assert size_of(read_extended(path)).endswith(f", {num_evaluations} evaluations")


@pytest.mark.parametrize(
    ("options", "said", "inert"),
    [
        ([], "16 trials over alpha, beta, N, rho: 22 cells", "the base"),
        (["--grid"], "18 cells", '"rho = 0.5", "rho = 1", "no detection" and "no adversary"'),
    ],
)
def test_what_is_written_is_valid(rse, tmp_path, options, said, inert):
    ended = rse("init", "mine", *options)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("mine.yaml, study.schema.json\n")
    validated = rse("validate", "mine.yaml")
    assert (validated.code, validated.err) == (0, "")
    warning, first, *others = validated.out.splitlines()
    assert warning.startswith(f"warning: PGD's delta has no effect in {inert}: ")
    assert first.startswith("mine: valid. ")
    assert first.endswith(said)
    assert not any(line.startswith("warning: ") for line in others)
    text = (tmp_path / "mine.yaml").read_text()
    assert "my-study" not in text
    assert text.startswith("# yaml-language-server: $schema=study.schema.json\n")
    schema = json.loads((tmp_path / "study.schema.json").read_text())
    assert {"name", "base", "search", "grid"} <= set(schema["properties"])


def test_nothing_is_overwritten(rse, tmp_path):
    (tmp_path / "mine.yaml").write_text("precious")
    ended = rse("init", "mine")
    assert ended.code == 2
    rule = "already exists: nothing is overwritten"
    assert ended.err == f"mine.yaml: {rule}. Choose another name, or remove it\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]
    assert (tmp_path / "mine.yaml").read_text() == "precious"


@pytest.mark.parametrize("name", ["Mine", "a/b", "mine.yaml", "", "x" * 65, "a: b", "- a", "\n"])
def test_a_name_that_cannot_be_is_refused_and_nothing_written(rse, tmp_path, name):
    ended = rse("init", "--", name)
    assert ended.code == 2, ended
    assert ended.err.startswith("NAME")
    assert "Traceback" not in ended.err
    assert list(tmp_path.iterdir()) == []


def test_a_second_study_beside_the_first_is_welcome(rse, tmp_path):
    assert rse("init", "one").code == rse("init", "two", "--grid").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.yaml", "study.schema.json", "two.yaml"]


ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "docs" / "results" / "minilm" / "mean-minilm.tar.xz"


def test_an_archive_becomes_a_study_of_the_store_and_its_file_is_printed(rse):
    ended = rse("unpack", str(SHIPPED))
    assert (ended.code, ended.out) == (0, "studies/mean-minilm/mean-minilm.yaml\n")
    assert Path(ended.out.strip()).is_file()
    assert open_study("mean-minilm", "studies").name == "mean-minilm"


def test_another_file_is_refused(rse):
    ended = rse("unpack", "quickstart")
    assert (ended.code, "quickstart: is no archive" in ended.err) == (2, True)
