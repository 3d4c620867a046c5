"""`compare` on real ledgers: two rows, or two studies, seed by seed."""

import math
import re
import shlex

import numpy as np
import pytest
from scipy import stats

from rse_study.results.files.ledger import Ledger
from tests.analysis import searched, tabled

FIRST = (71.0, 74.5, 70.0, 72.0, 75.5)
SECOND = (70.0, 73.0, 69.5, 71.75, 73.0)
GAINS = np.subtract(FIRST, SECOND)
NUMBERS = re.compile(r"[-+]\d+\.\d+")


@pytest.fixture
def one(make):
    return make("one", {"rho = 0.5": FIRST, "SimCSE": SECOND})


def compared(ended):
    """What it printed, without the differences of each seed and what decides."""
    return [
        line for line in ended.out.splitlines() if not line.startswith(("    by seed: ", "Verdicts follow"))
    ]


def interval(result):
    found = result.confidence_interval(0.95)
    return [found.low, found.high]


def refused(ended, *messages):
    assert ended.code == 2
    assert "Traceback" not in ended.out + ended.err
    assert ended.err.splitlines() == list(messages)


def test_two_rows_are_paired_by_seed(rse, one):
    ended = rse("compare", "one:rho = 0.5", "one:SimCSE")
    assert (ended.code, ended.err) == (0, "")
    title, line, by_seed, rule = ended.out.splitlines()
    assert rule.startswith(
        "Verdicts follow the 95% interval (Student's t): the seeds were chosen before the first"
    )
    assert by_seed == "    by seed: " + ", ".join(f"{n}: {gain:+.2f}" for n, gain in enumerate(GAINS))
    assert title == "STS-B dev, Spearman x100: one:rho = 0.5 minus one:SimCSE"
    expected = [GAINS.mean(), *interval(stats.ttest_1samp(GAINS, 0.0))]
    assert [float(number) for number in NUMBERS.findall(line)[:3]] == pytest.approx(expected, abs=0.005)
    assert line.startswith("rho = 0.5 minus SimCSE: +1.15, 95% [")
    wilcoxon = stats.wilcoxon(GAINS, method="exact").pvalue
    tested = f"p = 0.0625 (sign-flip), {wilcoxon:.4f} (Wilcoxon)"
    assert f"better, 5 seeds paired, SD {GAINS.std(ddof=1):.2f}, {tested}" in line


@pytest.mark.parametrize("ended", [tabled.FAILED, math.inf])
def test_rows_that_failed_with_a_seed_are_not_compared_by_the_others_alone(rse, make, ended):
    make("one", {"rho = 0.5": FIRST, "SimCSE": SECOND, "A": (*(value + 9 for value in FIRST[:4]), ended)})
    found = rse("compare", "one:A", "one:SimCSE").out
    assert ", undecided, 4 seeds paired" in found
    assert "Of A nothing is decided by the other seeds alone." in found
    assert "nothing is decided" not in rse("compare", "one:rho = 0.5", "one:SimCSE").out


def test_seeds_are_matched_by_number_not_by_order(rse, make):
    make("one", {"a": FIRST}, seeds=(4, 3, 2, 1, 0))
    make("two", {"a": FIRST[::-1]}, seeds=(0, 1, 2, 3, 4))
    ended = rse("compare", "one", "two")
    assert ended.code == 0
    assert ended.out.splitlines()[1].startswith(
        "a: +0.00, 95% [+0.00, +0.00], the same within \N{PLUS-MINUS SIGN}0.5, 5 seeds paired, SD 0.00"
    )


def test_two_studies_are_compared_row_by_row(rse, one, make):
    make("two", {"SimCSE": FIRST, "rho = 0.5": FIRST, "rho = 1": FIRST})
    ended = rse("compare", "one", "two")
    assert (ended.code, ended.err) == (0, "")
    begins = ["STS-B dev, Spearman ", "rho = 0.5: +0.00, 95", "SimCSE: -1.15, 95% ["]
    assert [line[:20] for line in compared(ended)] == begins


def test_another_metric_may_be_asked_for(rse, make):
    make("one", {"a": FIRST, "b": SECOND})
    ended = rse("compare", "one:a", "one:b", "--metric", "STS-B/test")
    assert ended.code == 0
    assert ended.out.startswith("STS-B/test: one:a minus one:b\na minus b: +1.15, 95% [")


@pytest.fixture
def joint(searched_once, tmp_path):
    """A search that is confirmed, in the store."""
    (tmp_path / "studies").mkdir(exist_ok=True)
    (tmp_path / "studies" / "joint").symlink_to(searched_once)


@pytest.fixture(scope="module")
def searched_once(tmp_path_factory):
    return searched.make(tmp_path_factory.mktemp("searched") / "joint", searched.search, searched.confirm)


def test_seeds_that_only_one_has_are_left_out_and_said(rse, make):
    make("one", {"a": FIRST}, seeds=(0, 1, 2, 3, 4))
    make("two", {"a": SECOND}, seeds=(1, 2, 3, 4, 9))
    line = rse("compare", "one", "two").out.splitlines()[1]
    assert "4 seeds paired" in line
    assert line.endswith("; without seeds 0, 9, which only one has")
    expected = np.subtract(FIRST[1:], SECOND[:4]).mean()
    assert float(NUMBERS.search(line)[0]) == pytest.approx(expected, abs=0.005)


