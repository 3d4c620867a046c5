"""Whether a study is complete, by a ledger that this machine can read."""

from pathlib import Path
from tempfile import TemporaryDirectory

from rse_study.errors import InputError, Unavailable
from rse_study.results.files.schema import ledger_path
from rse_study.storage.storage import Storage, ledger_key
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.planning.plan import plan_study

PATIENCE_SECONDS = 10.0


def complete_in(checked: CheckedStudy, store: Path, storage: str) -> str:
    """Return the store or storage in whose ledger a study is complete; empty if none."""
    name = checked.study.name
    if ledger_path(store / name).is_file() and plan_study(checked, store).is_complete:
        return str(store / name)
    try:
        content = Storage(storage, patience_s=PATIENCE_SECONDS).find(ledger_key(name)) if storage else None
    except (InputError, Unavailable):  # nodes may see it: the job says what is wrong
        return ""
    with TemporaryDirectory() as folder:
        path = ledger_path(Path(folder) / name)
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return storage if content is not None and plan_study(checked, Path(folder)).is_complete else ""
