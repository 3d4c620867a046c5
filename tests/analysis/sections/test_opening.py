import dataclasses

from analysis.contents import baseline_scores
from analysis.search import trials
from analysis.sections import opening as section
from analysis.sections.search import best, trial_table
from rse_study.results.files.ledger import Ledger
from rse_study.results.manipulation import ManipulationCheck
from rse_study.results.row_checks import RowChecks
from tests.analysis import fronted, searched, tabled
from tests.analysis.outline import Outline
from tests.analysis.searched import with_search


def test_a_search_without_confirmation_has_no_results(search_dir, contents):
    found = contents(search_dir)
    study = found.study.model_copy(update={"resolved": {}})
    cells = found.cells[found.cells["stage"] == "search"]
    alone = with_search(dataclasses.replace(found, study=study, cells=cells), study=study)
    assert section.caution(alone).startswith(
        "Do not rank the search's trials by their scores: each is one run with one seed"
    )
    assert "none of its numbers is a result" in section.caution(alone)
    assert "Confirmation" not in section.states(alone)
    assert section.caution(dataclasses.replace(found, cells=found.cells[:0])).startswith(
        "Nothing has ended yet"
    )


def test_the_first_screen_of_a_search_answers_before_it_cautions(search_dir, contents):
    text = Outline(section.opening(contents(search_dir))).text
    for words in (
        "No answer: trial 12 (best of the search) minus the base is +1.25 on builtin/test.",
        "Two seeds cannot tell a gain from chance.", "1e-05", "device time", "attempts lost",
    ):  # fmt: skip
        assert words in text, words
    question = contents(search_dir).study.question
    assert text.index(question) < text.index("No answer") < text.index("Do not rank")


def test_the_first_screen_of_a_grid(grid_dir, contents):
    text = Outline(section.opening(contents(grid_dir), tabled.comparison_of(grid_dir))).text
    for words in (
        "No answer yet: 1 of 21 cells has not ended.",
        "highest mean", "base, 75.50 over 3 seeds, not shown to be better",
        "Grid of 7 rows x 3 seeds: 19 of 21 cells complete",
    ):  # fmt: skip
        assert words in text, words


def test_a_study_that_has_not_begun_has_no_picture(tmp_path, contents):
    found = contents(searched.make(tmp_path))
    assert "No answer yet: no trial has ended." in section.opening(found)
    assert "figure-first" not in section.opening(found)


def test_the_first_screen_names_the_strongest_baseline_where_no_row_beats_it_and_the_start_below_which_all_are(
    tmp_path, contents
):
    folder = tabled.make(tmp_path, {"base": (50.0, 51.0, 52.0), "row": (55.0, 56.5, 57.0)}, baseline="base")
    with Ledger.open(folder) as ledger:
        ledger.record_evaluations(
            [
                searched.measure("mean", "STS-B/dev", 81.25),
                searched.measure("start", "STS-B/dev", 56.0),
                searched.measure("untrained", "STS-B/dev", 90.0).model_copy(update={"degenerate": True}),
            ]
        )
    comparison = tabled.comparison_of(folder)
    text = Outline(section.opening(contents(folder), comparison)).text
    told = 'No row beats "mean, no training" on STS-B dev, Spearman x100: 56.17 against 81.25.'
    assert told in text
    assert "answer doubted" in section.opening(contents(folder), comparison)
    with Ledger.open(folder) as ledger:
        ledger.record_evaluations([searched.measure("start", "STS-B/dev", 60.0)])
    text = section.unbeaten_text(contents(folder))
    assert text == told, "that it is below its start, too, is said of every row"
    assert section.unbeaten_text(contents(grid_without_baselines(tmp_path))) == ""


def grid_without_baselines(folder):
    return tabled.make(folder / "bare", {"base": (50.0, 51.0, 52.0)}, baseline="base")


def test_rows_with_different_seeds_are_ranked_over_those_that_all_share(tmp_path, contents):
    def told(name, rows):
        folder = tabled.make(tmp_path / name, rows, baseline="base")
        return section.best_row(contents(folder), tabled.comparison_of(folder))

    failed = tabled.FAILED
    rows = {"base": (50.0, 51.0, 52.0, 40.0), "lucky": (49.0, 50.0, 51.0, failed)}
    text = told("shared", rows)  # the base is better with each of three seeds, and has a harder fourth
    assert text.startswith("base, 48.25 over 4 seeds, the baseline itself")
    assert "; best over 3 seeds that all rows share; " in text
    apart = {"base": (50.0, 51.0, failed, failed), "other": (failed, failed, 60.0, 61.0)}
    text = told("apart", apart)
    assert text.startswith("other, 60.50 over 2 seeds, ")
    assert "; means over different seeds; " in text
    even = {"base": (50.0, 51.0, failed), "other": (60.0, 61.0, failed)}
    assert "seeds that" not in told("even", even) and "different seeds" not in told("even too", even)


