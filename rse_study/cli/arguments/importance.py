"""Importance of a search's axes, computed where a ledger lacks it."""

from contextlib import suppress
from pathlib import Path

from rse_study.errors import InputError
from rse_study.results.reader import Reader
from rse_study.results.records import FEWEST_TRIALS


def enter_missing_importance(study_dir: Path) -> None:
    """Enter the importance of a search's axes, which no file beside a ledger holds."""
    from rse_study.results.files.ledger import Ledger

    with suppress(InputError):  # a ledger that cannot be read or written goes without it
        with Reader(study_dir) as reader:
            complete = [one for one in reader.records() if (one.stage, one.status) == ("search", "complete")]
            if len(complete) < FEWEST_TRIALS or len(reader.importance()) or reader.is_held():
                return
        from rse_study.sampling.importance import enter_importance

        with Ledger.open(study_dir) as ledger:
            enter_importance(ledger)
