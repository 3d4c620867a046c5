"""Traces that part in a known place, for a known reason."""

from dataclasses import replace

from tests.crosscheck.made_up import SYNONYMS, WEIGHTS, random_text, score_with, their_answer, trace_of
from tests.crosscheck.reasons import reason
from tests.crosscheck.traces import QueryTrace, parted, their_trace

TEXT = "a fine great film"


def test_a_trace_survives_the_way_over_the_pipe():
    traces = [trace_of(random_text(seed)) for seed in range(60)]
    assert sum(len(trace.visits) > 1 for trace in traces) > 20
    assert any(trace.unknown and not trace.options for trace in traces)
    assert any(not trace.unknown for trace in traces)
    for trace in traces:
        assert their_trace(trace.clean, their_answer(trace)) == trace


def test_a_trace_has_every_question_in_its_order():
    trace = trace_of(TEXT)
    assert trace.words == ("a", "fine", "great", "film")
    hidden = ["a [UNK] great film", "a fine [UNK] film", "a fine great [UNK]"]
    assert [step.texts[0] for step in trace.unknown] == hidden
    assert [step.place for step in trace.options] == [1, 2, 3]
    assert [step.place for step in trace.visits] == [2, 1, 3]
    assert trace.visits[1].texts == ("a awful bad film", "a dull bad film")
    trace = trace_of(TEXT, WEIGHTS | {"awful": 3.0, "dull": 3.0, "movie": 0.4})
    assert [step.place for step in trace.visits] == [2, 3, 1]
    assert trace.visits[1].texts == ("a fine bad movie",)
    assert trace.visits[2].texts == ("a awful bad film", "a dull bad film")


def test_steps_part_where_a_place_or_a_text_differs_or_one_side_ends():
    steps = trace_of(TEXT).visits
    shuffled = replace(steps[0], texts=steps[0].texts[::-1])
    assert parted(steps, (shuffled, *steps[1:])) is None
    assert parted(steps, steps[:2]) == parted(steps[:2], steps) == 2
    assert parted(steps, (steps[0], replace(steps[1], place=7), steps[2])) == 1
    assert parted(steps, (replace(steps[0], texts=steps[0].texts[:1]), *steps[1:])) == 0


def judged(ours: QueryTrace, theirs: QueryTrace, weights=WEIGHTS, precision="float64") -> str:
    return reason(ours, theirs, score_with(weights), precision)


def test_other_words_and_other_candidates():
    ours = trace_of(TEXT)
    assert judged(ours, replace(ours, words=("fine", "great", "film"))) == "words"
    for lacking in ({"great": ("bad",)}, {"film": ()}):
        assert judged(ours, trace_of(TEXT, synonyms=SYNONYMS | lacking)) == "candidates"
    last = replace(ours.visits[2], texts=("a awful bad film",))
    assert judged(ours, replace(ours, visits=(*ours.visits[:2], last))) == "candidates"


def test_equal_candidates_are_a_tie_and_those_that_are_not_are_none():
    tied, near = WEIGHTS | {"dull": 1.0}, WEIGHTS | {"dull": 1.0 + 1e-7}
    for weights, precision, expected in [
        (tied, "float64", "tie"),
        (near, "float64", "candidates"),
        (near, "float32", "tie"),
        (WEIGHTS, "float32", "candidates"),
    ]:
        ours = trace_of(TEXT, weights)
        assert ours.visits[1].texts == ("a awful bad film", "a dull bad film")
        last = replace(ours.visits[2], texts=("a dull bad movie",))
        theirs = replace(ours, visits=(*ours.visits[:2], last))
        assert judged(ours, theirs, weights, precision) == expected


def test_a_change_that_helps_as_little_as_none_is_a_tie():
    weights = {"fine": 1.0, "awful": 1.0, "great": 0.5, "bad": 0.2}
    synonyms = {"fine": ("awful",), "great": ("bad",)}
    ours = trace_of("fine great", weights, synonyms)
    place = next(i for i, step in enumerate(ours.visits) if step.texts[0].startswith("awful"))
    assert judged(ours, replace(ours, visits=ours.visits[: place + 1]), weights) == "tie"


def test_one_side_that_ends_early_and_the_papers_order_are_unexplained():
    ours = trace_of(TEXT)
    assert judged(ours, replace(ours, visits=ours.visits[:2])) == "unexplained"
    assert judged(ours, ours) == "unexplained"
    synonyms = {"x": ("x1", "x2"), "y": ("y1",)}
    weights = {"x": 1.5, "x1": 1.4, "x2": 1.6, "y": 0.5, "y1": 0.2}
    ours, theirs = (trace_of("x y", weights, synonyms, effect=effect) for effect in ("score", "increase"))
    assert judged(ours, theirs, weights) == "unexplained"
    assert judged(ours, theirs, weights, "float32") == "unexplained"


def test_another_order_is_explained_where_rounding_alone_makes_it():
    synonyms = {"x": ("x1",), "y": ("y1",)}
    for gap, expected in [(0.0, "order"), (1e-7, "order"), (1e-4, "unexplained")]:
        weights = {"x": 1.0, "y": 1.0, "x1": 0.3 - gap, "y1": 0.3}
        ours = trace_of("x y", weights, synonyms)
        assert [step.place for step in ours.visits] == [0, 1]
        swapped = trace_of("x y", weights | {"x1": 0.4}, synonyms)
        assert [step.place for step in swapped.visits] == [1, 0]
        theirs = replace(ours, visits=swapped.visits)
        assert judged(ours, theirs, weights) == expected
