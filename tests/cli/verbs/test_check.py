"""`check` on real ledgers: what it prints, how it ends."""

import json
import math
import re

import pandas as pd
import pytest

from analysis.report import write_report
from rse_study.cli.verbs.check import NO_CLAIM
from rse_study.results.files.ledger import Ledger
from tests.analysis import tabled
from tests.analysis.outline import Outline
from tests.cli.a_study import SEARCH
from tests.results.samples import around, half_width

SIMCSE = (70.0, 73.5, 68.25, 71.0)
PAPER = {"table": "rse-table6", "scale": "paper"}
MINI = {"table": "rse-table6", "scale": "mini"}
CLAIM = "equal shares of PGD and FGSM give the best STS average (robustsentembed.txt:1014)"


BEYOND = 1.01 + 0.5 / half_width(4)  # half widths of an interval that lies below the margin


def above(row, gains):
    return tuple(value + gain for value, gain in zip(row, gains, strict=True))


def rows_where(half):
    """rho = 0.5 is better than the one other value of rho by so many half widths of the interval."""
    best = above(SIMCSE, (3.0, 4.0, 2.5, 3.25))
    return {"rho = 0": above(best, -around(half * half_width(4), 4)), "rho = 0.5": best, "SimCSE": SIMCSE}


@pytest.fixture
def little(make):
    """Put such a grid into the store, as `little`."""

    def grid(rows, baseline="SimCSE", **study):
        return make("little", rows, baseline=baseline, **study)

    return grid


def test_another_row_is_the_baseline_where_one_is_named(rse, little):
    little(rows_where(1.5), baseline="rho = 0")
    own, other = rse("check", "little"), rse("check", "little", "--baseline", "rho=0.5")
    assert (own.code, other.code) == (3, 3)  # no claim
    assert "minus rho = 0 " in own.out
    assert "minus rho = 0.5 " in other.out
    wrong = rse("check", "little", "--baseline", "rho = 0.7")
    assert wrong.code == 2
    assert "no row 'rho = 0.7'" in wrong.err
    assert "Did you mean 'rho = 0.5'" in wrong.err or "Known" in wrong.err


def test_effects_of_a_design_are_printed_below_its_rows(rse, little):
    rows = {
        f"rho = {one}, N = {other}": above(SIMCSE, (one * other, 0, one, 1))
        for one in (0, 1)
        for other in (1, 5)
    }
    little(rows, baseline="", factorial=True)
    lines = rse("check", "little").out.splitlines()
    (head,) = [number for number, line in enumerate(lines) if line.startswith("effect ")]
    assert [line.split("  ")[0].strip() for line in lines[head + 1 : head + 4]] == ["rho", "N", "rho x N"]
    assert "Factors: design 2^2: every main effect and pair has a contrast of its own." in lines


def test_planned_contrasts_come_first(rse, little, make):
    rows = {"SimCSE": SIMCSE, "A": above(SIMCSE, (1, 2, 3, 4)), "B": above(SIMCSE, (0, -1, 1, 0))}
    little(rows, baseline="SimCSE", contrasts={"A minus B": {"A": 1, "B": -1}})
    lines = rse("check", "little").out.splitlines()
    headings = [number for number, line in enumerate(lines) if line.split("  ")[0] in ("contrast", "row")]
    assert [lines[number].split("  ")[0] for number in headings] == ["contrast", "row"]
    assert lines[headings[0] + 1].startswith("A minus B  ")
    assert {one["contrast"] for one in json.loads(rse("check", "little", "--json").out)["planned"]} == {
        "A minus B"
    }
    make("plain", {"A": SIMCSE})
    assert "planned" not in json.loads(rse("check", "plain", "--json").out)


