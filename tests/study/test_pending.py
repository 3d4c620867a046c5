"""A revision that another file brings, that asks another question or drops cells, wants consent."""

import pytest

from rse_study.errors import InputErrors
from rse_study.results.archive import ORIGIN
from rse_study.results.files.ledger import Ledger
from rse_study.study.pending import pending_in
from rse_study.study.record import study_record
from tests.cases import cases
from tests.on_ray.world import few_pairs, make_materials
from tests.study.a_grid import run, write

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
