"""What the driver refuses before anything is frozen or started; Ray stays away."""

import pytest

from rse_study.errors import InputError
from rse_study.on_ray.driver import run_study
from rse_study.on_ray.stored import MaterialsCache
from rse_study.results.files.ledger import Ledger
from rse_study.study.checking.validation import check_study
from rse_study.study.record import study_record
from tests.on_ray.world import checked_of, few


class Nobody:
    """A callback that nothing ever happens to."""

    def started(self, cell):
        raise AssertionError

    cells_found = progressed = ended = lost = node_lost = message = advanced = started


@pytest.fixture
def checked(study_content):
    content = study_content | {"search": {"batch_size": {"choice": [2, 4, 8]}}}
    return checked_of(content)


def test_a_misfit_anywhere_in_the_space_is_refused_before_the_study_is_frozen(checked, materials, tmp_path):
    def prepare(trial):
        if trial.batch_size == 8:
            raise InputError("batch_size = 8", where="corpus")
        return materials

    with pytest.raises(InputError, match="corpus: batch_size = 8"):
        run_study(checked, tmp_path, prepare, few, Nobody())
    with Ledger.open(tmp_path) as ledger:
        assert ledger.study() is None
        assert ledger.cells() == []


def test_another_question_of_the_same_name_is_refused_before_anything_is_made(checked, materials, tmp_path):
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(study_record(checked, materials.dev))
    base = checked.study.base.model_copy(update={"max_length": 8})
    changed = checked.study.model_copy(update={"base": base})

    def never(*given):
        raise AssertionError("nothing must be made")

    with pytest.raises(InputError, match=r"base.max_length = 8: was 16"):
        run_study(check_study(changed, where="little.yaml"), tmp_path, never, never, Nobody())


@pytest.mark.parametrize(
    ("changes", "num_made"),
    [
        ([{}, {"report_every": 5}, {"optimizer": {"lr": 1e-3}}], 1),
        ([{}, {"batch_size": 8}, {"max_length": 8}], 3),
        ([{}, {"method": {"masks": {"phi": 0.1}}}, {"method": {"masks": {"phi": 0.2}}}], 2),
        ([{}, {"method": {"lambda2": 0}}], 2),
    ],
)
def test_materials_are_made_once_for_all_trials_that_share_them(checked, materials, changes, num_made):
    made = []
    cache = MaterialsCache(lambda trial: made.append(trial) or materials)
    for change in changes:
        cache.of(type(checked.study.base).model_validate(change))
    assert len(made) == num_made