def test_the_first_screen_says_which_axis_mattered_or_that_nobody_can_say(
    tmp_path, path_dir, search_dir, contents
):
    rows = {"norm = l1": (70.0, 73.5, 68.2, 71.0), "norm = l2": (70.5, 73.0, 69.2, 71.5)}
    far = {"norm = linf": (80.1, 84.0, 78.5, 81.0)}
    for name, grid, words in (
        ("alike", rows, "norm: none of l1 and l2 is shown to be better than another."),
        ("apart", rows | far, "norm: 2 of 3 pairs of values differ: l1 and linf and l2 and linf."),
    ):
        folder = tabled.make(tmp_path / name, grid)
        assert words in section.axes_text(contents(folder), tabled.comparison_of(folder))
    assert "along the ablation path: lambda2 +1.60" in section.axes_text(contents(path_dir), None)
    assert "cannot tell which axis" in section.axes_text(contents(search_dir), None)
    bare = dataclasses.replace(contents(search_dir), importance=contents(search_dir).importance[:0])
    assert section.axes_text(bare, None).startswith("Unknown: there are neither")


def test_notes_and_tags_of_a_study_stand_on_its_first_screen(search_dir, contents):
    found = contents(search_dir)
    resolved = found.study.resolved | {"notes": "after the reviews", "tags": ["tiny", "rebuttal"]}
    noted = dataclasses.replace(found, study=found.study.model_copy(update={"resolved": resolved}))
    assert "after the reviews" in section.opening(noted)
    assert "tiny, rebuttal" in section.opening(noted)


def test_a_picture_beside_a_small_table_follows_the_answer_and_goes_before_the_facts(
    tmp_path, search_dir, path_dir, contents
):
    for folder, comparison, table in (
        (search_dir, None, "axis base best"),
        (path_dir, None, "axis base best gain on the path"),
        (tabled.make(tmp_path, {"base": (50.0, 51.0, 52.0), "row": (55.0, 56.5, 57.0)}, baseline="base"), True,
         "row mean against base"),
    ):  # fmt: skip
        html = section.opening(contents(folder), comparison and tabled.comparison_of(folder))
        places = [
            html.index(part)
            for part in ('class="answer', 'id="figure-first"', 'class="strip"', "How this was")
        ]
        assert places == sorted(places)
        headings = html[html.index("<thead>") : html.index("</thead>")]
        assert Outline(headings).text.split() == table.split()


def test_a_grid_says_how_many_rows_end_beyond_the_encoder_before_training(tmp_path, contents):
    folder = tabled.make(tmp_path, {"base": (50.0, 51.0, 52.0), "row": (55.0, 56.5, 57.0)}, baseline="base")
    for start, told in (
        (40.0, "All 2 rows end above"),
        (53.0, "1 of 2 rows end above"),
        (60.0, "No row ends above"),
    ):
        with Ledger.open(folder) as ledger:
            ledger.record_evaluations([searched.measure("start", "STS-B/dev", start)])
        comparison = tabled.comparison_of(folder)
        assert section.start_text(contents(folder), comparison).startswith(
            f"{told} the encoder before training ("
        )


def test_parts_without_effect_take_one_line_with_their_sentences_below_it(grid_dir, contents):
    found = contents(grid_dir)
    sentences = section.inert_sentences(found.checks)
    html = section.inert_line(found)
    assert sentences
    assert html.count("<summary>") == 1
    assert all(section.page.escape(one) in html for one in sentences)
    assert section.inert_line(dataclasses.replace(found, checks=())) == ""


def test_inert_parts_are_named_once_with_their_rows_or_with_the_number_of_rows(grid_dir, contents):
    check = ManipulationCheck("delta/moved", "delta", "it moves by {}", limit=0.1, leaves="noise")
    rows = [RowChecks(f"row {number}", [(check, 0.01 * number)], is_recorded=True) for number in range(5)]
    alive = RowChecks("alive", [(check, 0.5)], is_recorded=True)

    def summary(*checks):
        html = section.inert_line(dataclasses.replace(contents(grid_dir), checks=checks))
        return Outline(html[: html.index("</summary>")]).text.strip()

    assert summary(rows[0], rows[1], alive) == 'Without effect in "row 0" and "row 1": delta.'
    assert summary(*rows, alive) == "Without effect in 5 of 6 rows: delta."


def test_best_and_trials_have_a_value_on_every_objective(tmp_path, contents):
    found = contents(fronted.make_two(tmp_path, 3.0, 2.0))
    table = trials(found)
    said = f"61.00 on builtin dev, Spearman x100 and 45.00 on {fronted.ROBUST} after"
    assert said in Outline(best(found, table)).text
    scores = baseline_scores(found.study, found.evaluations, found.study.objective.evaluation)
    text = " ".join(Outline(trial_table(found, table, scores)).text.split())
    assert f"trial builtin dev, Spearman x100 {fronted.ROBUST} step" in text
    assert "2 * 61.00 45.00" in text
