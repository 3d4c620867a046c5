"""Whether a study is complete, by a ledger that this machine can read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rse_study.errors import InputError, Unavailable
from rse_study.results.files.schema import ledger_path
from rse_study.storage.storage import Storage, ledger_key
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.planning.plan import plan_study

PATIENCE_SECONDS = 10.0
"""longest wait for a storage that does not answer"""


def complete_in(checked: CheckedStudy, store: Path, storage: str) -> str:
    """Return the store or storage in whose ledger a study is complete; empty if none."""
    folder = store / checked.study.name
    if ledger_path(folder).is_file() and plan_study(checked, store).is_complete:
        return str(folder)
    try:
        with ledger_copy(storage, checked.study.name) as copy:
            return storage if plan_study(checked, copy).is_complete else ""
    except (InputError, Unavailable):  # nodes may see it: the job says what is wrong
        return ""


@contextmanager
def ledger_copy(storage: str, study: str) -> Iterator[Path]:
    """Give a store with a study's ledger from a storage; InputError without one."""
    content = Storage(storage, patience_s=PATIENCE_SECONDS).find(ledger_key(study)) if storage else None
    if content is None:
        raise InputError("no ledger yet", where=storage)
    with TemporaryDirectory() as store:
        path = ledger_path(Path(store) / study)
        path.parent.mkdir()
        path.write_bytes(content)
        yield Path(store)
