import pandas as pd

from analysis.figures.attacks import draw_outcomes, outcomes_data

OUTCOMES = pd.DataFrame(
    [
        ("mr", "pwws", 0, "succeeded", 40, [1, 2], True),
        ("mr", "pwws", 1, "failed", 70, [1], True),
        ("mr", "pwws", 2, "skipped", 1, [], True),
        ("mr", "bae", 0, "failed", 30, [], True),
        ("mr", "bae", 1, "failed", 30, [], True),
        ("mr", "bae", 9, "succeeded", 30, [], False),
        ("imdb", "bae", 0, "succeeded", 30, [3], True),
    ],
    columns=["set", "recipe", "index", "outcome", "num_queries", "changed", "is_counted"],
)


def test_what_fell_most_often_comes_first_a_line_per_attack_and_a_field_per_input():
    frame = outcomes_data(OUTCOMES)
    assert list(dict.fromkeys(frame.loc[frame["set"] == "mr", "input"])) == [0, 1, 2]
    expected = ["succeeded", 40, 2, 1]
    assert frame.iloc[0][["outcome", "queries", "words_changed", "num_fallen"]].tolist() == expected
    assert frame.loc[frame["set"] == "imdb", "num_fallen"].tolist() == [1]
    fields = draw_outcomes(frame[frame["set"] == "mr"]).data[0]
    assert list(fields.y) == ["pwws", "bae"]
    expected = [[2, 1, 0], [1, 1, None]]
    assert [[None if value != value else value for value in row] for row in fields.z] == expected
    assert fields.text[0][0].startswith("input 0 under pwws: fell<br>40 queries, 2 words changed")
    assert fields.text[1][2] == ""
