from dataclasses import replace

import pytest

from rse_study.data.builtin import graded_pairs, opinions
from rse_study.data.labelled import joined
from rse_study.errors import InputError, InputErrors
from rse_study.evaluation.replayed import ReplayedPairs, ReplayedTexts
from rse_study.methods.robust_sent_embed import RobustSentEmbed
from rse_study.results.archive import ORIGIN
from rse_study.results.files.ledger import Ledger
from rse_study.study.checking.validation import check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import apply_overrides, build
from rse_study.study.pending import pending_in
from rse_study.study.planning.plan import plan_study
from rse_study.study.record import study_record
from tests.cases import cases
from tests.on_ray.world import few_pairs, make_materials
from tests.study.a_grid import on_another, run, write
from tests.study.no_search import NO_SEARCH

GRID = "grid={axes: {beta: [1e-3, 1e-2], N: {int: [1, 3], into: [pgd.num_steps, fgsm.num_steps]}}, rows: {a: {rho: 0}}}"


@pytest.fixture
def record_of(joint):
    dev = graded_pairs("dev")

    def record(*overrides):
        content = joint()
        apply_overrides(content, overrides)
        return study_record(check_study(build(Study, content, where="x.yaml"), where="x.yaml"), dev)

    return record


def test_a_search_is_recorded_with_its_stages_and_not_where_it_runs(record_of):
    record = record_of()
    assert (record.kind, record.num_trials, record.rungs) == ("search", 16, (15, 30))
    assert record.num_cells == 16 + 2 * 2  # best and base, two seeds each
    assert record.evaluations == ("builtin/test",)
    assert record.objective.evaluation == "builtin/dev/all"
    assert {axis.name: axis.kind for axis in record.axes}["N"] == "int"
    resolved = record_of("allowance={price_per_hour: 3}").resolved
    assert not {"resources", "budget", "allowance", "grid"} & set(resolved)
    assert "resources" not in resolved["confirm"]
    assert resolved["base"]["method"]["lambda1"] == 1 / 128
    assert resolved["base"]["report_every"] == 10  # defaults are written out


@pytest.mark.parametrize(
    ("objective", "label", "direction"),
    [
        ("{metric: robust/spearman}", "builtin dev under pwws, Spearman x100", "maximize"),
        ("{metric: robust/drift, direction: minimize}", "builtin dev under pwws, drift x100", "minimize"),
        ("{metric: robust/accuracy}", "builtin-opinions under pwws, accuracy x100", "maximize"),
    ],
)
def test_an_objective_under_attack_is_what_baselines_are_measured_by(record_of, objective, label, direction):
    replayed = "base.replayed={recipe: pwws, labelled: builtin}"
    found = record_of(replayed, f"objective={objective}").objective
    assert (found.label, found.direction) == (label, direction)
    pairs = graded_pairs("dev")
    texts = opinions()
    measures = (
        *ReplayedPairs(pairs, pairs, "pwws", "base").measures,
        *ReplayedTexts(texts, texts, texts, "pwws", "base").measures,
    )
    assert {measure.metric: measure.direction for measure in measures}[found.evaluation] == direction


@cases(
    ("overrides", "sets", "label", "evaluation"),
    [
        ([], ("builtin",), "builtin dev, Spearman x100", "builtin/dev/all"),
        (
            ["objective.metric=dev/kept"],
            ("builtin",),
            "builtin dev of the kept checkpoint, Spearman x100",
            "builtin/dev/all",
        ),
        ([], ("STS-B", "SICK-R"), "mean of STS-B and SICK-R dev, Spearman x100", "STS-B+SICK-R/dev/mean"),
        (
            ["base.replayed.recipe=pwws", "objective.metric=robust/spearman"],
            ("STS-B", "SICK-R"),
            "STS-B dev under pwws, Spearman x100",  # the first is attacked
            "STS-B/replayed/spearman",
        ),
    ],
)
def test_an_objective_on_dev_says_which_sets_and_which_checkpoint(joint, overrides, sets, label, evaluation):
    content, pairs = joint(), graded_pairs("dev")
    apply_overrides(content, [*NO_SEARCH, GRID, *overrides])
    checked = check_study(build(Study, content, where="x.yaml"), where="x.yaml")
    dev = joined([replace(pairs, name=name) for name in sets], "dev")
    objective = study_record(checked, dev).objective
    assert (objective.label, objective.evaluation) == (label, evaluation)


