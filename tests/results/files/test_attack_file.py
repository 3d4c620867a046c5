"""What attacks leave in a folder: read as they wrote it, refused where it is damaged or does not belong together."""

import dataclasses
import json
import math

import pytest

from rse_study.errors import InputError, MissingFile
from rse_study.evaluation.attacks.attack import AttackOutcome
from rse_study.results.files.attack_file import (
    SUMMARY,
    OutcomeRow,
    is_attack_folder,
    read_attacks,
)
from rse_study.results.files.schema import ledger_path
from tests.cases import cases
from tests.results.attacked import end, keep, outcome, skipped

NASTY = "</script> \u05d8\u05d5\u05d1 \U0001f600 \u2028 <b>&amp;"


@pytest.fixture
def folder(tmp_path):
    """pwws on mr and snli, textbugger on mr, all ended."""
    outcomes = [skipped(2), outcome(0, NASTY, {1: "\u05e8\u05e2"}), outcome(1, "so so", {}, "failed")]
    end(tmp_path, "mr", "pwws", outcomes)
    end(tmp_path, "snli", "pwws", [outcome(0, ("a man sleeps", "he rests"), {1: "boy", 4: "naps"}, label=2)])
    end(tmp_path, "mr", "textbugger", [outcome(0, NASTY, {1: "\u05d8\u05d5"}, num_queries=4)])
    return tmp_path


def test_what_attacks_wrote_is_read(folder):
    found = read_attacks(folder)
    assert found.summary[["set", "recipe", "num_inputs", "num_skipped"]].values.tolist() == [
        ["mr", "pwws", 3, 1], ["mr", "textbugger", 1, 0], ["snli", "pwws", 1, 0],
    ]  # fmt: skip
    assert found.summary["mean_queries"].tolist() == [10.0, 4.0, 10.0]
    assert found.outcomes[["set", "recipe", "index"]].values.tolist() == [
        ["mr", "pwws", 0], ["mr", "pwws", 1], ["mr", "pwws", 2], ["mr", "textbugger", 0], ["snli", "pwws", 0],
    ]  # fmt: skip
    assert found.outcomes["is_counted"].all()
    first = found.outcomes.iloc[0]
    assert first["original"] == (NASTY,)
    assert first["adversarial"] == (NASTY.replace("\u05d8\u05d5\u05d1", "\u05e8\u05e2"),)
    assert first["changed"] == (1,)
    assert found.outcomes.iloc[-1][["label", "changed", "num_words"]].tolist() == [2, (1, 4), 5]
    assert list(OutcomeRow.model_fields) == [field.name for field in dataclasses.fields(AttackOutcome)]


def test_inputs_beyond_those_asked_for_last_are_there_and_not_counted(tmp_path):
    end(tmp_path, "mr", "pwws", [outcome(index, "a b", {0: "c"}) for index in range(5)], num_inputs=3)
    found = read_attacks(tmp_path)
    assert found.summary["num_inputs"].tolist() == [3]
    assert found.outcomes["is_counted"].tolist() == [True, True, True, False, False]


def test_an_attack_under_way_is_there_and_not_counted(folder):
    path = keep(folder, "imdb", "bae", [outcome(0, "a b", {0: "c"}), outcome(1, "a b", {0: "d"})]).path
    with path.open("a") as stream:
        stream.write('{"index": 2, "orig')
    found = read_attacks(folder)
    assert "imdb" not in set(found.summary["set"])
    under_way = found.outcomes[found.outcomes["set"] == "imdb"]
    assert under_way[["index", "is_counted"]].values.tolist() == [[0, False], [1, False]]


def test_nothing_ended_is_empty_frames_and_what_has_nothing_to_count_is_nan(tmp_path):
    (tmp_path / SUMMARY).write_text("[]")
    found = read_attacks(tmp_path)
    assert found.summary.empty
    assert found.outcomes.empty
    assert {"set", "recipe", "original", "is_counted"} <= set(found.outcomes)
    end(tmp_path, "mr", "pwws", [skipped(0), skipped(1)])
    row = read_attacks(tmp_path).summary.iloc[0]
    assert row["original_accuracy"] == 0.0
    assert math.isnan(row["success_rate"])
    assert math.isnan(row["mean_queries"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda row: row.pop("outcome"), "outcome: Field required"),
        (lambda row: row.update(outcome="won"), "outcome: Input should be 'succeeded'"),
        (lambda row: row.update(more=1), "more: Extra inputs"),
        (lambda row: row.update(adversarial=["a", "b"]), "more parts than the other"),
        (lambda row: row.update(changed=[99]), "a word was changed that is not there"),
    ],
    ids=["lacking", "unknown verdict", "unknown field", "parts", "place"],
)
def test_a_damaged_outcome_is_refused_by_its_line(folder, change, words):
    path = folder / "mr-pwws.jsonl"
    lines = path.read_text().splitlines()
    row = json.loads(lines[2])
    change(row)
    path.write_text("\n".join([*lines[:2], json.dumps(row), *lines[3:], ""]))
    with pytest.raises(InputError) as refused:
        read_attacks(folder)
    for said in (f"{path}: line 3: damaged", words, f"--out {folder}"):
        assert said in str(refused.value)


