import pandas as pd
import pytest

from analysis.figures.attacks import draw_outcomes, outcomes_data
from analysis.figures.papers import attack_pairs_data, draw_attack_pairs
from tests.analysis import tabled

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


ROWS = {"USCAL": (60.0, 61.0), "RobustSentEmbed": (62.0, 63.0)}


@pytest.fixture
def found(tmp_path, contents):
    folder = tabled.make(tmp_path, ROWS, baseline="USCAL")
    found = {
        "pwws/queries": {"USCAL": (90.0, 110.0), "RobustSentEmbed": (120.0, 140.0)},
        "pwws/original_accuracy": {"USCAL": (80.0, 80.0), "RobustSentEmbed": (82.0, 82.0)},
        "pwws/accuracy_under_attack": {"USCAL": (20.0, 30.0), "RobustSentEmbed": (50.0, 54.0)},
        "bae/queries": {"USCAL": (40.0, 50.0), "RobustSentEmbed": (60.0, 60.0)},
    }
    return contents(tabled.add(folder, {f"attack-mr/{name}": rows for name, rows in found.items()}))


def test_an_attack_needs_its_queries_and_both_accuracies_and_its_rows_are_joined(found, grid_dir, contents):
    frame = attack_pairs_data(found, found.stage("grid"))
    expected = [["mr", "pwws", "USCAL", 55.0, 100.0, 2], ["mr", "pwws", "RobustSentEmbed", 30.0, 130.0, 2]]
    assert frame.values.tolist() == expected
    line, first, second, recipe = draw_attack_pairs(attack_pairs_data(found, found.stage("grid"))).data
    assert (list(line.x), list(line.y)) == ([55.0, 30.0], [100.0, 130.0])
    assert (first.name, second.name, recipe.name) == ("USCAL", "RobustSentEmbed", "pwws")
    assert first.marker.color != second.marker.color
    assert first.marker.symbol == second.marker.symbol
    other = contents(grid_dir)
    assert attack_pairs_data(other, other.stage("grid")).empty