@cases(
    ("overrides", "num_cells"),
    [
        (["confirm=null"], 16),
        (["confirm.baseline=none"], 18),
        (["confirm={num_best: 3, seeds: [4, 5, 6]}"], 28),
    ],
)
def test_confirmation_is_counted(record_of, overrides, num_cells):
    assert record_of(*overrides).num_cells == num_cells


def test_a_grid_is_recorded_with_its_values_and_resolves_to_nothing_of_a_search(record_of):
    record = record_of(*NO_SEARCH, GRID, "seeds=[0, 1, 2]")
    assert (record.kind, record.num_trials, record.num_cells, record.rungs) == ("grid", 7, 21, ())
    expected = [("beta", "choice", (1e-3, 1e-2)), ("N", "choice", (1, 2, 3))]
    assert [(axis.name, axis.kind, axis.choices) for axis in record.axes] == expected
    assert record.headings == ("beta", "N")
    resolved = record_of(*NO_SEARCH, GRID).resolved
    assert not {"search", "num_trials", "sampler", "search_seed", "early_stopping", "confirm"} & set(resolved)
    assert resolved["grid"]["rows"] == {"a": {"rho": 0}}


# Cells that run again are counted and named alike, whoever asks.


ALL = "one (seeds 0, 1); two (seeds 0, 1)"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    root = tmp_path_factory.mktemp("again")
    checked, materials = write(root / "a.yaml"), make_materials(root / "world")
    run(checked, root / "mine", materials)
    return root, checked, materials


def planned(world, prepare):
    root, checked, _ = world
    return plan_study(checked, root, prepare)


def test_nothing_runs_again_on_the_same_materials(world):
    found = planned(world, lambda trial: world[2])
    assert (found.num_to_run, found.notes) == (0, ())


@cases("part", ["corpus", "base"])
def test_an_edited_part_is_planned_priced_and_named(world, part):
    found = planned(world, lambda trial: on_another(part, world[2]))
    assert [(stage.num_to_run, stage.num_steps) for stage in found.stages] == [(4, 12)]
    assert f"cells that run again (4), since {part} was tiny and is other: {ALL}" in found.notes


def test_other_semantics_are_seen_with_and_without_the_materials(world, monkeypatch):
    monkeypatch.setattr(RobustSentEmbed, "semantics", 2)

    def absent(trial):
        raise InputError("not here")

    for prepare in (lambda trial: world[2], absent, None):
        found = planned(world, prepare)
        assert found.num_to_run == 4
        assert f"cells that run again (4), since its code computes other numbers: {ALL}" in found.notes


def test_cells_of_an_earlier_corpus_count_again_when_it_is_back(world, tmp_path):
    _, checked, materials = world
    run(checked, tmp_path / "mine", materials)
    run(checked, tmp_path / "mine", on_another("corpus", materials))
    found = plan_study(checked, tmp_path, lambda trial: materials)
    assert (found.num_to_run, found.notes) == (0, ())


# A revision that another file brings, that asks another question or drops cells, wants consent.


QUESTION = ("Does rho", "Does any rho")
LARGER = ("amount: 3", "amount: 4")
CHANGED = ("rho: 0.5", "rho: 0.6")
ADDED = ("two: {rho: 0.5}", "two: {rho: 0.5}, three: {rho: 1}")
REMOVED = (", two: {rho: 0.5}", "")
FEWER_SEEDS = ("[0, 1]", "[0]")
MORE_SEEDS = ("[0, 1]", "[0, 1, 2]")
RENAMED = ("one: {rho: 0}", "first: {rho: 0}")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("pending")
    run(write(root / "a.yaml"), root / "mine", make_materials(root / "world"))
    return root


