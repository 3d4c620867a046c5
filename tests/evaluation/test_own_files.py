"""Files of a user's own as evaluations of a study, from its YAML to their scores."""

import csv
import json

import numpy as np
import pytest

from rse_study.data import builtin
from rse_study.errors import InputError, InputErrors
from rse_study.evaluation.sts import overlaps, spearman
from rse_study.results.study_record import StudyRecord
from rse_study.study.checking.data_check import check_data, needs_of
from rse_study.study.checking.validation import check_content
from rse_study.study.record import study_record
from rse_study.study.revisions import change_to
from tests.cases import cases
from tests.evaluation.contract import by_letters, check_items, check_registered
from tests.on_ray.world import STUDY, grid_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A study's folder with pairs.csv, sub/pairs.jsonl, which are others, and set.csv."""
    folder, pairs = tmp_path_factory.mktemp("own"), builtin.graded_pairs("test")
    (folder / "sub").mkdir()
    rows = list(zip(pairs.first, pairs.second, pairs.gold.tolist(), strict=True))[:60]
    _write(folder / "pairs.csv", [("one", "other", "gold"), *rows[:40]])
    objects = [json.dumps(dict(zip(("sentence1", "sentence2", "score"), row, strict=True))) for row in rows]
    (folder / "sub" / "pairs.jsonl").write_text("\n".join(objects))
    opinions = builtin.opinions().take(np.arange(40))
    texts = [(text, label) for (text,), label in zip(opinions.texts, opinions.labels, strict=True)]
    _write(folder / "set.csv", [("text", "label"), *texts])
    return folder


def _write(path, rows):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)


PAIRS = {"pairs": "pairs.csv", "columns": ["one", "other", "gold"]}


def checked_with(folder, *evaluations):
    content = grid_of(STUDY, grid={"rows": {"as it is": {}}}) | {"evaluations": list(evaluations)}
    return check_content(content, where=str(folder / "mine.yaml"))


def read(folder, evaluation):
    checked = checked_with(folder, evaluation)
    return checked.read_evaluation(checked.study.evaluation_names[0], folder / "no data")


def test_pairs_are_measured_as_a_set_of_sts_is(folder):
    found = read(folder, PAIRS)
    assert (found.name, len(found.pairs)) == ("pairs/test", 40)
    assert [one.metric for one in found.measures] == ["pairs/test/all"]
    assert found.measures[0].unit == "points", "the study's margin holds for it"
    check_registered(found)
    rows = found.score(by_letters, "me")
    check_items([row for row in rows if row.aggregation == "all"])
    assert found.score_overlap("me")[0].value == 100 * spearman(overlaps(found.pairs), found.pairs.gold)


def test_labelled_texts_are_told_apart_as_a_transfer_task_is(folder):
    found = read(folder, {"labelled": "set.csv", "preset": "fast"})
    assert (found.name, [one.metric for one in found.measures]) == ("set/fast", ["set/fast/accuracy"])
    check_registered(found)
    check_items(found.score(by_letters, "me"))


def test_a_file_is_found_beside_the_study_or_in_the_data_folder_and_its_content_counts(folder, tmp_path):
    here = read(folder, PAIRS).fingerprint
    (tmp_path / "pairs.csv").write_bytes((folder / "pairs.csv").read_bytes())
    there = checked_with(tmp_path / "none", PAIRS).read_evaluation("pairs/test", tmp_path)
    assert there.fingerprint == here != read(folder, {"pairs": "sub/pairs.jsonl"}).fingerprint
    with pytest.raises(InputError, match="no such file: looked for in"):
        read(tmp_path / "none", PAIRS)


