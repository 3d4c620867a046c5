"""A factorial design on the page, in `check` and for papers: effects, what shares a contrast, what is missing."""

from dataclasses import replace
from math import inf

import pandas as pd
import pytest

from analysis.answer import effects_remarks, family_table
from analysis.figures.forest import draw_forest, family_forest_data, hover
from analysis.figures.lines import draw_heat, interactions_data
from analysis.paper.layout import write_layouts
from analysis.report import render
from analysis.sections.opening import answer
from rse_study.study.definition.rows import corners
from tests.analysis import tabled

FACTORS = ("PGD", "eta", "masks", "RTD")
SEEDS = (0.0, 0.5, -0.25, 1.0, 0.25)


def rows_of(resolution, gain):
    """PGD is worth two points with eta and none without; the noise of a seed is common to its rows but for a trace."""
    rows = {}
    for number, levels in enumerate(corners(len(FACTORS), resolution)):
        name = ", ".join(
            f"{factor} = {'on' if level else 'off'}" for factor, level in zip(FACTORS, levels, strict=True)
        )
        both = levels[0] * levels[1]
        rows[name] = tuple(70 + gain * both + seed + 0.01 * (number * seed % 0.3) for seed in SEEDS)
    return rows


@pytest.fixture(scope="module")
def read(tmp_path_factory, contents):
    def one(resolution="full", gain=2.0, rows=None, **study):
        folder = tabled.make(
            tmp_path_factory.mktemp("design"), rows or rows_of(resolution, gain), factorial=True, **study
        )
        return tabled.comparison_of(folder), contents(folder)

    return one


@pytest.fixture(scope="module")
def full(read):
    return read()


@pytest.fixture(scope="module")
def half(read):
    return read(4)


def test_the_table_has_every_effect_and_of_a_fraction_what_its_sum_is_of(full, half):
    table = family_table(full[0].effects)
    assert table["effect"].tolist()[:5] == [*FACTORS, "PGD x eta"]
    assert len(table) == 4 + 6
    assert table["difference"].tolist()[4] == "+1.00"
    assert "and, in its sum" not in table
    assert "every main effect and pair has a contrast of its own" in effects_remarks(full[0].effects)[0]
    table = family_table(half[0].effects).set_index("effect")
    assert table.loc["PGD x eta", "and, in its sum"] == "masks x RTD"
    assert table.loc["PGD", "and, in its sum"] == ""
    assert "7 contrasts, of which 3 are sums: PGD x eta + masks x RTD" in effects_remarks(half[0].effects)[0]
    assert effects_remarks(half[0].effects)[1].startswith("PGD, eta, masks and RTD: off (-) or on (+).")


def test_the_answer_names_the_effects_that_are_shown_before_the_rows(full, half, read):
    told = answer(full[1], full[0])
    assert told.shows_difference
    assert told.text.startswith("Of 10 effects of 4 factors, 3 differ from 0; ")
    assert all(f"{effect} +1.00 [" in told.text for effect in ("PGD", "eta", "PGD x eta"))
    assert "the study names no baseline" not in told.text
    assert "PGD x eta (with masks x RTD) +1.00" in answer(half[1], half[0]).text
    noise = {
        row: scores[number % 2 :] + scores[: number % 2]
        for number, (row, scores) in enumerate(rows_of(4, 0).items())
    }
    comparison, found = read(rows=noise | {"SimCSE": (60.0, 60.5, 60.0, 60.2, 60.1)}, baseline="SimCSE")
    text = answer(found, comparison).text
    assert text.startswith("Of 7 effects of 4 factors, none differs from 0; the largest: ")
    assert "Of 8 rows compared with SimCSE, 8 are better" in text


def test_the_page_has_effects_on_every_measure_and_a_map_instead_of_lines_and_pairs(full):
    comparison, found = full
    html = render(found, comparison)
    for part in ("<h2>Factors</h2>", 'id="figure-effects-forest"', 'id="figure-interactions"', "STS-B/test"):
        assert part in html
    assert "Each pair" not in html
    assert "Along the axes" not in html


def test_the_map_is_symmetric_with_main_effects_on_its_diagonal_and_white_at_zero(half):
    frame = interactions_data(half[0].effects)
    assert len(frame) == 16
    known = frame.set_index(["x", "y"])
    assert known.loc[("PGD", "eta"), "mean"] == pytest.approx(1.0, abs=0.01)
    for other in (("eta", "PGD"), ("masks", "RTD"), ("RTD", "masks")):  # one sum
        pd.testing.assert_series_equal(known.loc[("PGD", "eta")], known.loc[other], check_names=False)
    (drawn,) = draw_heat(frame, ("factor", "factor"), "dev", mid=0.0).data
    assert drawn.z[0][0] == known.loc[("PGD", "PGD"), "mean"]
    assert drawn.z[1][0] == drawn.z[0][1] == known.loc[("PGD", "eta"), "mean"]
    assert drawn.zmid == 0


def test_files_for_papers_have_the_effects_of_every_measure(half, tmp_path):
    paths = {path.name: path for path in write_layouts(half[0], tmp_path)}
    numbers = pd.read_csv(paths["tabled-effects.csv"], keep_default_na=False)
    assert numbers.groupby("measure").size().tolist() == [7, 7]
    assert numbers.loc[4, ["effect", "aliases", "num_seeds"]].tolist() == ["PGD x eta", "masks x RTD", 5]
    text = paths["tabled-effects.tex"].read_text(encoding="utf-8")
    assert r"\label{tab:tabled-effects}" in text
    assert "Design 2\\textasciicircum{}(4-1): differences" in text
    assert text.count(r"\\") == 1 + 7


def with_frame(comparison, **columns):
    """The comparison with other columns in its frame of effects."""
    effects = comparison.effects
    return replace(comparison, effects=replace(effects, frame=effects.frame.assign(**columns)))


def test_where_confidence_sequences_decide_they_are_shown_and_no_power_is_promised(full):
    comparison, found = full
    ends = {"anytime_low": -7.5, "anytime_high": 8.5}
    looked = with_frame(comparison, criterion="anytime", verdict="undecided", excludes_zero=False, **ends)
    table, told = family_table(looked.effects), answer(found, looked).text
    assert set(table["95%, at any time"]) == {"[\N{MINUS SIGN}7.50, +8.50]"}
    assert "95%, all effects at once" not in table
    assert "[\N{MINUS SIGN}7.50, +8.50] (95% confidence sequences for all effects at once)" in told
    assert "in 4 of 5 such studies" in " ".join(effects_remarks(comparison.effects))
    assert "in 4 of 5" not in " ".join(effects_remarks(looked.effects))
    assert "5 seeds and 10 effects: a confidence sequence needs at least 7 seeds" in " ".join(
        effects_remarks(looked.effects)
    )
    decimals = dict.fromkeys(comparison.effects.frame["measure"], 2)
    assert (family_forest_data(looked.effects, decimals)[["low", "high"]] == [-7.5, 8.5]).all(axis=None)
    unbounded = with_frame(looked, anytime_low=-inf, anytime_high=inf).effects
    assert set(family_table(unbounded)["95%, at any time"]) == {"[no bounds yet]"}
    frame = family_forest_data(unbounded, decimals)
    assert frame[["low", "high"]].isna().all(axis=None)
    assert "no bounds yet, 5 seeds" in hover(next(frame.itertuples()))
    assert {trace.name for trace in draw_forest(frame).data} == set(frame["measure"])