@cases(
    ("edit", "reasons"),
    [
        (QUESTION, ("its question was 'Does rho matter?'",)),
        (CHANGED, ("complete cells that leave it (2): two (seeds 0, 1)",)),
        (REMOVED, ("complete cells that leave it (2): two (seeds 0, 1)",)),
        (FEWER_SEEDS, ("complete cells that leave it (2): one (seed 1); two (seed 1)",)),
        (
            ("rho: 0.5}", "rho: 0.5, budget.amount: 2}"),
            ("complete cells that leave it (2): two (seeds 0, 1)",),
        ),
        (LARGER, ()),
        (ADDED, ()),
        (MORE_SEEDS, ()),
        (RENAMED, ()),
    ],
)
def test_an_edited_file_wants_consent_for_another_question_and_for_lost_cells_alone(store, edit, reasons):
    path = store / "a.yaml"
    assert pending_in(store / "mine", write(path, edit)).reasons == reasons
    write(path)


@cases("edit", [QUESTION, LARGER, CHANGED, ADDED, REMOVED, MORE_SEEDS])
def test_another_file_of_the_name_wants_consent_for_any_revision(store, edit):
    pending = pending_in(store / "mine", write(store / "b.yaml", edit))
    assert pending.reasons[0] == f"it was last run from another file, {store / 'a.yaml'}"
    assert "Give this file a `name` of its own, or consent: `run --revise`" in str(pending.refusal)


def test_a_copy_of_the_file_or_one_whose_first_file_is_gone_is_no_other_file(store, tmp_path):
    assert pending_in(store / "mine", write(tmp_path / "copy.yaml")) is None
    (store / "a.yaml").rename(store / "moved.yaml")
    assert pending_in(store / "mine", write(store / "moved.yaml", ADDED)).reasons == ()
    changed = write(store / "a.yaml", ADDED)
    assert pending_in(store / "mine", write(tmp_path / "copy.yaml", ADDED)).reasons == ()
    assert pending_in(store / "mine", changed).reasons == ()
    write(store / "a.yaml")


JOBS = ("rse-mine-0123456789ab", "rse-mine-0123456789ab-2/code", "rse-1000-77-0", "_ray_pkg_0a1b2c")


@cases(("folder", "asks"), [*((job, False) for job in JOBS), ("rse-thesis", True), ("code", True)])
def test_a_jobs_copy_is_no_other_file_before_or_after_one_of_the_users_own(store, tmp_path, folder, asks):
    (tmp_path / folder).mkdir(parents=True)
    copy = write(tmp_path / folder / "study.yaml", ADDED)
    assert bool(pending_in(store / "mine", copy).reasons) == asks
    run(copy, tmp_path / folder / "mine", make_materials(tmp_path / "world"))
    own = write(tmp_path / "own.yaml", ADDED, MORE_SEEDS)
    assert bool(pending_in(tmp_path / folder / "mine", own).reasons) == asks


def test_the_file_of_an_archive_is_no_other_file(store, tmp_path):
    more = write(tmp_path / "mine.yaml", ADDED)
    assert pending_in(store / "mine", more).reasons
    (tmp_path / ORIGIN).write_text("{}")
    assert not pending_in(store / "mine", more).reasons


def test_a_refused_change_names_the_file_that_the_study_was_frozen_from(store):
    with pytest.raises(
        InputErrors, match=f"when the study was frozen from {store / 'a.yaml'}, and must stay"
    ):
        pending_in(store / "mine", write(store / "b.yaml", ("batch_size: 4", "batch_size: 8")))


def test_a_file_that_moves_is_no_revision_and_an_old_ledger_knows_no_file(tmp_path):
    record = study_record(write(tmp_path / "a.yaml"), few_pairs("builtin/dev"))
    moved = study_record(write(tmp_path / "b.yaml"), few_pairs("builtin/dev"))
    assert record.file != moved.file
    old = record.model_copy(update={"file": "", "file_hash": ""})
    assert "file" not in old.model_dump_json().replace("file_", "")
    with Ledger.open(tmp_path / "mine") as ledger:
        assert [ledger.freeze(one) for one in (old, record, moved)] == [1, 1, 1]
    assert pending_in(tmp_path / "mine", write(tmp_path / "b.yaml", ADDED)).reasons == ()
