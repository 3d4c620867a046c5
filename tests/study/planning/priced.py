"""Studies to be priced, and real ledgers with some of their cells."""

import copy

from rse_study.data import builtin
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result, write_result
from rse_study.results.files.schema import MODEL_FOLDER, cell_folder
from rse_study.results.records import CellRecord
from rse_study.spec import fingerprint_of
from rse_study.study.checking.validation import CheckedStudy, check_study
from rse_study.study.definition.config import Study
from rse_study.study.record import study_record
from tests.study.no_search import ONLY_SEARCH

SEARCHES = (*ONLY_SEARCH, "evaluations")
CPU = {"device_type": "cpu", "workers": 1, "threads": 1}


def search_of(content, **changes) -> CheckedStudy:
    """The study of a mapping, with some of its keys changed."""
    return check_study(Study.model_validate({**copy.deepcopy(content), **changes}), where="a.yaml")


def grid_of(content, grid, **changes) -> CheckedStudy:
    """A grid around the mapping's base."""
    kept = {key: value for key, value in content.items() if key not in SEARCHES}
    return search_of(kept, grid=grid, **changes)


def enter(checked, store, cells, *, duration_s=3600.0, provenance=CPU, has_model=True):
    """Enter cells, each a stage, a number, a trial, a seed and a status, in the study's ledger in a store."""
    folder = store / checked.study.name
    with Ledger.open(folder) as ledger:
        ledger.freeze(study_record(checked, builtin.graded_pairs("dev")))
        for stage, number, trial, seed, status in cells:
            identity, config = fingerprint_of([stage, number, seed]), trial.model_dump(mode="json")
            about = {"identity": identity, "seed": seed, "config": config}
            ledger.plan([CellRecord(**about, trial=number, stage=stage)])
            if status == "planned":
                continue
            ledger.start(identity, executor="inline", workers=1, threads=1)
            if has_model:
                (cell_folder(folder, identity) / MODEL_FOLDER).mkdir(parents=True)
            if status != "running":
                history = (Point(t=60, metrics={"dev": 50.0, "loss": 1.0}),)
                result = Result(
                    **about, status=status, history=history, duration_s=duration_s, provenance=provenance
                )
                write_result(cell_folder(folder, identity), result)
                ledger.record_result(result)
    return folder


def rows(checked, seeds=(0, 1), status="complete"):
    """The cells of a grid, all with one status."""
    return [
        ("grid", number, row.trial, seed, status) for number, row in enumerate(checked.rows) for seed in seeds
    ]
