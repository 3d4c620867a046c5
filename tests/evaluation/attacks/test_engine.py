"""Batches, budgets, resuming: what may not depend on how inputs are merged."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rse_study.data.labelled import Labelled
from rse_study.errors import InputError
from rse_study.evaluation.attacks import AttackedText, outcome_store
from rse_study.evaluation.attacks.attack import AttackOutcome
from rse_study.evaluation.attacks.engine import ASKED_AT_ONCE, CountedVictim, attack_all
from rse_study.evaluation.attacks.outcome_store import OutcomeStore
from rse_study.results.files.attack_file import ATTACK, SUMMARY, parse_outcomes, read_attacks
from rse_study.spec import fingerprint_of
from tests.cases import cases
from tests.evaluation.attacks.bag_of_words import BagOfWords
from tests.evaluation.attacks.conftest import pwws_with
from tests.results.attacked import end
from tests.results.attacked import outcome as attacked_one

PLENTY = 10**6


def by_index(outcomes):
    return sorted(outcomes, key=lambda row: row.index)


def test_every_query_is_counted_though_few_texts_are_sent(attack, sentences, victim, lexicon):
    """What is sent: each distinct text once. What is counted: all that was asked, also what was known."""
    outcomes = by_index(attack_all(attack, victim, sentences, max_queries=PLENTY, seed=0))
    num_queries, sent = sum(row.num_queries for row in outcomes), victim.asked
    assert max(sent.values()) == 1
    assert sum(sent.values()) < num_queries
    assert {row.original for row in outcomes} <= set(sent)
    # The first visit asks what the ranking has asked: nothing is sent for it, all is counted.
    for row in outcomes:
        if row.outcome == "failed":
            attacked = AttackedText.of(row.original)
            options = [len(lexicon.get(word, ())) for word in attacked.words]
            num_modifiable = sum(word not in {"the", "a", "of"} for word in attacked.words)
            assert row.num_queries == 1 + num_modifiable + 2 * sum(options)


def test_forward_passes_are_few(attack, sentences, victim):
    many = sentences.take(np.tile(np.arange(len(sentences)), 3))
    unlike = replace(many, texts=[(f"{text} {i}",) for i, (text,) in enumerate(many.texts)])
    rows = attack_all(attack, victim, unlike, max_queries=PLENTY, seed=0)
    num_queries = sum(row.num_queries for row in rows)
    assert num_queries > 2000
    assert len(victim.calls) / num_queries <= 40 / 1000
    assert 64 < max(map(len, victim.calls)) <= ASKED_AT_ONCE


@settings(max_examples=20)
@given(st.sets(st.integers(0, 11)))
def test_what_is_done_is_not_done_again(done_places):
    weights = {"good1": 1.0, "bad1": -1.0, "odd1": 0.2, "[UNK]": 0.1}
    attack = pwws_with({"good1": ("bad1", "odd1"), "bad1": ("good1",), "odd1": ("bad1",)})
    texts = [(f"good1 bad1 odd1 good1 {'good1 ' * (i % 4)}",) for i in range(12)]
    examples = Labelled("toy", "test", texts, np.arange(12) % 2, ("no", "yes"))
    whole = by_index(attack_all(attack, BagOfWords(weights), examples, max_queries=40, seed=0))
    done = {place: whole[place] for place in done_places}
    rest = list(attack_all(attack, BagOfWords(weights), examples, max_queries=40, seed=0, done=done))
    assert not {row.index for row in rest} & set(done)
    assert by_index([*done.values(), *rest]) == whole


def test_the_budget_is_kept_to_the_query(attack, sentences, victim):
    free = by_index(attack_all(attack, victim, sentences, max_queries=PLENTY, seed=0))
    for budget in (1, 2, 5, 17, 60):
        rows = by_index(attack_all(attack, victim, sentences, max_queries=budget, seed=0))
        for row, unbound in zip(rows, free, strict=True):
            assert row.num_queries == min(budget, unbound.num_queries)
            if unbound.num_queries <= budget:
                assert row == unbound
            else:
                assert row.outcome in {"failed", "succeeded"}
        assert Counter(row.num_queries <= budget for row in rows) == {True: len(sentences)}
        assert budget > 2 or all(row.adversarial == row.original for row in rows)  # too small to rank


def test_an_outcome_survives_json(attack, sentences, victim, tmp_path):
    for row in attack_all(attack, victim, sentences, max_queries=PLENTY, seed=0):
        line = json.loads(json.dumps(row.to_json()))
        assert AttackOutcome(**dict(parse_outcomes([line], tmp_path, "")[row.index])) == row


def test_outcomes_come_as_inputs_finish_and_none_without_inputs(attack, victim, sentences):
    nothing = Labelled("toy", "test", [], np.array([], np.int64), ("no", "yes"))
    assert list(attack_all(attack, victim, nothing, max_queries=5, seed=0)) == []
    assert victim.calls == []
    rows = attack_all(attack, victim, sentences, max_queries=PLENTY, seed=0, batch_size=8, num_in_flight=2)
    next(rows)
    assert sum(victim.asked.values()) < len(sentences) * 8


@cases("answer", [np.full((1, 2), np.nan), np.zeros((2, 2)), np.zeros(1), np.zeros((1, 1))])
def test_a_victim_that_answers_nonsense_is_refused(attack, answer):
    examples = Labelled("toy", "test", [("good1",)], np.array([1]), ("no", "yes"))
    with pytest.raises(InputError, match="the victim"):
        list(attack_all(attack, lambda texts: answer, examples, max_queries=5, seed=0))


def test_queries_are_admitted_up_to_the_budget_of_each_input():
    counted = CountedVictim(BagOfWords({}), batch_size=2, max_queries=5)
    assert [counted.admit(*asked) for asked in ((7, 3), (7, 3), (7, 1), (8, 1))] == [3, 2, 0, 1]
    assert counted.num_queries == {7: 5, 8: 1}


# Outcomes in a file survive whatever ends the process, and are not mixed with another attack's.


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
