"""Every study that is shipped: it validates, names what it lacks, and asks what the paper's claims are about."""

from importlib.resources import files
from pathlib import Path

import pytest

from analysis.paper.claims import claims_of, known_places, printed_values
from rse_study.results.comparisons import row_name
from rse_study.study.presence import check_data
from rse_study.study.record import num_cells
from rse_study.study.validation import read_study

SHIPPED = Path(str(files("search_spaces")))
STUDIES = sorted(path for path in SHIPPED.rglob("*.yaml") if path.parent.name not in ("bases", "trials"))
PAPER_SCALE = sorted((SHIPPED / "paper").glob("rse_*.yaml"))  # of RobustSentEmbed
MINI_SCALE = sorted((SHIPPED / "mini").glob("rse_*.yaml"))
CORPUS = "wiki/wiki1m/wiki1m_for_simcse.txt"
PLACES = ["rse-figure4", "rse-figure5", "rse-figure6", "rse-section-b4", "rse-table5", "rse-table6"]


def stem(path):
    return path.stem


@pytest.fixture(scope="module")
def checked():
    """A study as it is read, read once."""
    known = {}

    def read(path):
        if path not in known:
            known[path] = read_study(path)
        return known[path]

    return read


def rows_of(study):
    return [row_name(row.label, row.proposal) for row in study.rows]


def table_of(study):
    return study.study.paper.table if study.study.paper is not None else ""


def test_the_folders_are_not_empty():
    assert len(STUDIES) > len(PAPER_SCALE) + len(MINI_SCALE) > 0
    assert PAPER_SCALE
    assert MINI_SCALE


@pytest.mark.parametrize("path", STUDIES, ids=stem)
def test_it_validates_and_is_called_like_its_file(checked, path):
    found = checked(path)
    assert found.study.name == path.stem.replace("_", "-") or found.study.name == path.stem
    assert num_cells(found) > 0


def test_no_two_share_a_name(checked):
    names = [checked(path).study.name for path in STUDIES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("path", STUDIES, ids=stem)
def test_its_rows_have_names_of_their_own(checked, path):
    names = rows_of(checked(path))
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("path", [path for path in STUDIES if path.parent.name != "paper"], ids=stem)
def test_what_it_needs_is_in_the_shipped_data(checked, data_dir, path):
    assert [str(problem) for problem in check_data(checked(path), data_dir)] == []


@pytest.mark.parametrize("path", PAPER_SCALE, ids=stem)
def test_at_the_papers_scale_exactly_the_corpus_may_be_missing(checked, data_dir, path):
    missing = check_data(checked(path), data_dir)
    if (data_dir / CORPUS).exists() or (data_dir / f"{CORPUS}.gz").exists():
        assert missing == []
        return
    (problem,) = missing
    assert (problem.what, problem.where) == (f"base.corpus.source = {CORPUS!r}", str(path))
    assert str(data_dir / CORPUS) in problem.rule


@pytest.mark.parametrize("path", PAPER_SCALE, ids=stem)
def test_with_an_empty_data_folder_corpus_and_dev_pairs_are_missing(checked, tmp_path, path):
    assert [problem.what for problem in check_data(checked(path), tmp_path)] == [
        f"base.corpus.source = {CORPUS!r}",
        "base.selection.dev = 'STS-B'",
    ]


@pytest.mark.parametrize("path", PAPER_SCALE, ids=stem)
def test_with_the_corpus_nothing_is_missing(checked, data_dir, tmp_path, path):
    text = tmp_path / CORPUS
    text.parent.mkdir(parents=True)
    text.write_text("One sentence .\nAnother sentence .\n", encoding="utf-8")
    (tmp_path / "sts").symlink_to(data_dir / "sts")
    assert check_data(checked(path), tmp_path) == []


@pytest.mark.parametrize("path", STUDIES, ids=stem)
def test_its_table_is_a_place_of_a_paper(checked, path):
    assert table_of(checked(path)) in ("", *known_places())


def test_every_ablation_of_the_paper_is_asked_at_both_scales(checked):
    for paths in (PAPER_SCALE, MINI_SCALE):
        assert sorted(filter(None, (table_of(checked(path)) for path in paths))) == PLACES


@pytest.mark.parametrize("path", PAPER_SCALE, ids=stem)
def test_at_the_papers_scale_every_claim_is_asked(checked, path):
    """No verdict can be "not asked": each row of each claim is a row of the study."""
    found = checked(path)
    claims = claims_of(table_of(found))
    assert bool(claims) == (table_of(found) != "")
    assert [(claim.id, row) for claim in claims for row in claim.rows if row not in rows_of(found)] == []


@pytest.mark.parametrize("path", PAPER_SCALE, ids=stem)
def test_at_the_papers_scale_every_printed_row_is_there(checked, path):
    found = checked(path)
    printed = printed_values(table_of(found))
    assert [row for row in printed if row not in rows_of(found)] == []


def test_every_claim_about_an_ablation_of_robustsentembed_belongs_to_a_study(checked):
    """What the paper says of other places is about systems of others, attacks and geometry: no grid of ours."""
    elsewhere = {"rse-figure2", "rse-figure3"}
    claimed = {place for place in known_places() if place.startswith("rse-") and claims_of(place)}
    assert claimed - elsewhere == {table_of(checked(path)) for path in PAPER_SCALE} - {""}


@pytest.mark.parametrize("path", [*PAPER_SCALE, *MINI_SCALE], ids=stem)
def test_rows_are_compared_with_one_that_is_there_on_seeds_enough(checked, path):
    study = checked(path).study
    assert study.grid is not None
    assert study.grid.baseline in study.grid.rows
    assert len(study.seeds) >= 8
    assert (study.objective.metric, study.objective.direction) == ("dev", "maximize")


@pytest.mark.parametrize("path", MINI_SCALE, ids=stem)
def test_a_mini_study_says_so_and_asks_what_the_large_one_asks(checked, path):
    study, large = (
        checked(path).study,
        checked(SHIPPED / "paper" / f"{path.stem.removesuffix('_mini')}.yaml").study,
    )
    assert study.paper.scale == "mini"
    assert large.paper is None or large.paper.scale == "paper"
    assert (study.question, table_of(checked(path))) == (
        large.question,
        large.paper.table if large.paper else "",
    )
    assert study.grid.baseline == large.grid.baseline
    assert (study.base.encoder.name, large.base.encoder.name) == ("tiny", "bert-base-uncased")