def test_a_study_keeps_what_it_says_and_files_scores_under_names(folder):
    checked = checked_with(folder, "STS-B/test", PAIRS, {"labelled": "set.csv"}, "SUBJ/*")
    study, names = checked.study, ("STS-B/test", "pairs/test", "set/full", "SUBJ/fast", "SUBJ/full")
    assert study.evaluation_names == study.evaluations_of_vectors == names
    places = ["evaluations.0", "evaluations.1", "evaluations.2", "evaluations", "evaluations"]
    assert [at for at, _ in study.located_evaluations()] == places
    again = check_content(json.loads(json.dumps(study.resolved())), where=checked.where).study
    assert again.evaluations == study.evaluations
    assert study.resolved()["evaluations"][1] == {"name": "", **PAIRS}
    needs = needs_of(checked)
    assert (needs.sets, needs.texts) == (("STS-B", "SUBJ"), ("pairs.csv", "set.csv"))


def test_a_frozen_study_has_names_and_an_added_file_revises_it(folder):
    before, dev = checked_with(folder, "builtin/test"), builtin.graded_pairs("dev")
    record = study_record(before, dev)
    assert record.resolved["evaluations"] == ["builtin/test"], "as it was frozen before own files existed"
    now = checked_with(folder, "builtin/test", PAIRS)
    found = study_record(now, dev, [read(folder, PAIRS)])
    assert found.evaluations == ("builtin/test", "pairs/test") and "pairs/test" in found.fingerprints
    assert StudyRecord.model_validate_json(found.model_dump_json()) == found
    assert change_to(record, now.study) == "evaluations added: 1" and not change_to(found, now.study)


@cases(
    ("evaluations", "says"),
    [
        ([{"pairs": "a.txt"}], "evaluations.0: 'a.txt' is no .csv, .tsv, .jsonl or .parquet file"),
        ([{"pairs": "STS-B.csv"}], "evaluations.0 = 'STS-B/test': has the name of a shipped set"),
        ([{"pairs": "a.csv", "name": "builtin"}], "evaluations.0 = 'builtin/test': has the name of"),
        ([{"pairs": "a.csv"}, {"pairs": "b/a.tsv"}], "evaluations.1 = 'a/test': is listed twice"),
        ([{"pairs": "a.csv"}, "a/test"], "evaluations.1 = 'a/test': is listed twice"),
        ([{"pairs": "a.csv", "colums": []}], "evaluations.0.colums: no such field of OwnPairs"),
        ([{"pairs": "a.csv", "columns": ["a", "b"]}], "evaluations.0.columns.2: is required"),
        ([{"labelled": "a.csv", "preset": "slow"}], "evaluations.0.preset = 'slow': must be 'fast' or"),
        ([{"labeled": "a.csv"}], "evaluations.0: must be a name, {pairs: FILE} or {labelled: FILE}"),
        (["a.csv"], "evaluations.0 = 'a.csv': no such evaluation. A file of your own is {pairs: a.csv}"),
        *(
            ([{"pairs": "a.csv", "name": name}], "cannot name scores. Give it a `name` of letters and digits")
            for name in ("a/b", "=a", "+a", "-a", "@a", "a\nb", "a - b", "a:B", "a*", "a\u202eb", "a" * 65)
        ),
        *(([{"pairs": f"{name}.csv"}], "cannot name scores") for name in ("", "a (1)", "=cmd")),
    ],
)
def test_what_cannot_be_filed_or_is_no_form_is_refused_by_name(evaluations, says, tmp_path):
    with pytest.raises(InputErrors) as caught:
        checked_with(tmp_path, *evaluations)
    (problem,) = caught.value.problems
    assert says in str(problem)


def test_what_is_wrong_with_a_file_is_said_before_the_study_runs(folder, tmp_path):
    (tmp_path / "pairs.csv").write_text("one,other,gold\na,b,1\nc,d,high\n")
    (tmp_path / "set.csv").write_text("text,label\n" + "a,yes\nb,no\n" * 11)
    checked = checked_with(
        tmp_path, PAIRS, {"labelled": "set.csv"}, {"labelled": "set.csv", "preset": "fast"}
    )
    first, second = map(str, check_data(checked, tmp_path))
    assert "evaluations.0 = 'pairs/test': score 'high'" in first and "pairs.csv:3)" in first
    assert "evaluations.1 = 'set/full': 11 example(s) of class 'no'" in second
    assert "at least 12 for 10 folds" in second
    assert not check_data(checked_with(folder, PAIRS, {"labelled": "set.csv"}), folder)