WORSE = {"rho = 0": SIMCSE, "rho = 1": above(SIMCSE, (1, 2, 3, 4))}
OPEN = (*SIMCSE[:2], tabled.PLANNED, tabled.RUNNING)
TO_RUN = "Incomplete: cells of 1 row are still to run."
SHORT = {name: row[:2] for name, row in rows_where(50.0).items()}
WITHOUT_BEST = {name: row for name, row in rows_where(1.01).items() if name != "rho = 0.5"}
ENDS = {
    "reproduced": (rows_where(1.01), PAPER, 0, [f"reproduced: {CLAIM}"]),
    "undecided": (rows_where(0.99), PAPER, 3, [f"undecided: {CLAIM}"]),
    "within the margin": (rows_where(-BEYOND + 0.02), PAPER, 3, [f"undecided: {CLAIM}"]),
    "contradicted": (rows_where(-BEYOND), PAPER, 1, [f"contradicted: {CLAIM}"]),
    "at another scale": (rows_where(-BEYOND), MINI, 1, [f"other direction here: {CLAIM}"]),
    "two seeds": (SHORT, PAPER, 3, [f"undecided: {CLAIM}"]),
    "an open cell": (rows_where(-50.0) | {"rho = 0": OPEN}, PAPER, 3, [f"incomplete: {CLAIM}", TO_RUN]),
    "not asked": (WITHOUT_BEST, PAPER, 3, [f"not asked: {CLAIM}", NO_CLAIM]),
    "no claim": (WORSE, None, 3, [NO_CLAIM]),
    "no claim, an open cell": (WORSE | {"rho = 1": OPEN}, None, 3, [TO_RUN, NO_CLAIM]),
}


@pytest.mark.parametrize(("rows", "paper", "code", "said"), ENDS.values(), ids=ENDS)
def test_the_exit_code_is_the_verdict(rse, little, rows, paper, code, said):
    little(rows, baseline="SimCSE" if paper else "", paper=paper)
    ended = rse("check", "little")
    assert (ended.code, ended.err) == (code, "")
    assert {*said} <= {*ended.out.splitlines()}
    assert (NO_CLAIM in ended.out) == (NO_CLAIM in said)
    assert ("Claims" in ended.out or CLAIM in ended.out) == (paper is not None)


def test_everything_a_reader_needs_is_there(rse, little):
    little(rows_where(1.01), paper=MINI)
    lines = rse("check", "little").out.splitlines()
    assert lines[0] == "little: STS-B dev, Spearman x100"
    assert " ".join(lines[1].split()) == (
        "row paper mean SD seeds minus SimCSE 95%, all rows at once verdict p (sign-flip) p (Holm) g "
        "better seeds group"
    )
    row = next(line for line in lines if line.strip().startswith("rho = 0.5 "))
    assert row.split()[3:5] == ["77.90", "73.88"]  # the paper's, ours
    verdict = lines.index(f"same direction here: {CLAIM}")
    low, high = (half_width(4) * 1.01 + sign * half_width(4) for sign in (-1, 1))
    assert lines[verdict + 1].strip() == (
        f"rho = 0.5 minus rho = 0: +{half_width(4) * 1.01:.2f} [+{low:.2f}, +{high:.2f}]"
    )
    limit = "Mini scale: a direction here, with a two-layer encoder, proves nothing about"
    assert any(line.startswith(limit) for line in lines)
    assert lines[-1].startswith("Item scores were not kept")
    power = re.compile(r"4 seeds and 2 comparisons with SimCSE: a true difference of \d")
    assert any(power.match(line) for line in lines)


GAINS = (3.1, 2.9, 3.05, 3.0, 3.12)
FIVE = (*SIMCSE, 70.2)
BARE = "A has no finite score with seed 4. Of A nothing is decided by the other seeds alone."
AGAIN = "Cells of A are complete without a finite score: no run repeats them."
STAYS = {
    "inf": ((*above(FIVE, GAINS)[:4], math.inf), [BARE, AGAIN]),
    "ten points low": (
        above(FIVE, (*GAINS[:4], -7.0)),
        [
            "Verdicts assume that no seed fails or collapses, but A lies 9.9 away from its other seeds with seed 4."
        ],
    ),
}


