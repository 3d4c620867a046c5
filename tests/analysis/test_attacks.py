"""The page of attacks: its numbers, its figures, its texts as they are, and what a browser does with it."""

import json
import re

import pytest

from analysis.attacks import summary_table, write_attacks
from analysis.figures.attacks import draw_queries, falls_data, queries_data
from analysis.page import embedded
from rse_study.errors import InputError
from rse_study.results.files.attack_file import read_attacks
from rse_study.results.statistics import share_interval
from tests import needs
from tests.analysis.outline import Outline
from tests.results.attacked import end, keep, outcome, skipped
from tests.slow import mostly_slow

HOSTILE = "</script><script>document.title='owned'</script><b>&amp; <!--"
EMOJI, HEBREW, ARABIC = "\U0001f600", "\u05d8\u05d5\u05d1", "\u062c\u0645\u064a\u0644"
LONE = "\ud83d"  # half a pair: no valid text, and no reason to break the page
FELL = outcome(
    0, f"a {HEBREW} film {EMOJI} {HOSTILE}", {1: ARABIC}, num_queries=40, scores=((0.9, 0.1), (0.25, 0.75))
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """pwws on mr (2 fell, 1 withstood, 1 skipped), textbugger on mr (60 fell), pwws on snli (weak), bae under way.

    textbugger's file is of the time before classes had names.
    """
    folder = tmp_path_factory.mktemp("attacks")
    scores = ((0.9, 0.1), (0.6, 0.4))
    withstood = outcome(2, "Wholly Good", {0: "fully"}, "failed", num_queries=90, scores=scores)
    second = outcome(1, f"half {LONE} pair", {0: "part"}, num_queries=20)
    end(folder, "mr", "pwws", [FELL, second, withstood, skipped(3)], classes=("negative", "positive"))
    fell = [outcome(n, f"good number{n}", {0: "g00d"}, num_queries=n + 2) for n in range(60)]
    end(folder, "mr", "textbugger", fell)
    pair = outcome(
        0, ("a man sleeps", "he, rests"), {1: "boy", 4: "na ps"}, label=2, num_queries=7,
        scores=((0.1, 0.2, 0.7), (0.5, 0.2, float("nan"))),
    )  # fmt: skip
    end(folder, "snli", "pwws", [pair], weak=True, classes=("entailment", "neutral", "</script><b>"))
    keep(folder, "imdb", "bae", [outcome(0, "long", {0: "short"})], classes=("negative", "positive"))
    return folder


@pytest.fixture(scope="session")
def html(folder):
    return write_attacks(folder).read_text(encoding="utf-8")


def test_it_loads_nothing_holds_its_texts_as_they_are_and_tells_every_attack(html, folder):
    outline = Outline(html)
    assert not [attrs for _, attrs in outline.tags if "src" in attrs]
    assert all(attrs["href"].startswith("#") for _, attrs in outline.tags if "href" in attrs)
    assert "b" not in [tag for tag, _ in outline.tags]
    assert HOSTILE not in html
    (content,) = re.findall(r'<script type="application/json" id="inputs-data">(.*?)</script>', html)
    first = json.loads(content)[0]
    assert first["before"] == [["a ", HEBREW, f" film {EMOJI} {HOSTILE}"]]
    assert first["after"] == [["a ", ARABIC, f" film {EMOJI} {HOSTILE}"]]
    table = summary_table(read_attacks(folder).summary)
    assert table.values.tolist()[0] == [
        "mr", "pwws", "4", "1", "75.0%", "25.0%", "66.7%", "20.8 to 93.9", "50.0", "29.5%", "pwws-like: made up",
    ]  # fmt: skip
    assert table["recipe"].tolist() == ["pwws", "textbugger", "pwws \N{DAGGER}"]
    text = Outline(html).text
    for words in (
        "\N{DAGGER} The victim is weak", "The victim on mr was victim-mr, with a dev accuracy of 83.0%",
        "The list below also has 1 input of imdb under bae; the figures show the last request's inputs alone.",
    ):  # fmt: skip
        assert words in text, words


def test_an_interval_of_a_share_is_wilson_s():
    # Newcombe (1998), table I: 81 of 263, and 0 of 20.
    expected = pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert (share_interval(81, 263).low, share_interval(81, 263).high) == expected
    assert (share_interval(0, 20).low, share_interval(0, 20).high) == pytest.approx((0, 0.1611), abs=5e-5)


def moved(**changes):
    return outcome(0, ("a man sleeps", "he rests"), {1: "boy"}, label=2.0, scores=((3.0,), (1.5,)), **changes)


@pytest.fixture
def similar(tmp_path):
    """Similarity under attack with all three goals; one encoder's scores were weak."""
    figures = {"clean_spearman": 71.0, "spearman_under_attack": 60.5, "mean_drift": 1.5}
    end(tmp_path, "AdvSTS-B", "pwws", [moved()], goal="maximise", **figures)
    end(tmp_path, "AdvSTS-B", "textbugger", [moved()], goal="drift", tau=1.0, **figures)
    end(tmp_path, "AdvSICK-R", "pwws", [moved(verdict="failed")], goal="deviation", tau=0.5, weak=True)
    return tmp_path


def test_goals_are_told_apart_and_nothing_falls_where_none_is_reached(similar):
    summary = read_attacks(similar).summary
    table = summary_table(summary)
    columns = ["recipe", "accuracy", "under attack", "success", "95%", "queries", "goal", "drift"]
    assert table[columns].values.tolist() == [
        ["pwws", "", "", "", "", "10.0", "maximise", "1.50"],
        ["textbugger", "100.0%", "0.0%", "100.0%", "20.7 to 100.0", "10.0", "drift, tau 1", "1.50"],
        ["pwws \N{DAGGER}", "100.0%", "100.0%", "0.0%", "0.0 to 79.3", "10.0", "deviation, tau 0.5", ""],
    ]
    assert queries_data(summary)["recipe"].tolist() == ["textbugger", "pwws"]
    text = Outline(write_attacks(similar).read_text(encoding="utf-8")).text
    for words in (
        "\N{DAGGER} The similarity scores are weak", "Under deviation, a pair falls", "Under drift, a pair falls",
        "Under maximise, scores are moved as far as possible", "Effort on AdvSTS-B",
    ):  # fmt: skip
        assert words in text, words
    assert "The victim is weak" not in text


def test_a_point_is_the_accuracy_lost_and_a_line_rises_where_inputs_fell(folder):
    frame = queries_data(read_attacks(folder).summary)
    assert frame[["set", "recipe", "lost", "queries"]].values.tolist() == [
        ["mr", "pwws", 50.0, 50.0], ["mr", "textbugger", 100.0, 31.5], ["snli", "pwws", 100.0, 7.0],
    ]  # fmt: skip
    assert ((frame["low"] < frame["lost"]) | (frame["lost"] == 0)).all()
    drawn = draw_queries(frame, {"pwws": "#000", "textbugger": "#fff"}, {"mr": "circle", "snli": "square"})
    assert [trace.name for trace in drawn.data] == ["pwws", "textbugger", "mr", "snli"]
    assert list(drawn.data[0].x) == [50.0, 100.0]
    assert list(drawn.data[0].y) == [50.0, 7.0]
    assert list(drawn.data[0].marker.symbol) == ["circle", "square"]
    found = read_attacks(folder).outcomes
    ours = found[found["set"] == "mr"]
    frame = falls_data(ours, ours["num_queries"])
    pwws = frame[frame["recipe"] == "pwws"][["x", "share"]].values.tolist()
    third = 100 / 3
    expected = [[20, 0], [20, third], [40, 2 * third], [61, 2 * third]]
    assert pwws == [pytest.approx(point) for point in expected]
    assert frame.groupby("recipe")["x"].max().tolist() == [61, 61]
    assert frame[frame["recipe"] == "textbugger"]["share"].iloc[-1] == 100


def test_a_page_is_a_function_of_the_folder_and_a_damaged_one_leaves_the_page_that_was_there(
    folder, html, tmp_path
):
    again = write_attacks(folder, tmp_path / "deep" / "two.html")
    assert again.read_text(encoding="utf-8") == html
    end(tmp_path, "mr", "pwws", [outcome(0, "a b", {0: "c"})])
    path = write_attacks(tmp_path)
    before = path.read_bytes()
    (tmp_path / "summary.json").write_text("[")
    with pytest.raises(InputError, match="damaged"):
        write_attacks(tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", [HOSTILE, "<!--<script>", "\u2028", LONE, "\\u003c"])
def test_embedded_json_is_json_and_ends_no_script(text):
    written = embedded([text])
    assert "<" not in written
    assert written.isascii()
    assert json.loads(written) == [text]


BROWSE = """(() => {
const seen = {};
const texts = (within, kind) => [...within.querySelectorAll(kind)].map(found => found.textContent);
const look = () => ({
  where: document.querySelector('#inputs-above .where').textContent,
  what: texts(document, '.input .what'), before: texts(document, '.before mark'), after: texts(document, '.after mark'),
  parts: texts(document, '.part'), chosen: texts(document, '.chosen'), truth: texts(document, '.true'),
});
const set = (id, value, kind = 'change') => {
  const element = document.getElementById(`inputs-${id}`);
  element.value = value;
  element.dispatchEvent(new Event(kind));
};
const press = (bar, way) => document.querySelector(`#inputs-${bar} .${way}`).click();
seen.all = look();
press('below', 'next'); press('above', 'next'); seen.last = look();
set('recipe', 'pwws'); seen.recipe = look();
set('set', 'snli'); seen.pair = look();
set('set', 'mr'); set('outcome', 'failed'); seen.failed = look();
set('outcome', 'skipped'); seen.skipped = look();
set('outcome', ''); set('recipe', ''); set('search', ' NUMBER59', 'input'); seen.search = look();
set('search', '%s', 'input'); seen.hebrew = look();
set('search', '</SCRIPT>', 'input'); seen.markup = look();
set('search', 'g00d', 'input'); set('order', 'queries'); seen.order = look();
set('search', 'not there', 'input'); seen.none = look();
const root = document.documentElement;
seen.fits = root.scrollWidth <= root.clientWidth;
seen.owned = document.title;
return JSON.stringify(seen);
})()"""


@pytest.fixture(scope="session", params=mostly_slow([1280, 500], fast=[500]))
def seen(request, folder, html, browser):
    """What a browser shows after each choice of a reader, and what went wrong."""
    tab = browser.open(folder / "attacks.html", width=request.param)
    found = json.loads(tab.say(BROWSE.replace("%s", ARABIC)))
    tab.close()
    return found | {"wrong": tab.problems}


@pytest.mark.xdist_group("browser")
@needs.programs("chromium")
class TestInABrowser:
    def test_nothing_goes_wrong_and_nothing_runs_that_is_text(self, seen):
        assert seen["wrong"] == []
        assert seen["owned"] == "Under attack"
        assert seen["fits"]

    def test_changed_words_are_marked_in_both_texts_and_texts_are_as_they_were(self, seen):
        found = seen["all"]
        assert found["before"][:2] == [HEBREW, "half"]
        assert found["after"][:2] == [ARABIC, "part"]
        assert found["parts"][0] == FELL.original[0]
        assert found["parts"][1] == FELL.adversarial[0]
        assert found["chosen"][:2] == ["negative: 0.900", "positive: 0.750"]
        assert found["truth"][:2] == ["negative", "negative"]

    def test_choices_filter(self, seen):
        assert seen["recipe"]["where"] == "1 to 5 of 5, 66 in all"
        assert all("pwws" in what for what in seen["recipe"]["what"])
        assert seen["failed"]["what"] == ["failedmr, input 2pwws90 queries1 of 2 words changed"]
        assert seen["skipped"]["what"] == ["skippedmr, input 3pwws1 query"]
        assert seen["skipped"]["parts"] == ["it is what it is"]

    def test_pairs_show_both_parts_with_words_counted_through_them(self, seen):
        found = seen["pair"]
        assert found["parts"] == ["a man sleeps", "he, rests", "a boy sleeps", "he, na ps"]
        assert (found["before"], found["after"]) == (["man", "rests"], ["boy", "na ps"])
        assert found["truth"] == ["</script><b>", "</script><b>"]  # a name is a text like any other