PLANNED = [tabled.PLANNED] * 5
OTHERS = {
    "later": ({"rho = 0.5": SECOND}, (3, 4, 5, 6, 7)),
    "planned": ({"rho = 0.5": PLANNED, "b": FIRST}, range(5)),
    "unlike": ({"x": FIRST, "y": FIRST}, range(5)),
    "empty": ({"rho = 0.5": PLANNED}, range(5)),
}
REFUSED = {
    "one later": "rho = 0.5: cannot be paired: pairs need 3 seeds that both rows have; they share 2. "
    "Run the missing seeds",
    "one one --unpaired": "the option --unpaired was removed. Run both rows with the same seeds, or `export` the "
    "scores and compare their means",
    "one:SimCSE one:SimCES": "one: no row 'SimCES' with a score. Did you mean 'SimCSE'?",
    "planned:b 'planned:rho = 0.5'": "planned: no row 'rho = 0.5' with a score. Known: b",
    "one unlike": "one, unlike: no row in common: rows are matched by name. Name the rows: STUDY:ROW",
    "one empty": "empty: nothing to compare: no row has a score yet. See its progress: rse-study status",
    "one one --metric STS-B/tset": "one: nothing to compare: no row has a score of 'STS-B/tset'. "
    "Did you mean 'STS-B/test'?",
    "one onne": "studies: no study 'onne' has run. Did you mean 'one'?",
    "one": "STUDY[:ROW]: nothing to compare with: two are needed. Name another one: rse-study compare one OTHER",
}


@pytest.mark.parametrize(("line", "message"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_compared_is_refused(rse, one, make, line, message):
    for name in {*re.findall(r"[a-z]+", line)} & {*OTHERS}:
        make(name, *OTHERS[name])
    refused(rse("compare", *shlex.split(line)), message)


def test_rows_that_can_be_paired_are_shown_beside_those_that_cannot(rse, one, make):
    make("two", {"rho = 0.5": (70.0, 71.0, *[tabled.FAILED] * 3), "SimCSE": FIRST})
    ended = rse("compare", "one", "two")
    assert ended.code == 2
    assert ended.out.splitlines()[1].startswith("SimCSE: -1.15")
    assert ended.err.startswith("rho = 0.5: cannot be paired: ")


def test_two_measures_are_not_compared(rse, one, joint):
    refused(
        rse("compare", "one:SimCSE", "joint:base"),
        "one:SimCSE, joint:base: not the same measure: 'STS-B dev, Spearman x100' is not 'builtin dev, Spearman x100'."
        " Name an evaluation both have: --metric STS-B/test",
    )


def test_nothing_is_said_in_nan(rse, make):
    """Of many seeds there is no exact p; of rows that are alike in every seed an interval has no width."""
    rng = np.random.default_rng(0)
    base = rng.normal(70, 2, 24)
    make("many", {"a": tuple(base + rng.normal(1, 1, 24)), "b": tuple(base)})
    line = rse("compare", "many:a", "many:b").out.splitlines()[1]
    assert "24 seeds paired" in line
    assert "nan" not in line and "p =" not in line
    make("one", {"a": FIRST, "b": tuple(value - 0.5 for value in FIRST)})
    line = rse("compare", "one:a", "one:b").out.splitlines()[1]
    assert "+0.50, 95% [+0.50, +0.50]" in line
    assert "nan" not in line
    assert math.isinf(float(line.rsplit("g ", 1)[1]))


def test_more_than_two_are_each_compared_with_the_first(rse, one, make):
    make("two", {"rho = 0.5": SECOND, "SimCSE": SECOND})
    ended = rse("compare", "one:rho = 0.5", "one:SimCSE", "two")
    assert (ended.code, ended.err) == (0, "")
    title, *lines = compared(ended)
    assert title.endswith("one:rho = 0.5 minus one:SimCSE, two; intervals hold for all 2 rows at once")
    assert lines[0].startswith("rho = 0.5 minus SimCSE: +1.15")
    assert lines[1].startswith("rho = 0.5 (one:rho = 0.5 minus two): +1.15")


def test_a_page_sets_them_side_by_side(rse, one, make, tmp_path):
    make("two", {"rho = 0.5": (70.0, 71.0, *[tabled.FAILED] * 3), "SimCSE": FIRST})
    ended = rse("compare", "one", "two", "--out", "page.html")
    assert ended.code == 2, "one of the pairs shares too few seeds"
    assert ended.out.splitlines()[-1] == "page.html"
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    line = next(line for line in ended.out.splitlines() if line.startswith("SimCSE: "))
    for words in (
        line.removeprefix("SimCSE: "),
        "they share 2. Run the missing seeds",
        "<td>74.50</td>",
        "0: -1.00, 1: ",
    ):
        assert words in html, words


@pytest.mark.parametrize("names", [("one", "two"), ("two", "one")])
def test_a_margin_that_either_study_changed_after_a_look_is_said(rse, one, make, names):
    folder = make("two", {"SimCSE": FIRST})
    with Ledger.open(folder) as ledger:
        study = ledger.study()
        ledger.freeze(study.model_copy(update={"resolved": study.resolved | {"margin": 0.25}}), "margin")
    *_, rule = rse("compare", *names).out.splitlines()
    assert "Differences within ±0.25 count as the same." in rule
    assert rule.endswith("The margin was changed from 0.5 to 0.25 after there were results.")
