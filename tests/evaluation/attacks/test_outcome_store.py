"""Outcomes in a file survive whatever ends the process, and are not mixed with another attack's."""

import pytest

from rse_study.errors import InputError
from rse_study.evaluation.attacks import outcome_store
from rse_study.evaluation.attacks.attack import AttackOutcome
from rse_study.evaluation.attacks.outcome_store import OutcomeStore
from rse_study.results.files.attack_file import ATTACK, SUMMARY, read_attacks
from rse_study.spec import fingerprint_of
from tests.results.attacked import end
from tests.results.attacked import outcome as attacked_one

ASKED = {"recipe": "pwws", "seed": 0, "max_queries": 9}
HEAD = ASKED | {ATTACK: fingerprint_of(ASKED)}


def outcome(index):
    texts = ("a b\u2028c",), ("a d\u2028c",)
    return AttackOutcome(index, *texts, "succeeded", 1, (0.2, 0.8), (0.6, 0.4), 7, 3, (1,))


@pytest.fixture
def path(tmp_path):
    kept = OutcomeStore(tmp_path / "new" / "mr-pwws.jsonl", ASKED)
    for index in (4, 0, 2):
        kept.add(outcome(index))
    return kept.path


def test_what_was_added_is_there_again(path):
    again = OutcomeStore(path, ASKED)
    assert again.done == {index: outcome(index) for index in (4, 0, 2)}
    again.add(outcome(1))
    assert sorted(row.index for row in OutcomeStore(path, ASKED)) == [0, 1, 2, 4]


@pytest.mark.parametrize("num_bytes", [1, 5, 40])
def test_a_line_cut_short_is_attacked_again(path, num_bytes):
    content = path.read_bytes()
    path.write_bytes(content[:-num_bytes])
    kept = OutcomeStore(path, ASKED)
    assert sorted(kept.done) == [0, 4]
    kept.add(outcome(2))
    assert path.read_bytes() == content


@pytest.mark.parametrize("line", ["{", "[1]", '{"index": 1}'])
def test_a_damaged_file_is_refused_or_set_aside_where_replacing_is_wished(path, line):
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError, match=r"damaged|holds no outcomes"):
        OutcomeStore(path, ASKED)
    damaged = path.read_bytes()
    kept = OutcomeStore(path, ASKED, replaces=True)
    assert (kept.head, kept.done) == (HEAD, {})
    assert path.with_name("mr-pwws.jsonl.damaged").read_bytes() == damaged
    kept.add(outcome(3))
    assert list(OutcomeStore(path, ASKED, replaces=True).done) == [3]
    path.write_text("[1]\n")
    with pytest.raises(InputError, match="holds no outcomes"):
        OutcomeStore(path, ASKED)


@pytest.mark.parametrize("content", ["", '{"recipe": "pw'])
def test_a_file_that_never_began_begins_anew(path, content):
    path.write_text(content)
    OutcomeStore(path, ASKED).add(outcome(5))
    assert list(OutcomeStore(path, ASKED).done) == [5]


NOTED = {"scale": [0.1 + 0.2, 1e-300]}


def test_what_is_noted_tells_no_attacks_apart_and_the_first_word_holds(tmp_path):
    path = tmp_path / "mr-pwws.jsonl"
    OutcomeStore(path, ASKED, NOTED).add(outcome(0))
    before = path.read_bytes()
    for replaces in (False, True):
        again = OutcomeStore(path, ASKED, {"scale": [0.3, 0.0]}, replaces=replaces)
        assert (again.head, list(again.done)) == (HEAD | NOTED, [0])
        assert path.read_bytes() == before
    with pytest.raises(InputError, match=r"another attack \(seed differ\)"):
        OutcomeStore(path, ASKED | {"seed": 1}, NOTED)
    assert OutcomeStore(path, ASKED | {"seed": 1}, NOTED, replaces=True).done == {}


def test_what_files_of_old_do_not_say_is_told_them_or_they_are_replaced(path):
    asked, rows = ASKED | {"weights": "w"}, path.read_bytes().splitlines(keepends=True)[1:]
    kept = OutcomeStore(path, asked, since=["weights"])
    assert (kept.head["weights"], sorted(kept.done)) == ("w", [0, 2, 4])
    assert path.read_bytes().splitlines(keepends=True)[1:] == rows
    with pytest.raises(InputError, match=r"another attack \(weights differ\)"):
        OutcomeStore(path, asked | {"weights": "others"}, since=["weights"])
    assert OutcomeStore(path, asked | {"weights": "others"}, since=["weights"], replaces=True).done == {}


@pytest.fixture
def folder(tmp_path):
    """Two attacks that have ended."""
    for recipe in ("pwws", "bae"):
        end(tmp_path, "mr", recipe, [attacked_one(0, "a b", {0: "c"})])
    return tmp_path


BEGUN_ANEW = {
    "replaced": lambda path: None,
    "damaged": lambda path: path.write_text(path.read_text() + "{\n"),
    "removed by hand": lambda path: path.unlink(),
}


@pytest.mark.parametrize("how", BEGUN_ANEW)
def test_no_summary_counts_outcomes_that_are_no_more(folder, how):
    """As an interruption leaves it: the folder is read, and the other attack is there as it was."""
    path = folder / "mr-pwws.jsonl"
    asked = {"set": "mr", "label": "l", "victim": "v", **ASKED, "seed": 1}
    BEGUN_ANEW[how](path)
    OutcomeStore(path, asked, replaces=True).add(attacked_one(0, "a b", {0: "d"}))
    found = read_attacks(folder)
    assert found.summary["recipe"].tolist() == ["bae"]
    assert found.outcomes[["recipe", "is_counted"]].values.tolist() == [["bae", True], ["pwws", False]]


@pytest.mark.parametrize(
    ("place", "step", "left"),
    [(outcome_store, "withdraw", ["pwws", "bae"]), (OutcomeStore, "_write", ["bae"])],
    ids=["before the row went", "before the outcomes went"],
)
def test_outcomes_go_after_their_row(folder, monkeypatch, place, step, left):
    """Whatever ends the process on the way leaves no row without its outcomes."""

    def ends(*given):
        raise KeyboardInterrupt

    path = folder / "mr-pwws.jsonl"
    before = path.read_bytes()
    monkeypatch.setattr(place, step, ends)
    with pytest.raises(KeyboardInterrupt):
        OutcomeStore(path, {"set": "mr", "label": "l", "victim": "v", **ASKED}, replaces=True)
    assert path.read_bytes() == before
    assert read_attacks(folder).summary["recipe"].tolist() == left


def test_a_summary_that_is_none_stops_no_attack_from_beginning(folder):
    (folder / SUMMARY).write_text("[")
    OutcomeStore(folder / "snli-pwws.jsonl", ASKED)
    assert (folder / SUMMARY).read_text() == "["