NONE = [
    ("{\n", "damaged"),
    ("", "holds no outcomes"),
    ("[1]\n", "holds no outcomes"),
    ('{"a": 1}\n', "is of no attack"),
    ('{"set": ["mr"], "recipe": "pwws", "label": "a", "victim": "b", "seed": 0}\n', "is of no attack"),
]
DAMAGED = [("[", "damaged"), ('[{"set": "mr"}]', "0.recipe: Field required"), ("{}", "valid list")]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [*(("mr-pwws.jsonl", *one) for one in NONE), *((SUMMARY, *one) for one in DAMAGED)],
)
def test_a_file_or_a_summary_that_is_none_is_refused(folder, name, content, words):
    (folder / name).write_text(content)
    with pytest.raises(InputError, match=words) as refused:
        read_attacks(folder)
    assert refused.value.where.startswith(str(folder / name))


def test_outcomes_of_another_attack_are_refused_by_what_differs(folder):
    before = (folder / SUMMARY).read_text()
    (folder / "mr-pwws.jsonl").unlink()
    keep(folder, "mr", "pwws", [outcome(0, "a b", {0: "c"})], seed=1)
    (folder / SUMMARY).write_text(before)
    with pytest.raises(InputError, match=r"is of another attack.*\(seed, attack, failed, skipped differ\)"):
        read_attacks(folder)


def test_missing_files_are_named(folder):
    (folder / "mr-textbugger.jsonl").unlink()
    with pytest.raises(MissingFile, match=r"mr-textbugger.jsonl: no such file. Attack again"):
        read_attacks(folder)
    (folder / SUMMARY).unlink()
    with pytest.raises(MissingFile, match=r"summary.json: no such file"):
        read_attacks(folder)


@cases("of_old", ["outcomes", "summary", "both"])
def test_files_of_before_attacks_had_a_hash_are_read(tmp_path, of_old):
    end(tmp_path, "mr", "pwws", [outcome(0, "a b", {0: "c"})])
    path = tmp_path / "mr-pwws.jsonl"
    if of_old != "summary":
        head, rest = path.read_text().split("\n", 1)
        path.write_text(json.dumps(without_attack(json.loads(head))) + "\n" + rest)
    if of_old != "outcomes":
        rows = [without_attack(row) for row in json.loads((tmp_path / SUMMARY).read_text())]
        (tmp_path / SUMMARY).write_text(json.dumps(rows))
    assert read_attacks(tmp_path).outcomes["is_counted"].tolist() == [True]


def without_attack(content):
    assert content["attack"]
    return {key: value for key, value in content.items() if key != "attack"}


def test_a_folder_of_attacks_is_told_from_a_study(folder, tmp_path_factory):
    assert is_attack_folder(folder)
    assert not is_attack_folder(tmp_path_factory.mktemp("empty"))
    ledger_path(folder).touch()
    assert not is_attack_folder(folder)


MOVED = [outcome(0, ("a b", "c"), {0: "c"}, label=2.0, scores=((3.0,), (1.5,)))]


def of_old(folder):
    """Rows as they were written at first: without a goal, and every move a success."""
    rows = json.loads((folder / SUMMARY).read_text())
    for row in rows:
        del row["goal"], row["tau"]
        row.update(original_accuracy=1.0, accuracy_under_attack=0.0, success_rate=1.0)
    (folder / SUMMARY).write_text(json.dumps(rows))


@pytest.mark.parametrize("age", ["of now", "of old"])
def test_no_row_says_that_something_fell_where_there_was_nothing_to_reach(tmp_path, age):
    for goal, recipe in (("maximise", "pwws"), ("drift", "bae"), ("deviation", "textbugger")):
        end(tmp_path, "AdvSTS-B", recipe, MOVED, goal=goal, tau=0.5)
    if age == "of old":
        of_old(tmp_path)
    furthest, drift, deviation = read_attacks(tmp_path).summary.to_dict("records")
    for name in ("original_accuracy", "accuracy_under_attack", "success_rate"):
        assert math.isnan(furthest[name])
        assert not math.isnan(drift[name])
    assert (furthest["goal"], furthest["mean_queries"]) == ("maximise", 10.0)
    assert math.isnan(furthest["tau"])
    assert [(row["goal"], row["tau"]) for row in (drift, deviation)] == [("drift", 0.5), ("deviation", 0.5)]
