import dataclasses
from html import escape

from hypothesis import given
from hypothesis import strategies as st

from analysis.sections import account
from analysis.sections.account import budget
from analysis.sections.inputs import marked
from rse_study import open_study
from rse_study.evaluation.attacks import AttackedText
from tests.analysis import searched


def test_every_cell_has_its_row_of_used_columns_and_in_a_grid_its_name(search_dir, contents, grid_dir):
    found = contents(search_dir)
    shown = account.show_cells(found, found.current)
    assert len(shown) == 20
    rows = {(row.trial, row.seed): row for row in shown.itertuples()}
    assert list(shown.columns) == [
        "trial", "seed", "stage", "status", found.label, "step", "time", "attempts", "reason",
    ]  # fmt: skip
    assert rows["9", "0"].attempts == "2"
    assert rows["0 (base)", "1"].stage == "confirm"
    assert rows["5", "0"].reason == "step 23: the loss is nan"
    shown = account.show_cells(found, found.current[found.current["trial"] == 1])
    assert "reason" not in shown
    found = contents(grid_dir)
    shown = account.show_cells(found, found.current)
    assert list(shown.columns[:3]) == ["row", "seed", "status"]
    assert {"lambda1 = 0.0078125", "without PGD"} < set(shown["row"])
    assert account.plain_text("2026-11-22T19:25:28+00:00") == "2026-11-22 19:25:28 (UTC)"
    assert account.plain_text({"torch": "2.13.0", "threads": 1}) == "torch 2.13.0, threads 1"
    assert account.plain_text({"a": {"b": 1}}) == '{"a": {"b": 1}}'


def test_failures_keep_their_reasons_and_a_study_without_says_so(search_dir, grid_dir, contents):
    found = contents(search_dir)
    ((cell, settings, t, reason),) = account.failed_cells(found).values.tolist()
    assert (cell, t, reason) == ("trial 5, seed 0", "15", "step 23: the loss is nan")
    assert "alpha = 1e-05, " in settings
    lost = account.show_lost(found)
    expected = [["trial 9, seed 0", 1, "the process that ran it is gone"]]
    assert lost[["cell", "attempt", "reason"]].values.tolist() == expected
    expected = [["note", f"trial {searched.LOST}, seed 0", "the machine was busy"]]
    assert account.show_events(found)[["kind", "cell", "event"]].values.tolist() == expected
    grid = contents(grid_dir)
    expected = [["without the token level, seed 1", "lambda1 = 0.00781", "step 3: the loss is nan"]]
    assert account.failed_cells(grid).values.tolist() == expected
    found = contents(grid_dir)
    events = contents(search_dir).events
    noted = dataclasses.replace(found, cells=found.cells[:3], events=events)
    assert "No cell failed." in account.failures(noted)
    assert account.failures(dataclasses.replace(noted, events=events.assign(kind="rebuilt"))) == ""


def test_cells_of_unlike_machines_are_said_and_a_line_to_cite_comes_last(grid_dir, contents, search_dir):
    found = contents(grid_dir)
    assert "different kinds of machine" not in account.provenance(found)
    where = [{"processor": "EPYC", "kernels": kernels} for kernels in ("AVX2", "AVX512")]
    ran = [where[i % 2] for i in range(len(found.cells))]
    said = account.provenance(dataclasses.replace(found, cells=found.cells.assign(provenance=ran)))
    assert "Cells ran on different kinds of machine, which need not agree bit by bit: " in said
    assert " on EPYC, AVX512 kernels." in said
    cited = open_study(search_dir).citation
    assert escape(f"To cite: {cited}") in account.provenance(contents(search_dir))


def test_a_budget_that_ended_the_search_is_said_and_without_one_nothing(tmp_path, contents, search_dir):
    settings = {"num_trials": 40, "search_budget": {"steps": 100}, "base": {"budget": {"amount": 60}}}
    study = searched.STUDY.model_copy(update={"num_trials": 40, "resolved": settings})
    parts = (searched.search, lambda ledger: ledger.freeze(study, "a budget"))
    ended = contents(searched.make(tmp_path / "ended", *parts))
    assert ended.study.num_trials < 40
    text = "".join(budget(ended))
    assert "of at most 40 trials" in text
    assert "optimiser steps" in text
    assert budget(contents(search_dir)) == []


# Word characters, what may stand inside a word and not before it, blanks, punctuation, other scripts, markup.
LETTERS = st.text("ab '-_*@`.,<&\"\n\u00e9\u05d0\u05d1\u0627\u4e2d\U0001f600\U0001d495", max_size=24)
NEW = st.sampled_from(["x", "x y", "ca t", "<b>", "\U0001f600", "\u05d0"])


@st.composite
def changes(draw):
    """A text as attacks see it, one part or two, and the same with other words at some places."""
    attacked = AttackedText.of(tuple(draw(st.lists(LETTERS, min_size=1, max_size=2))))
    for position in range(len(attacked)):
        if draw(st.booleans()):
            attacked = attacked.replaced(position, draw(NEW))
    return attacked


@given(changes())
def test_the_pieces_are_the_text_and_the_marked_ones_are_the_words_that_attacks_count(attacked):
    before, after = marked(attacked.original, attacked.text, attacked.changed)
    assert ["".join(pieces) for pieces in before] == list(attacked.original)
    assert ["".join(pieces) for pieces in after] == list(attacked.text)
    assert [len(pieces) for pieces in after] == [len(pieces) for pieces in before]
    own = [attacked.original[side][start:end] for side, start, end in attacked.spans]
    assert [word for pieces in before for word in pieces[1::2]] == [own[place] for place in attacked.changed]


WORDS = st.sampled_from(["good", "film", "n't", "\u05d8\u05d5\u05d1", "\U0001d495op"])


@given(st.lists(WORDS, min_size=1, max_size=9), st.data())
def test_new_words_are_marked_where_they_stand(words, draws):
    text = " , ".join(words)
    attacked = AttackedText.of((text, "the, same"))
    for position in draws.draw(st.sets(st.integers(0, len(attacked) - 1))):
        attacked = attacked.replaced(position, f"new{position} x")
    _, after = marked(attacked.original, attacked.text, attacked.changed)
    expected = [f"new{place} x" for place in attacked.changed]
    assert [word for pieces in after for word in pieces[1::2]] == expected


def test_texts_that_are_no_change_of_each_other_are_not_marked():
    expected = ([["a ", "good", " film"]], [["another text"]])
    assert marked(("a good film",), ("another text",), (1,)) == expected
    assert marked(("a good film",), ("a good film",), ()) == ([["a good film"]], [["a good film"]])
    assert marked(("a good film",), ("a good film!",), ()) == ([["a good film"]], [["a good film!"]])
    assert marked(("a good film",), ("a bad film",), (7,)) == ([["a good film"]], [["a bad film"]])