@pytest.mark.parametrize(("scores", "said"), STAYS.values(), ids=STAYS)
def test_check_and_page_name_the_seeds_that_leave_a_row_undecided(rse, little, scores, said):
    folder = little({"SimCSE": FIVE, "A": scores})
    ended, as_json = rse("check", "little"), json.loads(rse("check", "little", "--json").out)
    page = " ".join(Outline(write_report(folder).read_text()).text.split())
    assert [row["verdict"] for row in as_json["contrasts"]] == ["undecided"] * 2
    assert as_json["is_complete"]
    for text in said:
        assert text in ended.out
        assert text in page
    assert said[0] in as_json["criterion"]
    assert "rse-study run" not in ended.next
    assert "It is undecided whether A differs from SimCSE" in page


def test_no_page_says_better_of_a_study_that_runs_without_so_far(rse, little):
    more = (*FIVE, 69.9, 72.1)
    folder = little(
        {"SimCSE": (*more, tabled.PLANNED), "A": (*above(more, (*GAINS, 3.0, 2.9)), tabled.RUNNING)}
    )
    page = " ".join(Outline(write_report(folder).read_text()).text.split())
    assert "highest mean A, 73.72 over 7 seeds, better than SimCSE so far" in page
    assert "A has the highest mean, 73.72, and is shown to be better than SimCSE so far." in page
    assert ", better so far, 7 seeds paired" in rse("compare", "little:A", "little:SimCSE").out


RATE = "attack-mr/pwws/success_rate"
TABLE1 = {"paper": {"table": "rse-table1", "scale": "paper"}, "evaluations": ("attack-mr/pwws",)}


def main_table(tmp_path, theirs):
    """Rates of success of four seeds against SimCSE and RobustSentEmbed."""
    rows = {"SimCSE": SIMCSE, "RobustSentEmbed": SIMCSE}
    folder = tabled.make(tmp_path / "studies" / "little", rows, name="little", baseline="SimCSE", **TABLE1)
    return tabled.add(folder, {RATE: {"SimCSE": (80.0, 81.0, 82.0, 80.5), "RobustSentEmbed": theirs}})


def test_a_main_table_shows_each_column_beside_the_papers_and_is_written_with_the_others(rse, tmp_path):
    main_table(tmp_path, (90.0, 91.5, 92.0, 90.75))
    ended = rse("check", "little", "--out", "tables")
    lines = ended.out.splitlines()
    at = lines.index("rse-table1: ours (the paper's)")
    assert [" ".join(line.split()) for line in lines[at + 1 : at + 6]] == [
        "row MR",
        "SimCSE 80.88 (55.73)",
        "USCAL (not trained) (40.67)",
        "RobustEmbed (not trained) (28.15)",
        "RobustSentEmbed 91.06 (28.05)",
    ]
    assert lines[at + 6].startswith(
        "Directions of rse-table1, 1 difference from SimCSE: 0 same, 1 other, 0 undecided."
    )
    assert lines[at + 7] == "Less is better."
    assert (ended.code, ended.err) == (3, "")  # a column is no claim, and no average is measured
    endings = ("-columns.csv", ".tex", "-columns.tex")
    assert lines[-3:] == [f"tables/little{ending}" for ending in endings]
    found = pd.read_csv(tmp_path / "tables/little-columns.csv").set_index("row")
    assert found.loc["RobustSentEmbed", ["mean", "paper", "direction"]].tolist() == [91.0625, 28.05, "other"]


def refused(ended, *parts):
    assert ended.code == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert all(part in ended.err for part in parts), ended.err


def test_a_search_has_no_rows(rse, tmp_path):
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH)
    ended = rse("check", "little")
    refused(ended)
    rule = "is a search: check compares the rows of a grid"
    assert ended.err == f"studies/little: {rule}. See its confirmed trials: rse-study report\n"


def test_a_table_that_no_paper_has_is_no_clean_bill(rse, little):
    little(rows_where(1.01), paper={"table": "rse-tabel6", "scale": "paper"})
    ended = rse("check", "little")
    refused(ended)
    assert ended.err == (
        "studies/little: paper.table = 'rse-tabel6': no table or figure of a paper. Did you mean 'rse-table6'?\n"
    )


def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_read(rse, little, tmp_path):
    little(rows_where(1.01))
    (tmp_path / "taken").write_text("")
    refused(
        rse("check", "little", "--out", "taken"),
        "--out taken",
        "taken is not a folder",
        "Name another folder",
    )
